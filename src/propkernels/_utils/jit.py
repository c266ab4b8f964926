"""JIT compilation: the decorator of all compiled functions."""

from __future__ import annotations

import builtins
import os
import sys
import time
from collections.abc import Callable
from functools import cache as remember
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, overload

SMALL = 250_000  # passes of the innermost loop in a call that may run as Python: about half a second
PATIENCE = 0.5  # seconds that a function may run as Python in all, before it is compiled

if hasattr(os, "register_at_fork"):  # a child forked while another thread compiles would wait for it forever
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def compiled(
    function: Callable[..., Any] | None = None,
    *,
    cache: bool = True,
    passes: Callable[..., int] | None = None,
    is_short: bool = False,
) -> Any:
    """Compile a function of plain arrays with numba, without the GIL.

    Machine code is cached on disk, next to the module or in the user's cache folder. If numba can write to
    neither (a read-only installation without home), the function is compiled in every process.

    With ``NUMBA_DISABLE_JIT=1``, functions run as Python, for debuggers and coverage; overflow of unsigned
    integers is silent, as in machine code.

    Parameters
    ----------
    function : callable
    cache : bool, default=True
        Whether to cache machine code on disk; False for helpers, which are compiled into their callers.
    passes : callable, optional
        Returns the number of passes through the innermost loop, for the arguments of a call. Small calls then
        run as Python while there is no machine code: the first kernel of a new installation does not wait
        for the compiler. Only for functions without defaults whose arithmetic is that of Python to the bit:
        no transcendental functions, no sums of arrays. :func:`count_numbers` is for loops over the arrays.
    is_short : bool, default=False
        Whether to keep the GIL, in loops of microseconds: to take it back, a thread waits for others.

    Examples
    --------
    >>> @compiled(cache=False)
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    if function is None:
        return partial(compiled, cache=cache, passes=passes, is_short=is_short)
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)
    if not cache:
        return njit(nogil=not is_short)(function)
    made = _cached(function, not is_short)
    # private names of numba: a version without them compiles every function
    if passes is not None and hasattr(made, "_compile_for_args") and hasattr(made, "_types_active_call"):
        made._compile_for_args = _Start(made, passes)
    return made


def _cached(function: Callable[..., Any], nogil: bool) -> Any:
    """Return a function that is compiled at its first call, or loaded from the disk."""
    try:
        return njit(cache=True, nogil=nogil)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        return njit(nogil=nogil)(function)


class _Start:
    """Replacement of numba's compile step for new types of arguments: small calls run as Python instead.

    Parameters
    ----------
    dispatcher : numba Dispatcher
    passes : callable
        See :func:`compiled`.
    """

    def __init__(self, dispatcher: Any, passes: Callable[..., int]) -> None:
        self.dispatcher, self.passes = dispatcher, passes
        self.compile = dispatcher._compile_for_args
        self.seconds = 0.0

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return a callable for these arguments."""
        is_short = self.seconds < PATIENCE and self.passes(*arguments) <= SMALL
        if is_short and not keywords and not _is_on_disk(self.dispatcher):
            self.dispatcher._types_active_call.clear()
            return self.run
        return self.compile(*arguments, **keywords)

    def run(self, *arguments: Any) -> Any:
        """Run the function as Python."""
        begin = time.thread_time()
        with np.errstate(all="ignore"):
            result = as_python(self.dispatcher)(*arguments)
        self.seconds += time.thread_time() - begin
        return result.item() if isinstance(result, np.generic) else result


def count_numbers(*arguments: Any) -> int:
    """Return how many numbers there are in arrays and in tuples of arrays.

    Examples
    --------
    >>> count_numbers(np.zeros(3), (np.zeros((2, 2)), None), 5)
    7
    """
    tuples = sum(count_numbers(*value) for value in arguments if isinstance(value, tuple))
    return tuples + sum(value.size for value in arguments if isinstance(value, np.ndarray))


def _is_on_disk(dispatcher: Any) -> bool:
    """Whether the disk has machine code of a function, for any types of its arguments."""
    function, folder = dispatcher.py_func, dispatcher.stats.cache_path
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    name = f"*.{function.__qualname__}-{function.__code__.co_firstlineno}.{version}*.nbi"
    return folder is not None and any(Path(folder).glob(name))


@remember
def as_python(dispatcher: Any) -> Callable[..., Any]:
    """Return a compiled function as Python, with all compiled functions that it calls.

    Examples
    --------
    >>> @compiled(cache=False)
    ... def double(x):
    ...     return 2 * x
    >>> as_python(double)(2**70)
    2361183241434822606848
    """
    function = dispatcher.py_func
    around = {
        name: as_python(value) if hasattr(value, "py_func") else value
        for name, value in function.__globals__.items()
        if name in function.__code__.co_names
    }
    return FunctionType(function.__code__, {"__builtins__": builtins, **around}, function.__name__)


def prefetch(array: Any, row: Any) -> None:
    """Load the cache line of ``array[row]`` without waiting for it; as Python, do nothing.

    Examples
    --------
    >>> prefetch(np.arange(4), 2)
    """


@intrinsic
def _fetch(typing_context: Any, array: Any, row: Any) -> Any:
    """Emit the machine instruction."""
    from llvmlite import ir
    from numba.core import cgutils, types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        number = context.cast(builder, arguments[1], signature.args[1], types.intp)
        step = builder.extract_value(made.strides, 0)
        place = cgutils.pointer_add(builder, made.data, builder.mul(number, step))
        place = builder.bitcast(place, cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        call = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], kind)
        builder.call(call, [place, word(0), word(3), word(1)])  # to read, into all caches, data
        return context.get_dummy_value()

    return types.void(array, row), emit


@overload(prefetch, inline="always", strict=False)
def _compiled_prefetch(array: Any, row: Any) -> Any:
    """Return the compiled form of :func:`prefetch`."""
    return lambda array, row: _fetch(array, row)
