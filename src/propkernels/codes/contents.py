"""Contents of graphs as words: labels, attributes and weights, and the colors that refinement gives nodes.

The distributions of propagation kernels after t steps, and the outputs of a network of t message-passing
layers, are functions of the Weisfeiler-Lehman code of a node at iteration t [1]_.

References
----------
.. [1] K. Xu, W. Hu, J. Leskovec and S. Jegelka (2019). How powerful are graph neural networks? ICLR. Lemma 2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import ranges
from propkernels._utils.randomness import label_keys, mix
from propkernels.codes.codes import multiset_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

Groups = NDArray[np.int64]
Words = NDArray[np.uint64]
NOT_A_NUMBER = np.uint64(0x7FF8000000000000)
UNKNOWN = ("unobserved",)  # stands for a missing label


@dataclass(frozen=True)
class Contents:
    """Graphs, and the labels, attributes and weights of their nodes and edges.

    Attributes
    ----------
    graphs : GraphDatabase
    nodes : ndarray of uint64, (N, columns)
        Label numbers of this database, and the bits of attributes.
    edges : ndarray of uint64, (stored entries, columns)
        Label numbers, and the bits of attributes and weights.
    """

    graphs: GraphDatabase
    nodes: Words
    edges: Words

    @property
    def node_keys(self) -> Words:
        """Hash of the labels and attributes of each node."""
        return _keys(self.nodes)

    @property
    def edge_keys(self) -> Words | None:
        """Hash of the labels, attributes and weights of each stored edge; None if all edges are equal."""
        if not len(self.edges) or bool((self.edges == self.edges[0]).all()):
            return None
        return _keys(self.edges)

    def take(self, positions: NDArray[np.int64]) -> Contents:
        """Return the graphs at the given positions; label numbers do not change."""
        starts, indptr = self.graphs.graph_ptr[positions], self.graphs.adjacency.indptr
        rows = ranges(starts, self.graphs.graph_ptr[positions + 1] - starts)
        entries = ranges(indptr[rows], indptr[rows + 1] - indptr[rows])
        return Contents(self.graphs[positions], self.nodes[rows], self.edges[entries])

    def refined(self, colors: Words, t_max: int) -> NDArray[np.int64]:
        """Return Weisfeiler-Lehman codes that start from ``colors``: (t_max + 1, N)."""
        return multiset_codes(self.graphs, colors, self.edge_keys, t_max).codes


def everything(graphs: GraphDatabase) -> Contents:
    """Return graphs with all labels, attributes and weights; unlabeled nodes start with their degrees."""
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


def contents_by_value(
    graphs: GraphDatabase, ignore: Collection[str] = (), words: Callable[[Any], Words] | None = None
) -> Contents:
    """Return graphs with words that are functions of values alone, equal in every database.

    ``words`` turns tables of weights and attributes into words: their bits by default.
    """
    words = words or bits
    nodes = [_label_words(None if "labels" in ignore else graphs.label_column, graphs.n_nodes)]
    n_entries = graphs.adjacency.nnz
    edges = [_label_words(None if "edge_labels" in ignore else graphs.edge_label_column, n_entries)]
    weights = np.ones(n_entries) if "weights" in ignore else graphs.adjacency.data
    edges.append(words(weights[:, None]))
    if "attributes" not in ignore:
        if graphs.node_attributes is not None:
            nodes.append(words(graphs.node_attributes))
        if graphs.edge_attributes is not None:
            edges.append(words(graphs.edge_attributes))
    return Contents(graphs, np.column_stack(nodes), np.column_stack(edges))


def _label_words(column: Any, number: int) -> Words:
    """Return one word per label; distributions are summed over their labels, which have no order.

    A distribution that is known but not observed, as uncertain ones are, differs from an observed one.
    """
    if column is None:
        return np.broadcast_to(label_keys([UNKNOWN]), (number,))[:, None]
    if isinstance(column, LabelColumn):
        return label_keys((*column.values, UNKNOWN))[column.ids][:, None]
    table = column.probabilities.tocsr()
    words = np.zeros(number, dtype=np.uint64)
    rows = np.repeat(np.arange(number), np.diff(table.indptr))
    probabilities = bits(table.data[:, None])[:, 0]
    np.add.at(words, rows, mix(label_keys(column.values)[table.indices], probabilities))
    words = np.where(column.observed, words, mix(words))
    return np.where(column.known, words, label_keys([UNKNOWN])[0])[:, None]


def labels_alone(graphs: GraphDatabase) -> Contents:
    """Return graphs with the labels and attributes of their nodes, and equal edges."""
    whole = everything(graphs)
    return Contents(graphs, whole.nodes, np.zeros((graphs.adjacency.nnz, 1), dtype=np.uint64))


def bits(table: Any) -> Words:
    """Return numbers as 64-bit words; all NaN give the same word, and so do 0.0 and -0.0.

    Examples
    --------
    >>> bool(bits(np.array([[0.0], [np.nan]]))[0, 0] == bits(np.array([[-0.0]]))[0, 0])
    True
    """
    numbers = np.ascontiguousarray(table, dtype=np.float64) + 0.0  # -0 becomes 0
    return np.where(np.isnan(numbers), NOT_A_NUMBER, numbers.view(np.uint64))


def _labels(column: Any) -> Words:
    """Return label numbers, or the bits of label distributions."""
    if isinstance(column, LabelColumn):
        return column.ids.astype(np.int64).view(np.uint64)[:, None]
    return np.column_stack([bits(column.probabilities.toarray()), column.observed.astype(np.uint64)])


def _keys(rows: Words) -> Words:
    return mix(*rows.T)


def groups_by_step(contents: Contents, t_max: int) -> list[Groups]:
    """Return, for t = 0, ..., t_max, one group number per graph; graphs of a group have equal codes."""
    codes = contents.refined(contents.node_keys, t_max)
    return [equal_multisets(row, contents.graphs.graph_ptr) for row in codes]


def equal_multisets(codes: NDArray[Any], graph_ptr: NDArray[np.int64]) -> Groups:
    """Return one group number per graph, in order of first appearance; graphs of a group have equal codes.

    Examples
    --------
    >>> equal_multisets(np.array([7, 5, 5, 7, 7, 7]), np.array([0, 2, 4, 6]))
    array([0, 0, 1])
    """
    owners = np.repeat(np.arange(len(graph_ptr) - 1), np.diff(graph_ptr))
    ordered = np.ascontiguousarray(codes[np.lexsort((codes, owners))])
    return number_equal([ordered[a:b].tobytes() for a, b in pairwise(graph_ptr)])


def number_equal(items: Sequence[Hashable]) -> Groups:
    """Return one number per item, equal for equal items, in order of first appearance."""
    table: dict[Hashable, int] = {}
    return np.array([table.setdefault(item, len(table)) for item in items], dtype=np.int64)


def in_company(groups: Groups) -> NDArray[np.bool_]:
    """Return a mask of the graphs whose group has other members."""
    return np.asarray(np.bincount(groups)[groups] > 1) if len(groups) else np.zeros(0, dtype=bool)
