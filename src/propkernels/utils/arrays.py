"""Offsets, index types and ranges of flat arrays that hold one run per graph, node or bin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where runs of these lengths start in a flat array, and where the last one ends.

    Examples
    --------
    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    values = np.asarray(lengths)
    ends = np.zeros(len(values) + 1, dtype=np.int64)
    if len(values):
        np.cumsum(values, dtype=np.int64, out=ends[1:])
    return ends


def index_dtype(*numbers: int) -> type[np.signedinteger[Any]]:
    """Return the smaller of int32 and int64 that holds all the numbers: scipy's rule for sparse matrices.

    Examples
    --------
    >>> index_dtype(7, 2**31 - 1).__name__, index_dtype(2**31).__name__
    ('int32', 'int64')
    """
    return np.int32 if max(numbers) < 2**31 else np.int64


def ranges(starts: ArrayLike, lengths: ArrayLike) -> NDArray[np.int64]:
    """Concatenate ``arange(start, start + length)`` for each pair.

    Examples
    --------
    >>> ranges([5, 0], [2, 3])
    array([5, 6, 0, 1, 2])
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(np.asarray(starts, dtype=np.int64) - (ends - lengths), lengths)
