"""Tiles of the kernel matrix of kernels that compare pairs of graphs; see :mod:`..training_tiles`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.kernels.pairwise.tiles import TiledMatrix
from propkernels.kernels.training_tiles import TrainingTiles, diagonal_of, finished, rows_of

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PairTiles(TrainingTiles):
    """Tiles of a kernel that compares pairs, or that counts where it can.

    Attributes
    ----------
    comparison : TiledComparison or CountedComparison
    prepared : Any
        The training graphs, as the comparison wants them.
    graph_ptr : ndarray of int64, (n + 1,)
        Offsets of the graphs' nodes: tiles are cut into smaller ones of about equal cost.
    diagonal : ndarray, (n,), or None
        Self-similarities, where the kernel is normalized.
    n_jobs : int or None
    """

    comparison: Any
    prepared: Any
    graph_ptr: NDArray[np.int64]
    diagonal: Matrix | None
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        comparison: Any,
        prepared: Any,
        graph_ptr: NDArray[np.int64],
        normalize: bool,
        n_jobs: int | None,
    ) -> PairTiles:
        """Tiles of a fitted kernel."""
        tiles = cls(comparison, prepared, graph_ptr, None, n_jobs)
        return replace(tiles, diagonal=diagonal_of(tiles.tile, tiles.n_graphs)) if normalize else tiles

    @property
    def n_graphs(self) -> int:  # type: ignore[override]
        """Number of training graphs."""
        return len(self.graph_ptr) - 1

    def tile(self, rows: slice, columns: slice) -> Matrix:
        """Kernel of some training graphs and others; below the diagonal it mirrors what is above."""
        if rows.start > columns.start:
            return np.ascontiguousarray(self.tile(columns, rows).T)
        tile = self._compared(rows, columns)
        if rows.start == columns.start:
            n = min(tile.shape)
            tile[:n, :n] = np.triu(tile[:n, :n]) + np.triu(tile[:n, :n], 1).T
        return finished(tile, self.diagonal, rows, columns)

    def _compared(self, rows: slice, columns: slice) -> Matrix:
        if self.comparison.explicit() is not None:
            sides = rows_of(self.prepared, rows), rows_of(self.prepared, columns)
            return np.asarray(self.comparison.between(*sides, self.n_jobs))
        matrix = TiledMatrix.rectangle(
            self.graph_ptr[rows.start : rows.stop + 1] - self.graph_ptr[rows.start],
            self.graph_ptr[columns.start : columns.stop + 1] - self.graph_ptr[columns.start],
            self.comparison.depth,
        )
        matrix.compute(
            lambda a, b: self.comparison.tile(
                self.prepared, _moved(a, rows.start), self.prepared, _moved(b, columns.start)
            ),
            self.n_jobs,
            None,
            None,
            "Comparing graphs",
        )
        return matrix.values[-1]


def _moved(run: slice, by: int) -> slice:
    return slice(run.start + by, run.stop + by)
