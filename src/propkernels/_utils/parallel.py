"""Threads of this machine, and the device of the current computation.

A public function or method with ``n_jobs`` is :func:`threaded`; functions inside it have no such argument.
Loops of ``propkernels._core`` have threads of their own, without the GIL; :func:`threads_for` says how many
they use. :func:`run_threads` is for Python functions that call such loops, BLAS or numpy. An estimator with
``device="cuda"`` runs its methods inside :func:`running_on`; counting and the Gram matrix call
:func:`active_device` and hand over their work. Functions in between take no device argument.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache, wraps
from itertools import pairwise
from threading import Thread
from typing import Any, ParamSpec, TypeVar

import numpy as np
from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels._utils.locks import fork_safe_lock

P = ParamSpec("P")
R = TypeVar("R")

STEPS_OF_A_THREAD = 2**16  # least work per thread: a millisecond or two
STEPS_OF_A_PIECE = 2**18  # least work of a piece, also of a thread inside another thread's work
PIECES_OF_A_THREAD = 4  # most pieces per thread, so that threads end together
MOST_JOBS = 2**16
PIECES_OF_A_STAGE = 16  # the same, of compiled loops, whose pieces cost nothing to begin


def check_n_jobs(n_jobs: Any) -> int | None:
    """Return a number of threads or processes as joblib takes it, or None."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs must be None or a whole number, got {shown(n_jobs)}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be None, a number of threads, or -1 for all cores; got 0")
    return max(-MOST_JOBS, min(int(n_jobs), MOST_JOBS))


@contextmanager
def workers(n_jobs: int | None) -> Iterator[None]:
    """Set the number of threads of what runs inside the block; None keeps that of the block around it."""
    n_threads = check_n_jobs(n_jobs)
    with having(_N_JOBS, _N_JOBS.get() if n_threads is None else n_threads):
        yield


def threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a public function with its argument ``n_jobs``, or a method with that of its estimator."""
    is_argument = "n_jobs" in (function.__kwdefaults__ or ())

    @wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> R:
        n_jobs: Any = named.get("n_jobs") if is_argument else args[0].n_jobs  # type: ignore[attr-defined]
        if n_jobs is None:
            return function(*args, **named)
        with workers(n_jobs):
            return function(*args, **named)

    return run


def thread_count() -> int:
    """Return the number of threads of the current call, by joblib's rules (None: 1, -1: all cores).

    All cores are those that this process may use: its affinity, the CPU quota of its container, and
    ``OMP_NUM_THREADS``, which joblib and Dask set in their workers. Threads of :func:`run_threads` share
    those of the call around them. The threading backend is selected, because joblib's default (processes)
    allows only one worker inside a process of ``multiprocessing``, and warns.
    """
    n_jobs, share = _N_JOBS.get(), _SHARE.get()
    if share is not None:
        return share if n_jobs is None or n_jobs < 0 else min(n_jobs, share)
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    if n_jobs is None and get_active_backend()[1] in (None, 1):
        return 1
    with parallel_config(backend="threading"):
        wanted = int(effective_n_jobs(n_jobs))
    allowed = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if n_jobs is not None and allowed.isdecimal() and int(allowed) > 0:
        wanted = min(wanted, int(allowed))
    return wanted


def threads_for(work: int) -> int:
    """Return the number of threads worth starting for ``work`` elementary steps."""
    least = least_work()
    return max(1, min(thread_count(), work // least)) if work >= 2 * least else 1


def least_work() -> int:
    """Return the least elementary steps that make a thread worth starting.

    Inside a thread of :func:`run_threads` others compete for the GIL, so that only more work is shared.
    """
    return STEPS_OF_A_THREAD if _SHARE.get() is None else max(STEPS_OF_A_THREAD, STEPS_OF_A_PIECE)


def run_threads(
    function: Callable[[Any], Any], items: Sequence[Any], *, work: int | None = None, uses_blas: bool = False
) -> list[Any]:
    """Return the results of a function for all items, in order, from threads worth their elementary ``work``.

    Each thread has an equal share of the threads of this call for calls inside the function. Items that have
    not begun when one fails are left out. If the function ``uses_blas``, BLAS has one thread: products that
    several threads ask for at once wait for each other in OpenBLAS, and spin. To limit BLAS takes a
    millisecond, too long for short compiled loops.
    """
    wanted = 1 if len(items) < 2 else thread_count() if work is None else threads_for(work)
    if wanted == 1:
        return list(map(function, items))
    n_threads, left = min(wanted, len(items)), deque(enumerate(items))
    results: list[Any] = [None] * len(items)
    errors: dict[int, BaseException] = {}

    def take_all() -> None:
        _SHARE.set(wanted // n_threads)
        _ACTIVE.set(None)
        while True:
            try:
                at, item = left.popleft()
            except IndexError:
                return
            try:
                results[at] = function(item)
            except BaseException as error:
                errors[at] = error
                left.clear()

    threads = []
    with one_blas_thread() if uses_blas else nullcontext():
        try:
            for _ in range(n_threads - 1):
                threads.append(Thread(target=copy_context().run, args=(take_all,), daemon=True))
                threads[-1].start()
        except (RuntimeError, MemoryError):  # no more threads can be started: fewer do the work
            threads.pop()
        try:
            copy_context().run(take_all)
        finally:
            left.clear()
            for thread in threads:
                thread.join()
    if errors:
        raise errors[min(errors)]
    return results


def stage_pieces(threads: int) -> int:
    """Return the number of pieces of a compiled loop for some threads."""
    return PIECES_OF_A_STAGE * threads if threads > 1 else 1


def by_rows(function: Callable[[slice], Any], shape: tuple[int, ...]) -> None:
    """Call a function for runs of rows of a matrix, in threads.

    Each thread has the same number of pieces, and few of little work: to take one, it waits for the GIL, and
    memory that a piece needs is mapped for all threads.
    """
    work = shape[0] * shape[1]
    threads = threads_for(work)
    if threads == 1:
        function(slice(0, shape[0]))
        return
    n_pieces = threads * max(min(work // (threads * STEPS_OF_A_PIECE), PIECES_OF_A_THREAD), 1)
    bounds = np.linspace(0, shape[0], n_pieces + 1).astype(int).tolist()
    run_threads(function, [slice(*run) for run in pairwise(bounds)])


_N_JOBS: ContextVar[int | None] = ContextVar("propkernels_n_jobs", default=None)
_SHARE: ContextVar[int | None] = ContextVar("propkernels_threads", default=None)


@cache
def _libraries() -> list[Any]:
    """Return the controllers of the loaded BLAS libraries, those of numpy and scipy."""
    import scipy.linalg  # noqa: F401 -- loads its BLAS
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]


class BlasLimits:
    """Limits of the threads of BLAS, which belong to the process.

    The smallest limit of all running blocks, in any thread, applies to the process. No limit raises
    the number that the environment (``OPENBLAS_NUM_THREADS``, ...) or ``threadpool_limits`` has set.
    """

    def __init__(self) -> None:
        self._lock = fork_safe_lock()
        self._limits: dict[object, int] = {}  # of the running blocks
        self._before: list[int] = []
        self._now: int | None = None

    @contextmanager
    def at_most(self, limit: int) -> Iterator[None]:
        """Limit BLAS to a number of threads inside the block."""
        block = object()
        try:
            self._set(block, limit)
            yield
        finally:
            try:
                self._set(block)
            except BaseException:  # Ctrl-C in between
                self._set(block)
                raise

    def _set(self, block: object, limit: int | None = None) -> None:
        """Let a block have a limit or none, and set the libraries to the smallest one of all blocks."""
        with self._lock:
            if not self._limits and self._now is None:
                self._before = [library.get_num_threads() for library in _libraries()]
            self._limits.pop(block, None)
            if limit is not None:
                self._limits[block] = limit
            smallest = min(self._limits.values(), default=None)
            if smallest != self._now:
                self._now = -1  # until all libraries are set
                for library, before in zip(_libraries(), self._before, strict=True):
                    _release(library)
                    library.set_num_threads(before if smallest is None else min(before, smallest))
                    _release(library)
                self._now = smallest


def _release(library: Any) -> None:
    """Let any thread set the limit: threadpoolctl ignores all threads but the one that set it first."""
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


_BLAS = BlasLimits()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread inside the block, for work that runs in threads itself.

    Otherwise BLAS threads compete with ours, and the last bits of results depend on their number.
    """
    return _BLAS.at_most(1)


def blas_threads(most: float = math.inf) -> AbstractContextManager[None]:
    """Limit BLAS to the threads of the current call inside the block, at ``most``; never raise its limit."""
    return _BLAS.at_most(int(max(min(thread_count(), most), 1)))


def whole_runs(ptr: NDArray[Any], least: float) -> NDArray[np.int64]:
    """Return boundaries of runs of whole graphs with about ``least`` nodes or more each.

    Examples
    --------
    >>> whole_runs(np.array([0, 1, 2, 3, 12, 13, 14]), 4)
    array([0, 4, 6])
    """
    step = max(least, 1)
    if len(ptr) > 1 and ptr[-1] <= step:
        return np.array([0, len(ptr) - 1])
    cuts = np.searchsorted(ptr, np.arange(0, int(ptr[-1]), step))
    bounds = np.concatenate([[0], cuts, [len(ptr) - 1]])
    return bounds[np.diff(bounds, prepend=-1) > 0]


def equal_work(work: NDArray[Any], n_pieces: int) -> NDArray[np.int64]:
    """Return bounds of at most ``n_pieces`` runs of items with about equal work, given its cumulative sums.

    Examples
    --------
    >>> equal_work(np.array([0, 1, 2, 3, 12, 13, 14]), 3)
    array([0, 4, 6])
    """
    cuts = np.searchsorted(work, np.linspace(work[0], work[-1], n_pieces + 1)[1:-1])
    bounds = np.concatenate([[0], cuts, [len(work) - 1]])
    return bounds[np.diff(bounds, prepend=-1) > 0]


_ACTIVE: ContextVar[Any] = ContextVar("propkernels_device", default=None)


def active_device() -> Any:
    """Return the device of this thread, or None for the CPU."""
    return _ACTIVE.get()


def running_on(device: Any) -> AbstractContextManager[None]:
    """Set the active device inside the block; None: the CPU."""
    return having(_ACTIVE, device)


@contextmanager
def having(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Set a variable inside the block."""
    before = variable.get()
    try:
        variable.set(value)
        yield
    finally:
        variable.set(before)
