"""JIT compilation: the one decorator of all compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import config, njit


def compiled(function: Callable[..., Any] | None = None, *, cache: bool = True) -> Any:
    """Compile a loop over plain arrays with numba, without the GIL.

    Machine code is cached on disk, next to the module or in the user's cache folder. Where numba can write to
    neither (a read-only installation and no home), the function is compiled again in each process.

    With ``NUMBA_DISABLE_JIT=1`` functions stay Python, for a debugger or a measurement of coverage: unsigned
    words then wrap around as silently as they do in machine code.

    Parameters
    ----------
    function : callable
    cache : bool, default=True
        Whether to keep the machine code on disk. False suits helpers, which are compiled into their callers.

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
