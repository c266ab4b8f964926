"""Subgraph matching by cliques of the product graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels import _core
from propkernels._utils.arrays import offsets
from propkernels._utils.randomness import mix
from propkernels._utils.stored import ANY_NUMBER, Offsets, require
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import TiledComparison
from propkernels.kernels.node_kernel import NodeComparison, Nodes
from propkernels.propagation.initial import edge_keys


class Wired(NamedTuple):
    """Nodes of several graphs, and one word per ordered pair of nodes for the edges between them."""

    nodes: Nodes
    pair_ptr: Annotated[NDArray[np.int64], Offsets("edges")]
    edges: Annotated[NDArray[np.uint64], ANY_NUMBER]

    def _check_parts(self) -> None:
        """Raise unless there is one word per ordered pair of nodes of each graph."""
        self.nodes.check_pairs(self.pair_ptr, self.edges)

    def some(self, graphs: slice) -> Wired:
        """Return a run of graphs."""
        ptr = self.pair_ptr[graphs.start : graphs.stop + 1]
        return Wired(self.nodes.some(graphs), ptr - ptr[0], self.edges[ptr[0] : ptr[-1]])


@dataclass(frozen=True)
class SubgraphComparison(TiledComparison):
    """Weighted sums over matched subgraphs; layer s is the kernel with sizes 1..s+1.

    Attributes
    ----------
    nodes : NodeComparison
    lambdas : ndarray, (k,)
        Weight of each size.
    edge_labels, edge_weights : bool
        Whether matched edges must have equal labels, and equal weights.
    connected : bool
        Whether only connected subgraphs are matched.
    """

    nodes: NodeComparison
    lambdas: NDArray[np.float64]
    edge_labels: bool
    edge_weights: bool
    connected: bool
    prepared_type: ClassVar[type] = Wired

    def _check_parts(self) -> None:
        """Raise unless there is one weight per size."""
        require(self.lambdas.ndim == 1 and len(self.lambdas) >= 1, "every size needs a weight")

    @property
    def depth(self) -> int:  # type: ignore[override]
        """Number of kernels: one per maximum size."""
        return len(self.lambdas)

    def prepare(self, graphs: GraphDatabase) -> Wired:
        """Return labels, attributes and edges."""
        pair_ptr = offsets(graphs.graph_sizes**2)
        keys = edge_keys(graphs, self.edge_labels, self.edge_weights)
        return Wired(self.nodes.nodes(graphs), pair_ptr, _edge_words(graphs, pair_ptr, keys))

    def tile(self, left: Wired, rows: slice, right: Wired, columns: slice) -> NDArray[np.float64]:
        """Return the kernel between two runs of graphs, (depth, rows, columns)."""
        a, b = left.some(rows), right.some(columns)
        sides = [(side.nodes.ptr, side.pair_ptr, side.edges) for side in (a, b)]
        out = np.empty((self.depth, len(a.nodes.ptr) - 1, len(b.nodes.ptr) - 1))
        settings = (self.depth, self.connected, self.nodes.kind == 0)
        _core.match_subgraphs(self.nodes.matrix(a.nodes, b.nodes), *sides, *settings, out)
        return np.asarray(np.cumsum(out * self.lambdas[:, None, None], axis=0))


def _edge_words(
    graphs: GraphDatabase, pair_ptr: NDArray[np.int64], keys: NDArray[np.uint64] | None
) -> NDArray[np.uint64]:
    """Return, per ordered pair (u, v), a word for the edges u -> v and v -> u; 0 without edges."""
    words = np.zeros(pair_ptr[-1], dtype=np.uint64)
    entries: coo_array = csr_array(graphs.adjacency).tocoo()
    rows, columns = entries.coords
    edge_words = mix(1, 0 if keys is None else keys) * np.ones(len(rows), dtype=np.uint64)
    graph = graphs.graph_ids[rows]
    first, size = graphs.graph_ptr[graph], graphs.graph_sizes[graph]
    there = pair_ptr[graph] + (rows - first) * size + (columns - first)
    back = pair_ptr[graph] + (columns - first) * size + (rows - first)
    np.add.at(words, there, mix(2, edge_words))  # a sum, so that the order of parallel edges does not matter
    np.add.at(words, back, mix(3, edge_words))
    return words
