"""Threads of this machine, and the device of the current computation.

Compiled functions release the GIL, so plain threads use all cores. An estimator with ``device="cuda"`` runs
its methods inside :func:`running_on`; counting and the Gram matrix call :func:`active_device` and hand over
their work. Functions in between take no device argument.
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

STEPS_OF_A_THREAD = 2**18  # least work per thread: a few milliseconds


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``, by joblib's rules (None: 1, -1: all cores).

    The threading backend is selected, because joblib's default (processes) allows only one worker inside a
    process of ``multiprocessing``, and warns.
    """
    if n_jobs == 1:
        return 1
    with parallel_config(backend="threading"):
        return int(effective_n_jobs(n_jobs))


def threads_for(work: int, n_jobs: int | None) -> int:
    """Return the number of threads worth starting for ``work`` elementary steps."""
    return max(1, min(thread_count(n_jobs), work // STEPS_OF_A_THREAD))


def run_threads(function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """Return the results of a function for all items, in order, using up to ``n_jobs`` threads."""
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
    """Limit BLAS to one thread inside the block, for work that runs in threads itself.

    Otherwise BLAS threads compete with ours, and the last bits of results depend on their number.
    """
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


def blas_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Limit BLAS to ``n_jobs`` threads inside the block (None: 1, -1: all cores)."""
    limits: AbstractContextManager[Any] = _libraries().limit(limits=thread_count(n_jobs), user_api="blas")
    return limits


def whole_runs(ptr: NDArray[Any], least: float) -> NDArray[np.int64]:
    """Return boundaries of runs of whole graphs with about ``least`` nodes or more each.

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
    """Set the active device inside the block; None: the CPU."""
    token = _ACTIVE.set(device)
    try:
        yield
    finally:
        _ACTIVE.reset(token)
