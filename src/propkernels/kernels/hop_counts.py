"""Path-count matrices: how often each node is node number a of a shortest path with b edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counts import StreamCounts, count_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import TiledComparison
from propkernels.kernels.label_keys import node_keys
from propkernels.kernels.node_comparison import NodeComparison, Nodes
from propkernels.kernels.triplet_coder import stream_of
from propkernels.paths.distances import PathLengths, path_lengths, runs_of_graphs
from propkernels.randomness import mix

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class HopCounter:
    """Explicit features of the GraphHopper kernel on labels: the path-count matrices, summed for each label.

    Attributes
    ----------
    source : {"node", "degree", None}
        Where labels come from.
    weighted : bool
        Whether weights are the edges' lengths.
    """

    source: str | None
    weighted: bool

    def count(
        self, graphs: GraphDatabase, known: Sequence[NDArray[np.int64]] | None, n_jobs: int | None
    ) -> list[StreamCounts]:
        """Count (label, position, number of edges); known codes own the first columns."""
        keys, ids = np.unique(node_keys(graphs, self.source), return_inverse=True)
        parts = list(self._graphs(graphs, keys, ids))
        sizes = np.array([len(codes) for codes, _ in parts])
        codes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        counted, bins = count_codes(codes, ptr, None if known is None else known[0])
        return [stream_of(sizes, counted.indices, counts, bins)]

    def _graphs(
        self, graphs: GraphDatabase, keys: NDArray[np.uint64], ids: NDArray[Any]
    ) -> Iterator[tuple[NDArray[np.int64], Matrix]]:
        """Codes and counts of each graph."""
        first = 0
        for part in runs_of_graphs(graphs):
            paths = path_lengths(part, self.weighted)
            for i, size in enumerate(part.graph_sizes):
                labels, slots = np.unique(ids[first : first + size], return_inverse=True)
                matrices = _hop_counts(paths, i, slots, len(labels))
                slot, a, b = np.nonzero(matrices)
                yield mix(keys[labels[slot]], a, b).view(np.int64), matrices[slot, a, b]
                first += size


def _hop_counts(paths: PathLengths, i: int, slots: NDArray[Any], n_slots: int) -> Matrix:
    """Path-count matrices of graph i, added up by slot: (n_slots, width, width)."""
    from propkernels.paths.compiled import count_hops, most_hops

    graphs = paths.graphs
    first, size = int(graphs.graph_ptr[i]), int(graphs.graph_sizes[i])
    distances = paths.distances[paths.pair_ptr[i] : paths.pair_ptr[i + 1]]
    edges = (graphs.adjacency.indptr, graphs.adjacency.indices, paths.weights, first, size, distances)
    if (paths.weights == 1).all():
        most = int(distances[distances < np.inf].max(initial=0.0))
    else:
        most = most_hops(*edges)
    counts = np.zeros((n_slots, most + 1, most + 1))
    count_hops(*edges, slots.astype(np.int64), counts)
    return counts


class Hops(NamedTuple):
    """Nodes of several graphs, and one matrix a graph: a row a node, the columns its path counts.

    Column b (b + 1) / 2 + a holds node number a of paths with b edges: graphs with shorter paths have fewer
    columns.
    """

    nodes: Nodes
    counts: list[Matrix]


@dataclass(frozen=True)
class HopComparison(TiledComparison):
    """Sum over pairs of nodes of <M(u), M(v)> k(u, v) (Feragen et al. 2013, Equation 5)."""

    nodes: NodeComparison
    weighted: bool

    def prepare(self, graphs: GraphDatabase) -> Hops:
        """Labels, attributes and path counts."""
        counts = [
            _packed(_hop_counts(paths, i, np.arange(size), int(size)))
            for paths in (path_lengths(part, self.weighted) for part in runs_of_graphs(graphs))
            for i, size in enumerate(paths.graphs.graph_sizes)
        ]
        return Hops(self.nodes.nodes(graphs), counts)

    def tile(self, left: Hops, rows: slice, right: Hops, columns: slice) -> Matrix:
        """Compare some graphs with some others; products of counts are whole numbers, and exact."""
        from propkernels.kernels.node_compiled import sum_blocks

        a, b = left.nodes.some(rows), right.nodes.some(columns)
        sides = left.counts[rows], right.counts[columns]
        width = min(max(counts.shape[1] for counts in side) for side in sides)
        values = _stacked(sides[0], width) @ _stacked(sides[1], width).T
        values *= self.nodes.matrix(a, b)
        out = np.empty((1, len(a.ptr) - 1, len(b.ptr) - 1))
        sum_blocks(values, a.ptr, b.ptr, out[0])
        return out


def _packed(counts: Matrix) -> Matrix:
    """The entries a <= b of each matrix, by b, then a."""
    b, a = np.tril_indices(counts.shape[1])
    return np.ascontiguousarray(counts[:, a, b])


def _stacked(counts: list[Matrix], width: int) -> Matrix:
    """Rows of several graphs under each other, cut or filled up to one width."""
    stacked = np.zeros((sum(map(len, counts)), width))
    first = 0
    for part in counts:
        shared = min(width, part.shape[1])
        stacked[first : first + len(part), :shared] = part[:, :shared]
        first += len(part)
    return stacked
