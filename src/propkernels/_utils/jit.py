"""JIT compilation: the decorator of all compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import config, njit
from numba.extending import intrinsic, overload


def compiled(function: Callable[..., Any] | None = None, *, cache: bool = True) -> Any:
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

    Examples
    --------
    >>> @compiled(cache=False)
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    if function is None:
        return partial(compiled, cache=cache)
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)
    if not cache:
        return njit(nogil=True)(function)
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        return njit(nogil=True)(function)


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
