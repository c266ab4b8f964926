"""Moments: graphs in time, whose nodes are vertices at certain times.

A graph in time is stored as an ordinary graph. A vertex has one node per time at which something happens to
it. Edges of four relations join these nodes; the first node of an edge receives information from the second:

    contact             two vertices meet, and both receive
    received, sent      a directed or delayed contact: the receiver, and the same edge backwards
    earlier, later      the same vertex at the previous time of its nodes, and at the next

Information that follows "contact", "received" and "earlier" moves forwards in time only. A contact with a
label has the edge label (relation, label), any other edge has its relation as label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels._utils.arrays import freeze, offsets
from propkernels._utils.checks import shown
from propkernels.graphs.labels import UNOBSERVED, LabelColumn

if TYPE_CHECKING:
    from propkernels.graphs.database import GraphDatabase

CONTACT, RECEIVED, SENT, EARLIER, LATER = RELATIONS = ("contact", "received", "sent", "earlier", "later")
FORWARD = (CONTACT, RECEIVED, EARLIER)
SAME_VERTEX = (EARLIER, LATER)


@dataclass(frozen=True, eq=False)
class Moments:
    """The vertex and the time of each node.

    Attributes
    ----------
    vertices : LabelColumn
        Name of each node's vertex; a vertex is known by its graph and its name.
    times : ndarray of float64, (nodes,)
    """

    vertices: LabelColumn
    times: NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze(self.times)

    def take(self, nodes: NDArray[Any] | slice) -> Moments:
        """Return the moments of some nodes."""
        return Moments(self.vertices.take(nodes), self.times[nodes].copy())

    @staticmethod
    def concat(parts: list[Moments]) -> Moments:
        """Return the moments of several databases in a row."""
        vertices = LabelColumn.concat([part.vertices for part in parts])
        return Moments(vertices, np.concatenate([part.times for part in parts]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return np.array_equal(self.times, other.times) and self.vertices == other.vertices

    __hash__ = None  # type: ignore[assignment]


def check_moments(vertices: Any, times: Any, database: GraphDatabase) -> Moments:
    """Return the moments of the nodes of a database, whose edges must have relations as labels."""
    column = LabelColumn.from_values(vertices, name="vertices")
    array = np.array(times, dtype=np.float64)
    if len(column) != database.n_nodes or array.shape != (database.n_nodes,):
        raise ValueError(f"vertices and times must hold one entry for each of {database.n_nodes} nodes")
    if not column.observed.all() or not np.isfinite(array).all():
        raise ValueError("every node needs a vertex and a finite time")
    edges = database.edge_label_column
    unknown = (
        [] if edges is None else [value for value in edges.present if relation_of(value) not in RELATIONS]
    )
    if unknown or (edges is None and database.adjacency.nnz) or (edges is not None and (edges.ids < 0).any()):
        example = f"; got {shown(unknown[0])}" if unknown else ""
        raise ValueError(f"edges of graphs in time need relations as labels: {', '.join(RELATIONS)}{example}")
    return Moments(column, array)


def relation_of(label: Any) -> Any:
    """Return the relation of an edge label of a graph in time."""
    return label[0] if isinstance(label, tuple) and label else label


def contact_label(label: Any) -> Any:
    """Return the label of a contact; None if it has none."""
    return label[1] if isinstance(label, tuple) and len(label) > 1 else None


def edges_of(graphs: GraphDatabase, relations: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which stored entries of the adjacency have one of the relations."""
    column = graphs.edge_label_column
    if column is None:
        return np.zeros(graphs.adjacency.nnz, dtype=bool)
    wanted = np.array([relation_of(value) in relations for value in column.values] + [False])
    return wanted[column.ids]


VIEWS = ("forward", "both", "static")


def seen(graphs: GraphDatabase, view: str, labeled: bool) -> GraphDatabase:
    """Return graphs in time as a kernel sees them.

    Parameters
    ----------
    graphs : GraphDatabase
        Graphs in time.
    view : {"forward", "both", "static"}
        Information moves forwards in time; also backwards; or times are ignored, and each vertex is one node.
    labeled : bool
        Whether labels of contacts count; relations always do, except in a static view.
    """
    if view == "static":
        return static_graphs(graphs, labeled)
    kept = edges_of(graphs, FORWARD) if view == "forward" else None
    return _with_relations(graphs if kept is None else _with_entries(graphs, kept), labeled)


def _with_entries(graphs: GraphDatabase, kept: NDArray[np.bool_]) -> GraphDatabase:
    """Return graphs with some of their edges."""
    matrix = graphs.adjacency
    indptr = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(matrix.indptr.dtype)
    arrays = (matrix.data[kept], matrix.indices[kept], indptr)
    edges = graphs.edge_label_column
    return graphs._with(
        adjacency=csr_array(arrays, shape=matrix.shape),
        edge_labels=None if edges is None else LabelColumn(edges.ids[kept], edges.values),
        edge_attributes=None if graphs.edge_attributes is None else graphs.edge_attributes[kept],
    )


def _with_relations(graphs: GraphDatabase, labeled: bool) -> GraphDatabase:
    """Return graphs whose edges have their relation as label or, with ``labeled``, the whole label."""
    column = graphs.edge_label_column
    if labeled or column is None or not any(isinstance(value, tuple) for value in column.values):
        return graphs
    table = np.array([RELATIONS.index(relation_of(value)) for value in column.values] + [UNOBSERVED])
    return graphs._rebuilt(edge_labels=LabelColumn(table[column.ids].astype(np.int32), RELATIONS))


def vertex_numbers(graphs: GraphDatabase) -> NDArray[np.int64]:
    """Return the number of each node's vertex, ascending in order of each vertex's first node."""
    moments = graphs.moments
    assert moments is not None
    keys = graphs.graph_ids.astype(np.int64) * max(len(moments.vertices.values), 1) + moments.vertices.ids
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def last_nodes(graphs: GraphDatabase) -> NDArray[np.int64]:
    """Return the latest node of each vertex, by number of the vertex."""
    assert graphs.moments is not None
    numbers = vertex_numbers(graphs)
    order = np.lexsort((graphs.moments.times, numbers))
    ends = np.flatnonzero(np.append(np.diff(numbers[order]), 1)) if len(order) else order
    return order[ends]


def static_graphs(graphs: GraphDatabase, labeled: bool = False) -> GraphDatabase:
    """Return graphs without time: one node per vertex, with its last label; an edge per pair that met.

    Parameters
    ----------
    graphs : GraphDatabase
        Graphs in time.
    labeled : bool, default=False
        Whether to keep the labels of contacts.
    """
    from propkernels.graphs.database import GraphDatabase

    numbers, last = vertex_numbers(graphs), last_nodes(graphs)
    met = np.flatnonzero(edges_of(graphs, (CONTACT, RECEIVED)))
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(graphs.adjacency.indptr))[met]
    column = graphs.edge_label_column
    kinds = (
        np.zeros(len(met), np.int64) if column is None or not labeled else column.ids[met].astype(np.int64)
    )
    pairs = np.column_stack([numbers[rows], numbers[graphs.adjacency.indices[met]], kinds])
    pairs = np.unique(pairs, axis=0)
    ends = (pairs[:, 0], pairs[:, 1])
    matrix, labels = coo_array((np.ones(len(pairs)), ends), shape=(len(last), len(last))), None
    if labeled and column is not None:
        values = [contact_label(column.values[kind]) for kind in pairs[:, 2]]
        labels = LabelColumn.from_values(np.fromiter(values, dtype=object, count=len(values)))
    sizes = np.bincount(graphs.graph_ids[last], minlength=len(graphs))
    node_labels, attributes = graphs.label_column, graphs.node_attributes
    return GraphDatabase(
        matrix,
        offsets(sizes),
        None if node_labels is None else node_labels.take(last),
        None if attributes is None else attributes[last],
        edge_labels=labels,
        ids=graphs.ids,
    )
