"""Executors of parts: threads, process pools and Dask (imported only if used)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Collection, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from propkernels._utils.checks import check_integer, check_positive, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.parallel import thread_count
from propkernels._utils.safe_files import discard_unfinished
from propkernels._utils.thread_pool import ThreadPool

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from distributed import Client

TIMEOUT = "PROPKERNELS_WORKER_TIMEOUT"
LONGEST_WAIT = 300.0  # seconds to wait for Dask workers: clusters take minutes to replace one
POLL = 2.0  # seconds between checks of the workers
MMAP_THRESHOLD = "MALLOC_MMAP_THRESHOLD_"
SLOW_ARRAYS = (
    "Dask workers map new memory for every array, which takes about a third more time: start them "
    f"with {MMAP_THRESHOLD}={2**25} in their environment"
)

# A number of processes, an executor, a Dask client or cluster, or the address of a Dask scheduler
ExecutorLike: TypeAlias = "Executor | Client | int | str | None"


class Engine:
    """Executor of ``concurrent.futures`` with a policy for lost workers.

    Parameters
    ----------
    executor : object with ``submit``
    is_ours : bool
        Whether :meth:`close` shuts it down.
    """

    loses_all = False  # whether losing a worker fails all submitted parts

    def __init__(self, executor: Any, is_ours: bool) -> None:
        self.executor, self.is_ours = executor, is_ours

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        """Submit a function call to a worker."""
        future: Future[Any] = self.executor.submit(function, *arguments)
        return future

    def wait(self, futures: Collection[Future[Any]]) -> set[Future[Any]]:
        """Wait until a call has ended; return all calls that have ended."""
        return wait(futures, return_when=FIRST_COMPLETED).done

    def cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel calls that have not started."""
        for future in futures:
            future.cancel()

    def n_workers(self) -> int:
        """Number of parts computed at the same time."""
        return int(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)

    def renew(self) -> None:
        """Continue after workers were lost."""

    def close(self) -> None:
        """Release the workers; cancel parts that have not started."""
        if self.is_ours:
            self.executor.shutdown(wait=True, cancel_futures=True)


class PoolEngine(Engine):
    """Process pool, replaced by a new pool after a worker was killed."""

    loses_all = True

    def renew(self) -> None:
        """Start a new pool with the same number of workers."""
        n_workers = self.n_workers()
        self.close()
        self.executor, self.is_ours = new_pool(n_workers), True


class DaskEngine(Engine):
    """Workers of a Dask scheduler, which replaces lost workers itself."""

    def __init__(self, client: Any, is_ours: bool, executor: Any = None) -> None:
        super().__init__(client.get_executor() if executor is None else executor, executor is None)
        self.client, self.owns_client = client, is_ours
        self._advise()

    def _advise(self) -> None:
        """Warn about workers with a slow memory allocator setting."""
        with suppress(OSError, RuntimeError):  # a scheduler that does not answer is reported by the next call
            if any(value is True for value in self.client.run(maps_arrays_anew, on_error="return").values()):
                warnings.warn(SLOW_ARRAYS, stacklevel=6)

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        """Submit a function call to a worker; earlier failures are not cached."""
        self.renew()
        future: Future[Any] = self.executor.submit(function, *arguments, pure=False)
        return future

    def wait(self, futures: Collection[Future[Any]]) -> set[Future[Any]]:
        """Wait until a call has ended, with a time limit while the scheduler has no workers.

        Raises
        ------
        ConnectionError
            If the connection is lost, or there were no workers for ``PROPKERNELS_WORKER_TIMEOUT`` seconds.
        """
        limit, last = worker_timeout(), monotonic()
        while True:
            done = wait(futures, min(limit, POLL), FIRST_COMPLETED).done
            if done:
                return done
            self.renew()
            if self._n_threads():
                last = monotonic()
            elif monotonic() - last >= limit:
                raise ConnectionError(
                    f"the Dask scheduler has had no workers for {limit:g} seconds: start some and run again "
                    f"to resume, or set {TIMEOUT}={10 * limit:g} in the environment to wait longer"
                )

    def cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel calls that have not started; connection errors are ignored."""
        with suppress(Exception):  # connection errors would hide why the run ends
            super().cancel(futures)

    def n_workers(self) -> int:
        """Number of threads of all current workers."""
        return max(1, self._n_threads())

    def _n_threads(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except Exception:  # the scheduler does not answer: renew reports it
            return 0

    def renew(self) -> None:
        """Raise ConnectionError if the scheduler is lost."""
        if self.client.status not in ("running", "connecting"):
            raise ConnectionError("the connection to the Dask scheduler was lost: run again to resume")

    def close(self) -> None:
        """Cancel calls that have not started; close the client if this engine opened it."""
        with suppress(Exception):  # connection errors
            if self.is_ours:
                self.executor.shutdown(wait=False)
        if self.owns_client:
            self.client.close()


def worker_timeout() -> float:
    """Seconds to wait while a Dask scheduler has no workers."""
    text = os.environ.get(TIMEOUT, "")
    try:
        return check_positive(float(text), TIMEOUT) if text else LONGEST_WAIT
    except ValueError:
        raise ValueError(f"{TIMEOUT} in the environment must be seconds above 0, got {text!r}") from None


def maps_arrays_anew() -> bool:
    """Whether malloc maps new memory for every large array in this process; runs on a worker.

    A trim threshold of malloc, which Dask sets for its workers, also stops glibc from adapting its mmap
    threshold: arrays beyond 128 kB are mapped and zeroed each time, unless ``MMAP_THRESHOLD`` is set.
    """
    env = os.environ
    return sys.platform == "linux" and "MALLOC_TRIM_THRESHOLD_" in env and MMAP_THRESHOLD not in env


def new_pool(n_workers: int) -> ProcessPoolExecutor:
    """Process pool with spawned workers: forking a process with threads is not safe."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_workers, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """Make a worker exit silently on Ctrl-C, and when its parent process dies."""
    signal.signal(signal.SIGINT, lambda number, frame: _end())
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _end()


def _end() -> None:
    discard_unfinished()
    os._exit(1)


def resolve_executor(executor: Any, n_jobs: int | None) -> Engine:
    """Return the engine for an ``executor`` argument.

    Parameters
    ----------
    executor : None, int, str, Dask client or cluster, or object with ``submit``
        None: ``n_jobs`` threads of this process. An integer: number of processes. A string: address of a
        Dask scheduler.
    n_jobs : int or None
    """
    if executor is None:
        return Engine(ThreadPool(thread_count(n_jobs)), True)
    if isinstance(executor, str):
        distributed = import_optional("distributed", extra="dask", purpose="clusters need")
        return DaskEngine(distributed.Client(executor), True)
    if hasattr(executor, "get_executor"):  # a Dask client
        return DaskEngine(executor, False)
    if hasattr(executor, "get_client"):  # a Dask cluster
        return DaskEngine(executor.get_client(), True)
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "_client"):
        return DaskEngine(executor._client, False, executor)
    if isinstance(executor, ThreadPoolExecutor):
        return Engine(executor, False)
    if hasattr(executor, "submit"):
        return PoolEngine(executor, False)
    if isinstance(executor, int) and not isinstance(executor, bool):
        return PoolEngine(new_pool(check_integer(executor, "executor", 1)), True)
    raise TypeError(
        "executor must be None, a number of processes, an executor of concurrent.futures, a Dask client or "
        f"the address of a Dask scheduler; got {shown(executor)}"
    )


def is_worker_loss(error: BaseException) -> bool:
    """Whether an error means that a worker died, not that its work failed."""
    if isinstance(error, (BrokenExecutor, CancelledError)):
        return True
    kind = type(error)
    return kind.__module__.partition(".")[0] == "distributed" and kind.__name__ in (
        "KilledWorker",
        "FutureCancelledError",
        "FuturesCancelledError",
        "CommClosedError",
    )
