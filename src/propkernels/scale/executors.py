"""What computes the parts: threads of this process, process pools, Dask; no engine is imported unasked."""

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
from typing import Any

from propkernels._utils.checks import check_integer, check_positive, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.parallel import thread_count
from propkernels._utils.safe_files import discard_unfinished

TIMEOUT = "PROPKERNELS_WORKER_TIMEOUT"
LONGEST_WAIT = 300.0  # seconds without any worker of Dask: clusters take minutes to replace one
POLL = 2.0  # seconds between two looks at the workers
MMAP_THRESHOLD = "MALLOC_MMAP_THRESHOLD_"
SLOW_ARRAYS = (
    "workers of Dask map the memory of every array anew, which costs about a third more time: start them "
    f"with {MMAP_THRESHOLD}={2**25} in their environment"
)


class Engine:
    """An executor of ``concurrent.futures``, and what to do when its workers are lost.

    Parameters
    ----------
    executor : object with ``submit``
    is_ours : bool
        Whether to shut it down in the end.
    """

    loses_all = False  # whether the loss of one worker makes all submitted parts fail

    def __init__(self, executor: Any, is_ours: bool) -> None:
        self.executor, self.is_ours = executor, is_ours

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        """Run a function on a worker."""
        future: Future[Any] = self.executor.submit(function, *arguments)
        return future

    def wait(self, futures: Collection[Future[Any]]) -> set[Future[Any]]:
        """Wait until one of several calls has ended; return those that have."""
        return wait(futures, return_when=FIRST_COMPLETED).done

    def cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Let go of calls that have not begun."""
        for future in futures:
            future.cancel()

    def n_workers(self) -> int:
        """Number of parts that are computed at once."""
        return int(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)

    def renew(self) -> None:
        """Go on after workers were lost."""

    def close(self) -> None:
        """Let go of the workers; parts that have not begun are cancelled."""
        if self.is_ours:
            self.executor.shutdown(wait=True, cancel_futures=True)


class PoolEngine(Engine):
    """A process pool, which is of no use any more once a worker was killed: a new one takes its place."""

    loses_all = True

    def renew(self) -> None:
        """Start a pool of our own with as many workers."""
        n_workers = self.n_workers()
        self.close()
        self.executor, self.is_ours = new_pool(n_workers), True


class DaskEngine(Engine):
    """The workers of a Dask scheduler, which replaces lost ones by itself."""

    def __init__(self, client: Any, is_ours: bool, executor: Any = None) -> None:
        super().__init__(client.get_executor() if executor is None else executor, executor is None)
        self.client, self.owns_client = client, is_ours
        self._advise()

    def _advise(self) -> None:
        """Tell a user whose workers take a third more time than they need to."""
        with suppress(OSError, RuntimeError):  # a scheduler that does not answer is reported by what needs it
            if any(value is True for value in self.client.run(maps_arrays_anew, on_error="return").values()):
                warnings.warn(SLOW_ARRAYS, stacklevel=6)

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        """Run a function on a worker; what failed before is not remembered instead."""
        self.renew()
        future: Future[Any] = self.executor.submit(function, *arguments, pure=False)
        return future

    def wait(self, futures: Collection[Future[Any]]) -> set[Future[Any]]:
        """Wait until one of several calls has ended, but not for ever: a scheduler may lose all its workers.

        Raises
        ------
        ConnectionError
            If the scheduler is gone, or has had no workers for ``PROPKERNELS_WORKER_TIMEOUT`` seconds.
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
        """Let go of calls that have not begun, if the scheduler is still there to be told."""
        with suppress(Exception):  # of its connection; why the run ends is what matters
            super().cancel(futures)

    def n_workers(self) -> int:
        """Threads of all workers that are there now."""
        return max(1, self._n_threads())

    def _n_threads(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except Exception:  # of a client whose scheduler does not answer: renew says so
            return 0

    def renew(self) -> None:
        """Go on if there is still a scheduler."""
        if self.client.status not in ("running", "connecting"):
            raise ConnectionError("the connection to the Dask scheduler was lost: run again to resume")

    def close(self) -> None:
        """Cancel what has not begun; close the client if it is ours."""
        with suppress(Exception):  # of its connection
            if self.is_ours:
                self.executor.shutdown(wait=False)
        if self.owns_client:
            self.client.close()


def worker_timeout() -> float:
    """Seconds that a run waits for the workers of a Dask scheduler that has none."""
    text = os.environ.get(TIMEOUT, "")
    try:
        return check_positive(float(text), TIMEOUT) if text else LONGEST_WAIT
    except ValueError:
        raise ValueError(f"{TIMEOUT} in the environment must be seconds above 0, got {text!r}") from None


def maps_arrays_anew() -> bool:
    """Whether this process asks the system for the memory of every large array; runs on a worker.

    A trim threshold of malloc, which Dask sets for its workers, also keeps glibc from learning how large
    arrays are: each beyond 128 kB is mapped, and its pages are zeroed one by one. ``MMAP_THRESHOLD`` says it.
    """
    known = os.environ
    return sys.platform == "linux" and "MALLOC_TRIM_THRESHOLD_" in known and MMAP_THRESHOLD not in known


def new_pool(n_workers: int) -> ProcessPoolExecutor:
    """A pool whose workers start from scratch: forking a process with threads is not safe."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n_workers, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """End without a word on Ctrl-C, and when the parent is killed: a pool's workers would wait forever."""
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
    """Find the engine for what a user passed.

    Parameters
    ----------
    executor : None, int, str, Dask client or cluster, or object with ``submit``
        None: threads of this process, as many as ``n_jobs`` says. A number: that many processes. A text: the
        address of a Dask scheduler.
    n_jobs : int or None
    """
    if executor is None:
        return Engine(ThreadPoolExecutor(thread_count(n_jobs)), True)
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
    """Whether an error says that a worker died, rather than that the work failed."""
    if isinstance(error, (BrokenExecutor, CancelledError)):
        return True
    kind = type(error)
    return kind.__module__.partition(".")[0] == "distributed" and kind.__name__ in (
        "KilledWorker",
        "FutureCancelledError",
        "FuturesCancelledError",
        "CommClosedError",
    )
