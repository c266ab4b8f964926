"""JIT compilation: the decorator of all compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import config, njit


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
