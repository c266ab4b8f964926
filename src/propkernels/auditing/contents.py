"""All that nodes and edges carry, as rows of 64-bit words: equal rows carry the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.refinement import multiset_codes
from propkernels.utils.arrays import ranges
from propkernels.utils.randomness import mix

Words = NDArray[np.uint64]
NOT_A_NUMBER = np.uint64(0x7FF8000000000000)


@dataclass(frozen=True)
class Contents:
    """Graphs, and what their nodes and edges carry.

    Attributes
    ----------
    graphs : GraphDatabase
    nodes : ndarray of uint64, (N, columns)
        Labels (numbered within this database) and attributes, bit by bit.
    edges : ndarray of uint64, (stored entries, columns)
        Labels, weights and attributes.
    """

    graphs: GraphDatabase
    nodes: Words
    edges: Words

    @property
    def node_keys(self) -> Words:
        """One word per node."""
        return _keys(self.nodes)

    @property
    def edge_keys(self) -> Words | None:
        """One word per stored edge; None where all edges carry the same."""
        if not len(self.edges) or bool((self.edges == self.edges[0]).all()):
            return None
        return _keys(self.edges)

    def take(self, positions: NDArray[np.int64]) -> Contents:
        """Some of the graphs; their labels keep their numbers."""
        starts, indptr = self.graphs.graph_ptr[positions], self.graphs.adjacency.indptr
        rows = ranges(starts, self.graphs.graph_ptr[positions + 1] - starts)
        entries = ranges(indptr[rows], indptr[rows + 1] - indptr[rows])
        return Contents(self.graphs[positions], self.nodes[rows], self.edges[entries])

    def refined(self, colors: Words, n_iter: int, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Weisfeiler-Lehman codes from any start: (n_iter + 1, N)."""
        return multiset_codes(self.graphs, colors, self.edge_keys, n_iter, n_jobs).codes


def everything(graphs: GraphDatabase) -> Contents:
    """Graphs with all that they carry; nodes without labels start with their degrees, as kernels let them."""
    labels = bits(graphs.degrees[:, None]) if graphs.label_column is None else _labels(graphs.label_column)
    nodes, edges = [labels], []
    if graphs.node_attributes is not None:
        nodes.append(bits(graphs.node_attributes))
    if graphs.edge_label_column is not None:
        edges.append(_labels(graphs.edge_label_column))
    if graphs.edge_attributes is not None:
        edges.append(bits(graphs.edge_attributes))
    edges.append(bits(graphs.adjacency.data[:, None]))
    return Contents(graphs, np.column_stack(nodes), np.column_stack(edges))


def labels_alone(graphs: GraphDatabase) -> Contents:
    """Graphs with the labels and attributes of their nodes, edges being all alike."""
    whole = everything(graphs)
    return Contents(graphs, whole.nodes, np.zeros((graphs.adjacency.nnz, 1), dtype=np.uint64))


def bits(table: Any) -> Words:
    """Numbers as words: equal numbers are equal words, and so are missing ones.

    Examples
    --------
    >>> bool(bits(np.array([[0.0], [np.nan]]))[0, 0] == bits(np.array([[-0.0]]))[0, 0])
    True
    """
    numbers = np.ascontiguousarray(table, dtype=np.float64) + 0.0  # -0 becomes 0
    return np.where(np.isnan(numbers), NOT_A_NUMBER, numbers.view(np.uint64))


def _labels(column: Any) -> Words:
    """Numbers of labels, or the bits of their distributions."""
    if isinstance(column, LabelColumn):
        return column.ids.astype(np.int64).view(np.uint64)[:, None]
    return np.column_stack([bits(column.probabilities.toarray()), column.observed.astype(np.uint64)])


def _keys(rows: Words) -> Words:
    return mix(*rows.T)
