"""Tiles of the kernel matrix of the training graphs: the bits of ``fit_transform`` without all of its memory.

Counts are whole numbers and their sums exact, so that a tile has the same bits as the same place of the
matrix, whatever way that was computed; weighting, adding and normalizing then take the same steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import StreamCounts
from propkernels.gram.base_kernels import BaseKernel
from propkernels.gram.linear import normalized

Matrix = NDArray[np.float64]
ROWS_AT_A_TIME = 256  # of the tiles that self-similarities are taken from


class TrainingTiles(ABC):
    """A kernel matrix that is computed where it is looked at."""

    n_graphs: int

    @abstractmethod
    def tile(self, rows: slice, columns: slice) -> Matrix:
        """The matrix at some rows and columns: slices with a start, a stop, and steps of 1."""


@dataclass(frozen=True)
class CountTiles(TrainingTiles):
    """Tiles of a kernel that counts.

    Attributes
    ----------
    base_kernel : BaseKernel
        Fitted.
    counts : list of StreamCounts
    diagonal : ndarray, (n,), or None
        Self-similarities, where the kernel is normalized.
    n_jobs : int or None
    """

    base_kernel: BaseKernel
    counts: list[StreamCounts]
    diagonal: Matrix | None
    n_jobs: int | None

    @property
    def n_graphs(self) -> int:  # type: ignore[override]
        """Number of training graphs."""
        return int(self.counts[0].counts.shape[0])

    def tile(self, rows: slice, columns: slice) -> Matrix:
        """Kernel of some training graphs and others."""
        sides = rows_of(self.counts, rows), rows_of(self.counts, columns)
        return finished(self.base_kernel.cross(*sides, self.n_jobs), self.diagonal, rows, columns)


@dataclass(frozen=True)
class SumTiles(TrainingTiles):
    """Tiles of a weighted sum of kernels."""

    weights: NDArray[np.float64]
    parts: list[Any]
    diagonal: Matrix | None

    @classmethod
    def of(cls, weights: NDArray[np.float64], parts: list[Any], normalize: bool) -> SumTiles:
        """Tiles of the parts together; their own self-similarities, where the sum is normalized."""
        tiles = cls(weights, parts, None)
        return replace(tiles, diagonal=diagonal_of(tiles.tile, tiles.n_graphs)) if normalize else tiles

    @property
    def n_graphs(self) -> int:  # type: ignore[override]
        """Number of training graphs."""
        return int(self.parts[0].n_graphs)

    def tile(self, rows: slice, columns: slice) -> Matrix:
        """Sum of the parts' tiles."""
        total = weighted_sum(self.weights, [part.tile(rows, columns) for part in self.parts])
        return finished(total, self.diagonal, rows, columns)


def rows_of(counts: Sequence[StreamCounts], rows: slice) -> list[StreamCounts]:
    """Counts of some graphs; streams that share a matrix share its rows."""
    cut: dict[int, Any] = {}
    for stream in counts:
        if id(stream.counts) not in cut:
            cut[id(stream.counts)] = stream.counts[rows]
    return [replace(stream, counts=cut[id(stream.counts)]) for stream in counts]


def diagonal_of(tile: Callable[[slice, slice], Matrix], n_graphs: int) -> Matrix:
    """The diagonal of a matrix, from small tiles along it."""
    runs = [slice(a, min(a + ROWS_AT_A_TIME, n_graphs)) for a in range(0, n_graphs, ROWS_AT_A_TIME)]
    return np.concatenate([np.empty(0), *(tile(run, run).diagonal() for run in runs)])


def finished(tile: Matrix, diagonal: Matrix | None, rows: slice, columns: slice) -> Matrix:
    """Normalize a tile, in place, with an exact 1 (0 for an empty graph) on the diagonal."""
    if diagonal is None:
        return tile
    normalized(tile, diagonal[rows], diagonal[columns])
    own = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    tile[own - rows.start, own - columns.start] = diagonal[own] > 0
    return tile


def weighted_sum(weights: NDArray[np.float64], parts: Sequence[Matrix]) -> Matrix:
    """Add up matrices, the first one first."""
    total = weights[0] * parts[0]
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total += weight * part
    return np.asarray(total)
