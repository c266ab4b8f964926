"""Comparisons of a fitted pairwise kernel: by tiles of pairs of graphs, or by counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import one_blas_thread, run_threads, whole_runs
from propkernels._utils.progress import ProgressBar
from propkernels._utils.stored import require
from propkernels.counts.base_kernels import BaseKernel, Linear
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.countings import Counting
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.node_kernel import NodeComparison, Nodes

Matrix = NDArray[np.float64]
Tile = tuple[slice, slice]
NODES_IN_TILE = 384


class TiledComparison(ABC):
    """Comparison of graphs pair by pair, in tiles of many pairs."""

    depth: int = 1  # number of kernels that one pass yields
    prepared_type: ClassVar[type]  # return type of prepare
    nodes: NodeComparison

    def check_prepared(self, prepared: Any) -> None:
        """Raise if training graphs were prepared for another comparison or other attributes."""
        require(type(prepared) is self.prepared_type, "graphs are prepared for another comparison")
        nodes = prepared if isinstance(prepared, Nodes) else prepared.nodes
        require(nodes.points.shape[1] == self.nodes.dimensions, "nodes have another number of attributes")

    def explicit(self) -> Counter | None:
        """Return None: the kernel is not a dot product of counts."""
        return None

    def counting(self, prepared: Any, normalize: bool) -> Counting | None:
        """Return None: graphs are not compared bin by bin."""
        return None

    def matrices_at_once(self, prepared: Any) -> int:
        """Return the number of kernel matrices in memory at a time."""
        return self.depth

    @abstractmethod
    def prepare(self, graphs: GraphDatabase) -> Any:
        """Return the data of each graph that ``tile`` needs."""

    @abstractmethod
    def tile(self, left: Any, rows: slice, right: Any, columns: slice) -> Matrix:
        """Return kernel values of prepared graphs, (depth, rows, columns); each depends on its pair alone."""

    def diagonal(self, prepared: Any, n_graphs: int) -> Matrix:
        """Return self-similarities, (depth, n)."""
        tiles = [self.tile(prepared, slice(i, i + 1), prepared, slice(i, i + 1)) for i in range(n_graphs)]
        return np.concatenate([np.empty((self.depth, 0)), *(values[:, :, 0] for values in tiles)], axis=1)

    def square(self, prepared: Any, ptr: NDArray[np.int64], text: str) -> Matrix:
        """Return the kernel matrices of all graphs, (depth, n, n); tiles below the diagonal are mirrored."""
        runs = _runs(ptr)
        kernels = np.empty((self.depth, len(ptr) - 1, len(ptr) - 1))

        def one_tile(tile: Tile) -> None:
            rows, columns = tile
            values = check_finite(self.tile(prepared, rows, prepared, columns))
            if rows == columns:
                values = np.triu(values) + np.swapaxes(np.triu(values, 1), 1, 2)
            kernels[:, rows, columns] = values
            kernels[:, columns, rows] = np.swapaxes(values, 1, 2)

        _each(one_tile, [(a, b) for i, a in enumerate(runs) for b in runs[i:]], text)
        return kernels

    def rectangle(
        self,
        left: Any,
        left_ptr: NDArray[np.int64],
        right: Any,
        right_ptr: NDArray[np.int64],
        text: str,
    ) -> Matrix:
        """Return the kernel matrix of graphs against other graphs, (m, n)."""
        kernel = np.empty((len(left_ptr) - 1, len(right_ptr) - 1))

        def one_tile(tile: Tile) -> None:
            kernel[tile] = check_finite(self.tile(left, tile[0], right, tile[1]))[-1]

        _each(one_tile, [(a, b) for a in _runs(left_ptr) for b in _runs(right_ptr)], text)
        return kernel


def _runs(ptr: NDArray[np.int64]) -> list[slice]:
    """Return runs of whole graphs, each the rows or columns of a tile."""
    return [slice(int(a), int(b)) for a, b in pairwise(whole_runs(ptr, NODES_IN_TILE))]


def _each(function: Callable[[Tile], None], tiles: list[Tile], text: str) -> None:
    """Apply a function to tiles in threads, with a progress bar."""
    with one_blas_thread(), ProgressBar(text, len(tiles)) as bar:

        def one(tile: Tile) -> None:
            function(tile)
            bar.step()

        run_threads(one, tiles)


def check_finite(values: Matrix) -> Matrix:
    """Return kernel values; raise if any is infinite or NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(values.sum())
    if suspect and not np.isfinite(values).all():
        raise ValueError(
            "the kernel of two graphs is larger than a float can hold: set standardize=True, "
            "or divide the attributes by a constant"
        )
    return values


@dataclass(frozen=True)
class CountedComparison:
    """Comparison of graphs by a dot product of features of their counts."""

    counter: Counter
    base_kernel: BaseKernel = field(default=Linear(), kw_only=True)

    def check_prepared(self, counts: Any) -> None:
        """Raise if training graphs are not given by counts."""
        streams = isinstance(counts, list) and all(isinstance(stream, StreamCounts) for stream in counts)
        require(streams, "training graphs need counts")

    def explicit(self) -> Counter | None:
        """Return the counter of the features."""
        return self.base_kernel.counter(self.counter)

    def counting(self, counts: list[StreamCounts], normalize: bool) -> Counting:
        """Return the counts of the training graphs with their comparison."""
        return Counting(self.counter, counts, bool(self.base_kernel.assigned), False, normalize)

    def explicit_counts(self, counts: list[StreamCounts]) -> list[StreamCounts]:
        """Return the counts of the training graphs by the counter of the features."""
        return self.base_kernel.features(counts)

    def matrices_at_once(self, counts: list[StreamCounts]) -> int:
        """Return the number of kernel matrices in memory at a time."""
        return self.base_kernel.matrices_at_once(counts)

    def prepare(self, graphs: GraphDatabase) -> list[StreamCounts]:
        """Return the counts of the training graphs."""
        return self.counter.count(graphs, None)

    def square(self, counts: list[StreamCounts]) -> Matrix:
        """Return the kernel matrix of the training graphs."""
        return self.base_kernel.square(counts)

    def diagonal(self, counts: list[StreamCounts]) -> Matrix:
        """Return self-similarities."""
        return self.base_kernel.diagonal(counts)

    def cross(self, graphs: GraphDatabase, train: list[StreamCounts]) -> tuple[Matrix, Matrix]:
        """Return the kernel of new graphs against training graphs, and k(x, x) of the new graphs."""
        new = self.counter.count(graphs, [stream.codes for stream in train])
        return self.base_kernel.cross(new, train), self.base_kernel.diagonal(new)
