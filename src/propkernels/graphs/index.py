"""Positions and ranges: how databases are indexed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_positions(key: Any, length: int) -> Any:
    """Turn an index into one position (int) or an int64 array of positions, all in range.

    Parameters
    ----------
    key : int, slice, sequence of int, index array or boolean mask
    length : int
        Number of items that are indexed.

    Returns
    -------
    int or ndarray of int64
    """
    if isinstance(key, slice):
        return np.arange(length, dtype=np.int64)[key]
    array = np.asarray(key)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return _one_position(int(array), length)
    if array.ndim != 1:
        raise IndexError(f"graphs are indexed by an int, slice, list or mask, not by {key!r}")
    if array.dtype == bool:
        if len(array) != length:
            raise IndexError(f"a boolean mask of length {len(array)} cannot index {length} graphs")
        return np.flatnonzero(array)
    if array.size and array.dtype.kind not in "iu":
        raise IndexError(f"graphs are indexed by whole numbers, not by {array.dtype} values")
    return _in_range(array.astype(np.int64), length)


def _one_position(position: int, length: int) -> int:
    if not -length <= position < length:
        raise IndexError(f"graph {position} is out of range: there are {length} graphs")
    return position % length


def _in_range(array: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    wrong = (array < -length) | (array >= length)
    if wrong.any():
        raise IndexError(f"graph {array[wrong][0]} is out of range: there are {length} graphs")
    return np.where(array < 0, array + length, array)


def ranges(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Concatenate ``arange(start, start + length)`` for each pair, without a Python loop.

    Examples
    --------
    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(np.asarray(starts, dtype=np.int64) - (ends - lengths), lengths)
