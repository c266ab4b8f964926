"""GraphDatabase: many graphs as one block-diagonal sparse matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.graphs.container import Container
from propkernels.graphs.distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.validation import (
    check_adjacency,
    check_attributes,
    check_edges_stay_inside,
    check_graph_ptr,
    check_node_labels,
    check_square,
    check_weights,
)

if TYPE_CHECKING:
    from propkernels.graphs.graph import Graph


class GraphDatabase(Container["Graph"]):
    """A list of graphs, stored as one block-diagonal sparse adjacency matrix.

    It behaves like a list (``len``, indexing, iteration, concatenation) and keeps its type through
    scikit-learn's Pipeline, cross-validation and train_test_split.

    Parameters
    ----------
    adjacency : sparse or dense matrix of shape (N, N)
        Weighted adjacency of all graphs, block-diagonal. Weights are finite and not negative; a
        non-symmetric matrix means directed edges (row to column). Zeros are not edges and repeated
        entries are added up.
    graph_ptr : sequence of int, length n + 1
        Graph ``i`` owns the nodes ``graph_ptr[i]`` to ``graph_ptr[i + 1] - 1``.
    node_labels : sequence of length N, optional
        Any hashable values. None, NaN, masked, and -1 among integers mean "not observed".
    node_attributes : array of shape (N,) or (N, D), optional
        Real-valued vectors; NaN and masked entries mean "not observed".
    edge_labels : sequence, optional
        One hashable value for each stored entry of ``adjacency``, in the order of
        ``scipy.sparse.coo_array(adjacency)``.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> db = pk.GraphDatabase(path, [0, 3], node_labels=["C", "O", "C"])
    >>> db
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    >>> both = pk.GraphDatabase.concat([db, db])
    >>> len(both), both[0]
    (2, Graph(3 nodes, 2 edges, 2 node labels))
    """

    _labels: LabelColumn | LabelDistributions | None
    _edge_labels: LabelColumn | None

    def __init__(
        self,
        adjacency: Any,
        graph_ptr: Any,
        node_labels: Any = None,
        node_attributes: Any = None,
        edge_labels: Any = None,
    ) -> None:
        square = check_square(adjacency)
        offsets = check_graph_ptr(graph_ptr, square.shape[0])
        matrix, edge_column = check_adjacency(square, edge_labels, offsets)
        check_edges_stay_inside(matrix, offsets)
        check_weights(matrix, offsets)
        labels = check_node_labels(node_labels, offsets)
        self._store(matrix, offsets, labels, check_attributes(node_attributes, offsets), edge_column)

    def _store(
        self,
        adjacency: csr_array,
        graph_ptr: NDArray[np.int64],
        labels: LabelColumn | LabelDistributions | None,
        attributes: NDArray[np.float64] | None,
        edge_labels: LabelColumn | None,
    ) -> None:
        self.adjacency = adjacency
        self.graph_ptr = graph_ptr
        self._labels = labels
        self.node_attributes = attributes
        self._edge_labels = edge_labels

    @classmethod
    def _assemble(cls, *parts: Any) -> GraphDatabase:
        """Build from parts that are known to be valid (a slice, a join), without checking again."""
        database = cls.__new__(cls)
        database._store(*parts)
        return database

    # what a reader asks of it

    @property
    def node_labels(self) -> NDArray[Any] | None:
        """Node labels as given: integers with -1, objects with None where unobserved, or distributions."""
        return None if self._labels is None else self._labels.to_array()

    @property
    def edge_labels(self) -> NDArray[Any] | None:
        """Labels of the stored entries of ``adjacency``, in its CSR order."""
        return None if self._edge_labels is None else self._edge_labels.to_array()

    @property
    def label_column(self) -> LabelColumn | LabelDistributions | None:
        """Node labels in their encoded form, ids and values, or label distributions."""
        return self._labels

    @property
    def edge_label_column(self) -> LabelColumn | None:
        """Edge labels in their encoded form, ids and values."""
        return self._edge_labels

    @property
    def label_values(self) -> tuple[Hashable, ...]:
        """The distinct node labels that occur."""
        return () if self._labels is None else self._labels.present

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Weighted out-degree of each node, ``sum_j A_ij``, the same number in any order of the nodes."""
        counts = np.diff(self.adjacency.indptr)
        if self.is_unweighted:
            return counts.astype(np.float64)
        rows = np.repeat(np.arange(self.n_nodes), counts)
        ordered = self.adjacency.data[np.lexsort((self.adjacency.data, rows))]  # smaller weights first
        return np.bincount(rows, ordered, self.n_nodes).astype(np.float64)

    @cached_property
    def is_unweighted(self) -> bool:
        """Whether every edge has weight 1."""
        return bool((self.adjacency.data == 1.0).all())

    @cached_property
    def directed_graphs(self) -> NDArray[np.bool_]:
        """For each graph, whether some edge lacks a reverse edge of the same weight."""
        forward, directed = self.adjacency, np.zeros(len(self), dtype=bool)
        backward = forward.T.tocsr()
        backward.sort_indices()
        if not _same_matrix(forward, backward):
            rows, _ = (forward - backward).nonzero()
            directed[self.graph_ids[rows]] = True
        return directed

    @property
    def is_directed(self) -> bool:
        """Whether some edge of some graph lacks a reverse edge of the same weight."""
        return bool(self.directed_graphs.any())

    @property
    def n_edges(self) -> int:
        """Number of edges; an edge of an undirected graph, stored in both directions, counts once."""
        ends = self.adjacency.indptr[self.graph_ptr]
        loops = np.bincount(self.graph_ids[self.adjacency.diagonal() != 0], minlength=len(self))
        stored = np.diff(ends.astype(np.int64))
        return int(np.where(self.directed_graphs, stored, (stored + loops) // 2).sum())

    # what a list does

    def _single(self, position: int) -> Graph:
        from propkernels.graphs.graph import Graph

        return Graph(self._subset(np.array([position])))

    def _subset(self, positions: NDArray[np.int64]) -> GraphDatabase:
        from propkernels.graphs.subset import subset

        return subset(self, positions)

    @staticmethod
    def concat(databases: Iterable[GraphDatabase | Graph]) -> GraphDatabase:
        """Join databases, or single graphs taken from them, end to end.

        Where some have node (or edge) labels and others none, the others' are unobserved. Attributes
        must be present everywhere with one dimension, or nowhere.
        """
        from propkernels.graphs.join import join

        return join(databases)

    def with_labels(self, node_labels: Any) -> GraphDatabase:
        """Return the same graphs with other node labels (or none)."""
        column = check_node_labels(node_labels, self.graph_ptr)
        return GraphDatabase._assemble(
            self.adjacency, self.graph_ptr, column, self.node_attributes, self._edge_labels
        )

    def with_attributes(self, node_attributes: Any) -> GraphDatabase:
        """Return the same graphs with other node attributes (or none)."""
        attributes = check_attributes(node_attributes, self.graph_ptr)
        return GraphDatabase._assemble(
            self.adjacency, self.graph_ptr, self._labels, attributes, self._edge_labels
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphDatabase):
            return NotImplemented
        return (
            np.array_equal(self.graph_ptr, other.graph_ptr)
            and _same_matrix(self.adjacency, other.adjacency)
            and self._labels == other._labels
            and _same_attributes(self.node_attributes, other.node_attributes)
            and self._edge_labels == other._edge_labels
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle and copy the data, not what can be worked out from it again."""
        names = ("adjacency", "graph_ptr", "_labels", "node_attributes", "_edge_labels")
        return {name: getattr(self, name) for name in names}

    # what a person sees

    def __repr__(self) -> str:
        from propkernels.graphs.summary import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        from propkernels.graphs.summary import html_table

        return html_table(self)

    def to_networkx(self) -> list[Any]:
        """Return each graph as a ``networkx.Graph`` (``DiGraph`` where edges are directed)."""
        from propkernels.graphs.networkx import graph_to_networkx

        return [graph_to_networkx(graph) for graph in self]


def _same_matrix(a: csr_array, b: csr_array) -> bool:
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data, b.data)
    )


def _same_attributes(a: NDArray[np.float64] | None, b: NDArray[np.float64] | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=True)
