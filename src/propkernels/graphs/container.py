"""What graph and grid databases share: list behavior, positions and slices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from propkernels.utils.sparse import frozen


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


One = TypeVar("One")


class Container(ABC, Generic[One]):
    """A list of graphs whose nodes lie in one array, those of graph i from ``graph_ptr[i]`` on.

    Through ``iloc`` and ``take`` it keeps its type in scikit-learn's Pipeline, cross-validation and
    train_test_split.
    """

    graph_ptr: NDArray[np.int64]

    @abstractmethod
    def _subset(self, positions: NDArray[np.int64]) -> Self:
        """The graphs at positions that are in range."""

    @abstractmethod
    def _single(self, position: int) -> One:
        """One graph, by a position that is in range."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs together."""
        return int(self.graph_ptr[-1])

    @property
    def graph_sizes(self) -> NDArray[np.int64]:
        """Number of nodes of each graph."""
        return np.diff(self.graph_ptr)

    @cached_property
    def graph_ids(self) -> NDArray[np.int32]:
        """For each node, the position of its graph."""
        return frozen(np.repeat(np.arange(len(self), dtype=np.int32), self.graph_sizes))

    def __len__(self) -> int:
        return len(self.graph_ptr) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(number of graphs,)``."""
        return (len(self),)

    @overload
    def __getitem__(self, key: int) -> One: ...
    @overload
    def __getitem__(self, key: Any) -> Self: ...
    def __getitem__(self, key: Any) -> One | Self:
        """One graph for an integer; a database for a slice, list, index array or boolean mask."""
        positions = as_positions(key, len(self))
        return self._single(positions) if isinstance(positions, int) else self._subset(positions)

    def __iter__(self) -> Iterator[One]:
        return (self._single(i) for i in range(len(self)))

    def take(self, indices: Any, axis: int = 0) -> Self:
        """Graphs at the given positions (scikit-learn indexes containers through this)."""
        if axis != 0:
            raise ValueError(f"a {type(self).__name__} has one axis, its graphs: use axis=0")
        return self._subset(as_positions(np.atleast_1d(np.asarray(indices)), len(self)))

    @property
    def iloc(self) -> Self:
        """The database itself: positions are the only index (scikit-learn looks for this name)."""
        return self

    loc = iloc
