"""Where work runs: in threads of this machine, or on a device.

Compiled loops release the GIL, so plain threads use all cores. An estimator with ``device="cuda"`` runs its
methods inside :func:`running_on`; counting and the Gram matrix ask :func:`active_device`, and hand the work
to the device where there is one. Nothing between them has to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray

STEPS_OF_A_THREAD = 2**18  # less work than this, some milliseconds, is not worth another thread


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for, by joblib's rules (None: 1, -1: all cores).

    joblib is asked for threads: for its default, processes, it would allow only one worker inside a process
    of ``multiprocessing``, and warn.
    """
    if n_jobs == 1:
        return 1
    with parallel_config(backend="threading"):
        return int(effective_n_jobs(n_jobs))


def threads_for(work: int, n_jobs: int | None) -> int:
    """Return how many threads are worth starting for so many elementary steps."""
    return max(1, min(thread_count(n_jobs), work // STEPS_OF_A_THREAD))


def run_threads(function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """Apply a function to each item, in up to ``n_jobs`` threads (None: 1, -1: all cores); keep the order."""
    workers = min(thread_count(n_jobs), len(items))
    if workers <= 1:
        return list(map(function, items))
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, for work that runs in threads itself.

    Otherwise its threads compete with ours, and the last bits of results depend on their number.
    """
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


def blas_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Limit BLAS to as many threads as ``n_jobs`` stands for (None: 1, -1: all cores)."""
    limits: AbstractContextManager[Any] = _libraries().limit(limits=thread_count(n_jobs), user_api="blas")
    return limits


def whole_runs(ptr: NDArray[Any], least: float) -> NDArray[np.int64]:
    """Cut graphs into runs of whole graphs with at least ``least`` nodes each; return run boundaries.

    Examples
    --------
    >>> whole_runs(np.array([0, 1, 2, 3, 12, 13, 14]), 4)
    array([0, 4, 6])
    """
    marks = np.arange(0, int(ptr[-1]), max(least, 1))
    cuts = np.searchsorted(ptr, marks, side="left")
    return np.unique(np.concatenate([[0], cuts, [len(ptr) - 1]])).astype(np.int64)


_ACTIVE: ContextVar[Any] = ContextVar("propkernels_device", default=None)


def active_device() -> Any:
    """Return the device of this thread, or None for the CPU."""
    return _ACTIVE.get()


@contextmanager
def running_on(device: Any) -> Iterator[None]:
    """Compute on a device inside this block; None: on the CPU."""
    token = _ACTIVE.set(device)
    try:
        yield
    finally:
        _ACTIVE.reset(token)
