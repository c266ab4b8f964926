"""Shortest paths of equal length, their ends compared by attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import TiledComparison
from propkernels.kernels.node_comparison import NodeComparison, Nodes
from propkernels.paths.distances import path_lengths


class Paths(NamedTuple):
    """Nodes and distances of several graphs; ``distances`` is inf where no path is compared."""

    nodes: Nodes
    pair_ptr: NDArray[np.int64]
    distances: NDArray[np.float64]


@dataclass(frozen=True)
class EqualLengths(TiledComparison):
    """Sum over pairs of shortest paths of equal length of the product of both ends' node kernels."""

    nodes: NodeComparison
    weighted: bool

    def prepare(self, graphs: GraphDatabase) -> Paths:
        """Labels, attributes and distances."""
        paths = path_lengths(graphs, self.weighted)
        distances = np.where(paths.distances == 0, np.inf, paths.distances)
        return Paths(self.nodes.nodes(graphs), paths.pair_ptr, distances)

    def tile(self, left: Paths, rows: slice, right: Paths, columns: slice) -> NDArray[np.float64]:
        """Compare some graphs with some others."""
        from propkernels.kernels.node_compiled import equal_length_sums

        a, b = _some(left, rows), _some(right, columns)
        values = np.unique(np.concatenate([a.distances, b.distances]))
        values = values[values < np.inf]
        numbers = [_numbers(paths.distances, values) for paths in (a, b)]
        out = np.empty((1, len(a.pair_ptr) - 1, len(b.pair_ptr) - 1))
        sides = (a.nodes.ptr, a.pair_ptr, numbers[0], b.nodes.ptr, b.pair_ptr, numbers[1])
        equal_length_sums(self.nodes.matrix(a.nodes, b.nodes), *sides, len(values), out[0])
        return out


def _some(paths: Paths, chosen: slice) -> Paths:
    """Paths of the chosen graphs."""
    pair_ptr = paths.pair_ptr[chosen.start : chosen.stop + 1]
    return Paths(
        paths.nodes.some(chosen), pair_ptr - pair_ptr[0], paths.distances[pair_ptr[0] : pair_ptr[-1]]
    )


def _numbers(distances: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Position of each distance among the values, -1 for inf."""
    return np.where(distances < np.inf, np.searchsorted(values, distances), -1)
