"""Color refinement on labels, attributes and edges: which graphs t steps can distinguish.

The Weisfeiler-Lehman code of a node at t determines everything that t messages of its neighbors can tell it.
The distributions of propagation kernels, and the outputs of a network of t message-passing layers, are
functions of it [1]_.

References
----------
.. [1] K. Xu, W. Hu, J. Leskovec and S. Jegelka (2019). How powerful are graph neural networks? ICLR. Lemma 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import ranges
from propkernels._utils.randomness import mix
from propkernels.auditing.target import Target
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.refinement import multiset_codes

Groups = NDArray[np.int64]
Words = NDArray[np.uint64]
NOT_A_NUMBER = np.uint64(0x7FF8000000000000)


@dataclass(frozen=True)
class Contents:
    """Graphs, and the labels, attributes and weights of their nodes and edges.

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
        """One word per stored edge; None if all edges are equal."""
        if not len(self.edges) or bool((self.edges == self.edges[0]).all()):
            return None
        return _keys(self.edges)

    def take(self, positions: NDArray[np.int64]) -> Contents:
        """Return some of the graphs; labels keep their numbers."""
        starts, indptr = self.graphs.graph_ptr[positions], self.graphs.adjacency.indptr
        rows = ranges(starts, self.graphs.graph_ptr[positions + 1] - starts)
        entries = ranges(indptr[rows], indptr[rows + 1] - indptr[rows])
        return Contents(self.graphs[positions], self.nodes[rows], self.edges[entries])

    def refined(self, colors: Words, n_iter: int, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return Weisfeiler-Lehman codes from given colors: (n_iter + 1, N)."""
        return multiset_codes(self.graphs, colors, self.edge_keys, n_iter, n_jobs).codes


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


def labels_alone(graphs: GraphDatabase) -> Contents:
    """Return graphs with the labels and attributes of their nodes, and equal edges."""
    whole = everything(graphs)
    return Contents(graphs, whole.nodes, np.zeros((graphs.adjacency.nnz, 1), dtype=np.uint64))


def bits(table: Any) -> Words:
    """Return numbers as 64-bit words: equal words for equal numbers, and for missing ones.

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


@dataclass(frozen=True)
class Indistinguishable:
    """Graphs that t steps distinguish.

    Attributes
    ----------
    t : int
    n_groups : int
        Number of groups of graphs with equal codes.
    n_graphs : int
        Graphs with the codes of another one.
    bound : float or None
        Highest accuracy (R^2 for numbers) that any function of the codes can reach on these graphs.
    """

    t: int
    n_groups: int
    n_graphs: int
    bound: float | None


def groups_by_step(contents: Contents, t_max: int, n_jobs: int | None) -> list[Groups]:
    """Return for t = 0, ..., t_max one number per graph: equal for graphs with equal codes up to t."""
    codes = contents.refined(contents.node_keys, t_max, n_jobs)
    return [equal_multisets(row, contents.graphs.graph_ptr) for row in codes]


def equal_multisets(codes: NDArray[Any], graph_ptr: NDArray[np.int64]) -> Groups:
    """Number graphs by their sorted codes, in order of first appearance.

    Examples
    --------
    >>> equal_multisets(np.array([7, 5, 5, 7, 7, 7]), np.array([0, 2, 4, 6]))
    array([0, 0, 1])
    """
    owners = np.repeat(np.arange(len(graph_ptr) - 1), np.diff(graph_ptr))
    ordered = np.ascontiguousarray(codes[np.lexsort((codes, owners))])
    return number_equal([ordered[a:b].tobytes() for a, b in pairwise(graph_ptr)])


def number_equal(things: Sequence[Any]) -> Groups:
    """Number hashable things, equal ones alike, in order of first appearance."""
    table: dict[Any, int] = {}
    return np.array([table.setdefault(thing, len(table)) for thing in things], dtype=np.int64)


def describe_steps(groups: Sequence[Groups], target: Target | None) -> tuple[Indistinguishable, ...]:
    """Summarize the groups at each t."""
    return tuple(
        Indistinguishable(
            t,
            len(np.unique(row)),
            int(in_company(row).sum()),
            None if target is None else best_possible(row, target),
        )
        for t, row in enumerate(groups)
    )


def in_company(groups: Groups) -> NDArray[np.bool_]:
    """Return whether the group of each graph has other members."""
    return np.asarray(np.bincount(groups)[groups] > 1) if len(groups) else np.zeros(0, dtype=bool)


def best_possible(groups: Groups, target: Target) -> float:
    """Return the accuracy, or R^2, of the best rule that treats the graphs of a group alike.

    The rule predicts the most frequent class of each group, or the mean of its numbers.

    Examples
    --------
    >>> best_possible(np.array([0, 0, 0, 1]), Target(np.array([0, 1, 1, 0]), ("a", "b")))
    0.75
    """
    groups, target = groups[target.known], target.take(np.flatnonzero(target.known))
    if not len(groups):
        return 1.0
    if target.is_classes:
        table = np.zeros((groups.max() + 1, len(target.classes)), dtype=np.int64)
        np.add.at(table, (groups, target.values), 1)
        return float(table.max(axis=1).sum() / len(groups))
    sizes = np.maximum(np.bincount(groups), 1)
    means = np.bincount(groups, target.values) / sizes
    total = float(np.square(target.values - target.values.mean()).sum())
    return 1.0 - float(np.square(target.values - means[groups]).sum()) / total if total else 1.0
