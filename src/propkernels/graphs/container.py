"""What GraphDatabase and GridDatabase have in common: a list that scikit-learn can cut into folds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.index import as_positions

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
        return np.repeat(np.arange(len(self), dtype=np.int32), self.graph_sizes)

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
