"""A crew: threads that take pieces of compiled work from one another without the GIL.

A thread that takes work from Python needs the GIL to begin and to end it, and threads get the GIL one by one:
sixteen threads lose milliseconds at each stage of a computation. The members of a crew wait inside compiled
code, where a stage reaches them in microseconds. They wait actively for a millisecond or two, long enough for
the next stage of the same computation, and then return to Python and sleep.

The words of a crew, int64, are shared by its threads: the current job, the next piece, and one seat for each
member, each on cache lines of its own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, overload, type_callable
from numpy.typing import NDArray

from propkernels._utils.helpers import HELPERS
from propkernels._utils.jit import as_python, compiled

ABSENT, CALLED, WAITING, WORKING = range(4)  # states of a seat
LINE = 16  # words between two that different threads write: two cache lines, which are loaded together
OPEN, FUNCTION, DATA, END, N_MEMBERS, N_JOBS, HAS_FAILED = range(
    7
)  # OPEN: number of the current job; 0: none
NEXT, SEATS = LINE, 2 * LINE
LONGEST_WAIT = 2**16  # pauses between two jobs: one or two milliseconds
PAUSES_BEFORE_YIELD = 32
NOBODY = np.zeros(0, dtype=np.int64)  # a crew without members: the calling thread does all


def share(crew: Any, first: Any, last: Any, job: Any) -> None:
    """Run the pieces first .. last - 1 of a job, shared by the members of a crew; for compiled functions.

    As Python, thread 0 runs all pieces in order.

    Examples
    --------
    >>> @compiled(cache=False)
    ... def square(squares, thread, k):
    ...     squares[k] = k * k
    >>> squares = np.zeros(4)
    >>> share(NOBODY, 1, 4, job_of(square)((squares,)))
    >>> squares
    array([0., 1., 4., 9.])
    """
    function, work = job
    for k in range(first, last):
        function(*work, 0, k)


@overload(share, strict=False)
def _compiled_share(crew: Any, first: Any, last: Any, job: Any) -> Any:
    """Return the compiled form of :func:`share`."""

    def run(crew: Any, first: Any, last: Any, job: Any) -> None:
        if len(crew) == 0:
            has_failed = _run_all(first, last, *job)
        else:
            has_failed = _lead(crew, first, last, *job)
        if has_failed:
            raise MemoryError("a thread had no memory for its part of the work")

    return run


@compiled(cache=False)
def _run_all(first: Any, last: Any, function: Any, data: Any) -> Any:
    """Run all pieces of a job in this thread."""
    has_failed = False
    for k in range(first, last):
        has_failed |= _call(function, data, 0, k)
    return has_failed


@compiled(cache=False)
def _lead(crew: Any, first: Any, last: Any, function: Any, data: Any) -> Any:
    """Run a job with the members that are waiting, and those who come while it runs."""
    crew[FUNCTION], crew[DATA], crew[END], crew[HAS_FAILED] = function, data, last, 0
    crew[N_JOBS] += 1
    _store(crew, NEXT, first)
    _swap(crew, OPEN, 0, crew[N_JOBS])
    _take_pieces(crew, 0)
    # A member begins to work, then looks whether the job is still open; here the job is closed, then seats
    # are looked at. Both are atomic exchanges: the member sees that the job is closed, or its work is seen.
    _swap(crew, OPEN, crew[N_JOBS], 0)
    for seat in range(SEATS, len(crew), LINE):
        waited = 0
        while _load(crew, seat) == WORKING:
            waited = _wait(waited)
    return _load(crew, HAS_FAILED) != 0


@compiled
def serve(crew: Any, seat: Any) -> None:
    """Take pieces of all jobs of a crew, until no job comes for a while or the seat is taken away."""
    number = 1 + (seat - SEATS) // LINE
    done, waited = 0, 0
    if not _swap(crew, seat, CALLED, WAITING):
        return  # sent away before it came, or another member has the seat
    while True:
        job = _load(crew, OPEN)
        if job not in (0, done) and number <= crew[N_MEMBERS]:
            if not _swap(crew, seat, WAITING, WORKING):
                return
            if _load(crew, OPEN) == job:
                _take_pieces(crew, number)
            _store(crew, seat, WAITING)
            done, waited = job, 0
        elif _load(crew, seat) == ABSENT or (waited >= LONGEST_WAIT and _swap(crew, seat, WAITING, ABSENT)):
            return
        else:
            waited = _wait(waited)


@compiled(cache=False)
def _take_pieces(crew: Any, thread: Any) -> None:
    """Run pieces of the current job until none is left."""
    function, data, end = crew[FUNCTION], crew[DATA], crew[END]
    k = _add(crew, NEXT, 1)
    while k < end:
        if _call(function, data, thread, k):
            _store(crew, HAS_FAILED, 1)
        k = _add(crew, NEXT, 1)


@compiled
def dismiss(crew: Any) -> None:
    """Send waiting members away, and those who are called and have not come."""
    for seat in range(SEATS, len(crew), LINE):
        _swap(crew, seat, WAITING, ABSENT)
        _swap(crew, seat, CALLED, ABSENT)


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit the address of ``words[at]``, the first two arguments."""
    words = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(words.data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])


def _words(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Emit the values of all arguments but the first two, as int64."""
    pairs = zip(arguments[2:], signature.args[2:], strict=True)
    return [context.cast(builder, value, kind, types.int64) for value, kind in pairs]


@intrinsic
def _load(typing_context: Any, words: Any, at: Any) -> Any:
    """Emit an atomic read: what the thread that wrote the word wrote before it is visible after it."""

    def emit(context: Any, builder: Any, *call: Any) -> Any:
        return builder.load_atomic(_place(context, builder, *call), "acquire", 8)

    return types.int64(words, at), emit


@intrinsic
def _store(typing_context: Any, words: Any, at: Any, value: Any) -> Any:
    """Emit an atomic write: all writes before it are visible to the thread that reads the word."""

    def emit(context: Any, builder: Any, *call: Any) -> Any:
        (value,) = _words(context, builder, *call)
        builder.store_atomic(value, _place(context, builder, *call), "release", 8)
        return context.get_dummy_value()

    return types.void(words, at, value), emit


@intrinsic
def _add(typing_context: Any, words: Any, at: Any, value: Any) -> Any:
    """Emit an atomic addition, which returns the word before it."""

    def emit(context: Any, builder: Any, *call: Any) -> Any:
        (value,) = _words(context, builder, *call)
        return builder.atomic_rmw("add", _place(context, builder, *call), value, "seq_cst")

    return types.int64(words, at, value), emit


@intrinsic
def _swap(typing_context: Any, words: Any, at: Any, old: Any, new: Any) -> Any:
    """Emit an atomic exchange of ``old`` for ``new``, which returns whether the word was ``old``."""

    def emit(context: Any, builder: Any, *call: Any) -> Any:
        old, new = _words(context, builder, *call)
        result = builder.cmpxchg(_place(context, builder, *call), old, new, "seq_cst", "seq_cst")
        return builder.extract_value(result, 1)

    return types.boolean(words, at, old, new), emit


def _emit(condition: bool, result: Any, name: str) -> Any:
    """Return an intrinsic without arguments that calls a function of the machine or of the C library."""
    from llvmlite import ir

    def emit(context: Any, builder: Any, *call: Any) -> Any:
        if condition:
            kind = ir.FunctionType(result, [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return emit


@intrinsic
def _pause(typing_context: Any) -> Any:
    """Emit an instruction that leaves the units of the core to its other thread for a moment."""
    from llvmlite import ir

    is_known = platform.machine() in ("x86_64", "AMD64")
    return types.void(), _emit(is_known, ir.VoidType(), "llvm.x86.sse2.pause")


@intrinsic
def _yield(typing_context: Any) -> Any:
    """Emit a call that lets another thread run, if one waits for this core."""
    from llvmlite import ir

    return types.void(), _emit(os.name == "posix", ir.IntType(32), "sched_yield")


@compiled(cache=False)
def _wait(waited: Any) -> Any:
    """Wait for a moment; return the number of such moments, for ``waited`` before."""
    # The system may have put a member on the core of the thread that it waits for.
    if waited % PAUSES_BEFORE_YIELD == PAUSES_BEFORE_YIELD - 1:
        _yield()
    else:
        _pause()
    return waited + 1


def _piece() -> Any:
    """Return the native type of a job's function: (address of data, thread, k) -> whether it failed."""
    from llvmlite import ir

    return ir.FunctionType(ir.IntType(1), [ir.IntType(64)] * 3)


@intrinsic
def _call(typing_context: Any, function: Any, data: Any, thread: Any, k: Any) -> Any:
    """Emit a call of a job's function for piece k."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.call(builder.inttoptr(arguments[0], _piece().as_pointer()), arguments[1:])

    return types.boolean(*[types.int64] * 4), emit


def job_of(function: Any) -> Any:
    """Return a function of ``work``: the job that calls ``function(*work, thread, k)`` for a piece k.

    For compiled functions: ``function`` is compiled as well, and returns nothing; ``thread``, 0 .. members,
    tells which workspace it may use. A compiled job is the addresses of a native function and of ``work``,
    which is on the stack of the calling function; :func:`share` waits for the members that read it.
    """

    def job(work: Any) -> Any:
        return as_python(function) if hasattr(function, "py_func") else function, work

    if not config.DISABLE_JIT:
        type_callable(job)(lambda context: partial(_typed, function, context))
        lower_builtin(job, types.Any)(partial(_emit_job, function))
    return job


def _typed(function: Any, context: Any, work: Any) -> Any:
    """Compile the function for this work; return the type of the job."""
    _signature(function, context, work)
    return types.UniTuple(types.int64, 2)


def _signature(function: Any, context: Any, work: Any) -> Any:
    """Return the types of a call of the function."""
    return types.Dispatcher(function).get_call_type(context, (*work.types, types.int64, types.int64), {})


def _emit_job(function: Any, context: Any, builder: Any, types_: Any, arguments: Any) -> Any:
    """Emit a native function that calls ``function(*work, thread, k)``; return the addresses of the job."""
    from llvmlite import ir

    signature = _signature(function, context.typing_context, types_.args[0])
    slot = cgutils.alloca_once_value(builder, arguments[0])
    native = ir.Function(builder.module, _piece(), builder.module.get_unique_name("piece"))
    native.linkage = "internal"
    inner = ir.IRBuilder(native.append_basic_block())
    values = cgutils.unpack_tuple(inner, inner.load(inner.inttoptr(native.args[0], slot.type)))
    inner.ret(_emit_call(context, inner, function, signature, [*values, *native.args[1:]]))
    addresses = [builder.ptrtoint(place, ir.IntType(64)) for place in (native, slot)]
    return context.make_tuple(builder, types_.return_type, addresses)


def _emit_call(context: Any, builder: Any, function: Any, signature: Any, values: list[Any]) -> Any:
    """Emit a call of a compiled function, which returns whether it failed."""
    made = function.get_compile_result(signature)
    context.active_code_library.add_linking_library(made.library)
    callee = context.declare_function(builder.module, made.fndesc)
    call = builder, callee, signature.return_type, signature.args, values
    status, _ = context.call_conv.call_function(*call)
    return status.is_error


class Crews:
    """Crews for computations that run side by side, each with as many members as it needs."""

    def __init__(self) -> None:
        self._free: list[NDArray[np.int64]] = []
        if hasattr(os, "register_at_fork"):  # a forked child has none of the threads
            os.register_at_fork(after_in_child=self._free.clear)

    @contextmanager
    def of(self, n_members: int, *, may_stay: bool) -> Iterator[NDArray[np.int64]]:
        """Lend a crew with some members; they wait for the next job afterwards if they ``may_stay``."""
        if n_members == 0 or config.DISABLE_JIT:
            yield NOBODY
            return
        crew = self._taken(n_members)
        _call_members(crew, n_members)
        try:
            yield crew
        finally:
            if not may_stay:
                dismiss(crew)
            self._free.append(crew)

    def _taken(self, n_members: int) -> NDArray[np.int64]:
        """Return a crew that nobody uses, with enough seats."""
        try:
            crew = self._free.pop()
        except IndexError:
            crew = NOBODY
        n_words = SEATS + LINE * n_members
        if len(crew) >= n_words:
            return crew
        dismiss(crew)
        return np.zeros(n_words, dtype=np.int64)

    def dismiss(self) -> None:
        """Send all waiting members away, before threads of Python begin to work."""
        for crew in self._free:
            dismiss(crew)


def _call_members(crew: NDArray[np.int64], n_members: int) -> None:
    """Wake threads for seats that nobody has; fewer where no thread can be started."""
    crew[N_MEMBERS] = n_members
    for seat in range(SEATS, SEATS + LINE * n_members, LINE):
        if crew[seat] == ABSENT:
            crew[seat] = CALLED
            if not HELPERS.start(partial(serve, crew, seat)):
                crew[seat] = ABSENT
                return


CREWS = Crews()
