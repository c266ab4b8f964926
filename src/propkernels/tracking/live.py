"""LiveGraph: a graph that changes, and the codes of its nodes, at the cost of what each change touches."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from propkernels._utils.checks import shown
from propkernels.codes.codes import CodeStreams
from propkernels.counts.counters import Counter, Listed
from propkernels.counts.entries import Entries, Vocabulary, entries_of_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, canonical_label
from propkernels.propagation.initial import UNKNOWN
from propkernels.tracking.alphabet import Alphabet
from propkernels.tracking.trackers import NodeCodes, is_trackable, plain, wired

LEAST_ROOM = 64  # nodes and neighbors that may be added before arrays grow
MOST_PENDING = 2**16  # changes whose codes are computed together
RELABEL, ADD_EDGE, REMOVE_EDGE = 0, 1, 2  # as in wiring_compiled, which is imported where it is used
FULL, IMPOSSIBLE = -1, 0  # as there
_WHY_NOT = {ADD_EDGE: "an edge exists, or both ends are one node", REMOVE_EDGE: "no edge exists"}


class LiveGraph:
    """A graph whose edges, labels and nodes change, with the codes of its nodes for several counters.

    A change is made at once; codes are computed when they are asked for, for the nodes within reach of the
    changes since then (P_t = T^t P_0: iteration t depends on nodes at most t steps away). Codes equal those
    of the changed graph from scratch, to the bit.

    Parameters
    ----------
    graph : GraphDatabase
        One undirected graph without weights, loops and parallel edges.
    counters : sequence of Counter
        Counters that code nodes, such as those of a model.
    """

    def __init__(self, graph: GraphDatabase, counters: Sequence[Counter] = ()) -> None:
        from propkernels.tracking.wiring_compiled import change_edge

        if len(graph) != 1:
            raise ValueError(f"a live graph is one graph, got {len(graph)}")
        if graph.is_temporal:
            raise ValueError("a graph in time holds all its times, and cannot be a live graph")
        if not is_trackable(graph):
            raise ValueError(
                "a live graph must be undirected, without weights, loops and parallel edges, and with the "
                "same edge label in both directions"
            )
        if graph.label_column is not None and not isinstance(graph.label_column, LabelColumn):
            raise ValueError("a live graph has one label per node, not a distribution over labels")
        self._ids, self._attributes = graph.ids, graph.attribute_matrix
        self._counters = tuple(counters)
        self._pending = np.zeros((MOST_PENDING, 3), dtype=np.int64)  # the first _n_pending rows count
        self._change_edge = change_edge
        self._load(graph)

    def _load(self, graph: GraphDatabase, label: Any = None, bond: Any = None, room: int = 0) -> None:
        """Prepare a graph for changes, with room for more nodes and edges; further labels may be named."""
        labels = [] if label is None else [label]
        bonds = [] if bond is None else [bond]
        room = max(LEAST_ROOM, graph.n_nodes // 8, room)
        self._alphabet = replace(Alphabet.of(graph, labels, bonds), n_new=room)
        self._labels = {value: i for i, value in enumerate(self._alphabet.node_values)}
        self._bonds = {value: i for i, value in enumerate(self._alphabet.edge_values)}
        self._wiring = wired(graph, self._alphabet)
        self._wires = plain(self._wiring)
        self._n_nodes = graph.n_nodes
        self._graph: GraphDatabase | None = graph
        self._most_degree = int(self._wiring.degree.max(initial=0)) + room
        self._coded: dict[int, NodeCodes | None] = {  # by identity: counters hold arrays
            id(counter): counter.tracker(None, graph, self._alphabet) for counter in self._counters
        }
        self._followed = [nodes for nodes in self._coded.values() if nodes is not None]
        self._n_pending = 0

    # reading

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self._n_nodes

    @property
    def graph(self) -> GraphDatabase:
        """The graph as it is now."""
        if self._graph is None:
            self._graph = self._assembled()
        return self._graph

    def has_edge(self, u: int, v: int) -> bool:
        """Return whether an edge joins two nodes."""
        u, v, wiring = self._node(u), self._node(v), self._wiring
        return v in wiring.neighbors[wiring.first[u] :][: wiring.degree[u]]

    def codes(self, counter: Counter) -> list[CodeStreams]:
        """Return the codes of all nodes by one of the counters."""
        self.update()
        nodes = self._coded[id(counter)]
        if nodes is None:
            return list(counter.codes(self.graph, 1))  # type: ignore[attr-defined]
        return [nodes.streams(self._n_nodes, int(getattr(counter, "n_hashes", 1)))]

    def entries(self, vocabulary: Vocabulary) -> Entries:
        """Return the bins of the graph in a vocabulary, whose counter must be one of the counters."""
        if self._coded[id(vocabulary.counter)] is None:
            return vocabulary.enter(self.graph, 1)
        ptr = np.array([0, self._n_nodes], dtype=np.int64)
        listed = Listed(ptr, self.codes(vocabulary.counter), False)
        return entries_of_codes(vocabulary, listed, self.graph)

    # changes

    def add_edge(self, u: int, v: int, label: Hashable = None) -> None:
        """Add an edge between two nodes, with a label if edges have labels."""
        self._single(ADD_EDGE, self._node(u), self._node(v), self._bond(label))

    def remove_edge(self, u: int, v: int) -> None:
        """Remove the edge between two nodes."""
        self._single(REMOVE_EDGE, self._node(u), self._node(v), 0)

    def set_label(self, node: int, label: Hashable) -> None:
        """Give a node another label; None: not observed."""
        node, number = self._node(node), self._label(label)
        if self._wiring.labels[node] != number:
            self._wiring.labels[node] = number
            self._changed([(RELABEL, node, node)])

    def add_node(self, label: Hashable = None) -> int:
        """Add a node without edges; return its number."""
        if self._attributes is not None:
            raise ValueError("a node of graphs with attributes cannot be added: its attributes are unknown")
        if self._n_nodes == len(self._wiring.alive):
            self._load(self.graph)
        node, number = self._n_nodes, self._label(label)
        self._wiring.alive[node] = True
        self._wiring.labels[node] = number
        self._n_nodes += 1
        self._changed([(RELABEL, node, node)])
        return node

    def add_edges(self, pairs: ArrayLike, label: Hashable = None) -> None:
        """Add one edge per row of ``pairs``, (m, 2); none is added if one of them is impossible."""
        self._several(ADD_EDGE, pairs, label)

    def remove_edges(self, pairs: ArrayLike) -> None:
        """Remove one edge per row of ``pairs``, (m, 2); none is removed if one of them does not exist."""
        self._several(REMOVE_EDGE, pairs, None)

    def _single(self, kind: int, u: int, v: int, bond: int) -> None:
        found = self._change_edge(
            self._wires, kind, u, v, bond, self._most_degree, self._pending, self._n_pending
        )
        if found == FULL:
            self._make_room(np.array([[u, v]]))
            found = self._change_edge(
                self._wires, kind, u, v, bond, self._most_degree, self._pending, self._n_pending
            )
        if found == IMPOSSIBLE:
            raise ValueError(f"nodes {u} and {v}: {_WHY_NOT[kind]}; nothing was changed")
        self._graph = None
        self._n_pending += 1
        if self._n_pending == MOST_PENDING:
            self.update()

    def _several(self, kind: int, pairs: ArrayLike, label: Any) -> None:
        from propkernels.tracking.wiring_compiled import change_edges

        ends = self._pairs(pairs)
        bond = self._bond(label) if kind == ADD_EDGE else 0
        if kind == ADD_EDGE:
            self._make_room(ends)
        made = change_edges(self._wiring, kind, ends, bond, np.zeros(len(ends), dtype=np.int64))
        if made < len(ends):
            u, v = ends[made].tolist()
            raise ValueError(f"nodes {u} and {v}: {_WHY_NOT[kind]}; nothing was changed")
        self._changed(np.column_stack([np.full(len(ends), kind), ends]))

    def _pairs(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """Return pairs of nodes, which exist."""
        try:
            ends = np.asarray(pairs)
        except ValueError:  # pairs of different lengths
            ends = np.empty(1, dtype=object)
        if ends.size == 0:
            return np.empty((0, 2), dtype=np.int64)
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            raise TypeError(f"a node is a whole number, and pairs have shape (m, 2): got {shown(pairs)}")
        wrong = (ends < 0) | (ends >= self._n_nodes)
        if wrong.any():
            raise IndexError(f"node {ends[wrong][0]} is out of range: there are {self._n_nodes} nodes")
        return np.ascontiguousarray(ends, dtype=np.int64)

    def _changed(self, edits: ArrayLike) -> None:
        """Remember changes, (m, 3), whose codes are computed on demand."""
        self._graph = None
        rest = np.asarray(edits)
        while len(rest):
            some = rest[: MOST_PENDING - self._n_pending]
            self._pending[self._n_pending :][: len(some)] = some
            self._n_pending += len(some)
            rest = rest[len(some) :]
            if self._n_pending == MOST_PENDING:
                self.update()

    def update(self) -> None:
        """Compute the codes that pending changes touch."""
        if self._n_pending:
            for nodes in self._followed:
                nodes.update(self._wires, self._pending, self._n_pending)
            self._n_pending = 0

    # numbers

    def _node(self, node: Any) -> int:
        """Return the number of a node; raise an error if there is no such node."""
        if type(node) is int and 0 <= node < self._n_nodes:
            return node
        try:
            number = node.__index__()
        except AttributeError:
            raise TypeError(f"a node is a whole number, got {shown(node)}") from None
        if not 0 <= number < self._n_nodes:
            raise IndexError(f"node {number} is out of range: there are {self._n_nodes} nodes")
        return int(number)

    def _label(self, label: Any) -> int:
        """Return the number of a label; a new label joins the alphabet."""
        if not self._alphabet.has_labels:
            if label is not None:
                raise ValueError(f"the nodes of this graph have no labels, got {shown(label)}")
            return int(self._alphabet.node_ids[0]) if self._n_nodes else 0
        value = _hashable(label)
        if value not in self._labels:
            self._load(self.graph, label=value)
        return self._labels[value]

    def _bond(self, label: Any) -> int:
        """Return the number of an edge label; a new label joins the alphabet."""
        if not self._alphabet.has_bonds:
            if label is not None:
                raise ValueError(f"the edges of this graph have no labels, got {shown(label)}")
            return 0
        value = UNKNOWN if label is None else _hashable(label)
        if value not in self._bonds:
            self._load(self.graph, bond=value)
        return self._bonds[value]

    def _make_room(self, ends: NDArray[np.int64]) -> None:
        """Let arrays grow if the rows of nodes, or the possible degrees, may be used up by new edges."""
        wiring = self._wiring
        nodes, more = np.unique(ends, return_counts=True)
        degree = wiring.degree[nodes] + more
        full = degree > wiring.room[nodes]
        moved = int((4 * degree[full] + 4).sum())  # a row that doubles takes at most twice its last room
        if degree.max(initial=0) >= self._most_degree or wiring.used[0] + moved > len(wiring.neighbors):
            self._load(self.graph, room=moved + int(degree.max(initial=0)))

    def _assembled(self) -> GraphDatabase:
        """Return the current graph as a database."""
        wiring, n = self._wiring, self._n_nodes
        degree = wiring.degree[:n]
        indptr = np.concatenate([[0], np.cumsum(degree)])
        places = np.repeat(wiring.first[:n] - indptr[:-1], degree) + np.arange(indptr[-1])
        indices = wiring.neighbors[places].astype(np.int32)
        matrix = csr_array((np.ones(len(indices)), indices, indptr.astype(np.int32)), shape=(n, n))
        alphabet = self._alphabet
        nodes = alphabet.node_column(wiring.labels[:n])
        bonds = alphabet.edge_column(wiring.bonds[places].astype(np.int64))
        ptr: NDArray[np.int64] = np.array([0, n], dtype=np.int64)
        return GraphDatabase._assemble(matrix, ptr, nodes, self._attributes, bonds, None, self._ids)


class ChangingGraph:
    """Base of a model's view of a live graph: reads and changes the graph."""

    _live: LiveGraph

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self._live.n_nodes

    @property
    def graph(self) -> GraphDatabase:
        """The graph as it is now."""
        return self._live.graph

    def has_edge(self, u: int, v: int) -> bool:
        """Return whether an edge joins two nodes."""
        return self._live.has_edge(u, v)

    def add_edge(self, u: int, v: int, label: Hashable = None) -> None:
        """Add an edge between two nodes, with a label if edges have labels."""
        self._live.add_edge(u, v, label)

    def remove_edge(self, u: int, v: int) -> None:
        """Remove the edge between two nodes."""
        self._live.remove_edge(u, v)

    def set_label(self, node: int, label: Hashable) -> None:
        """Give a node another label; None: not observed."""
        self._live.set_label(node, label)

    def add_node(self, label: Hashable = None) -> int:
        """Add a node without edges; return its number."""
        return self._live.add_node(label)

    def add_edges(self, pairs: ArrayLike, label: Hashable = None) -> None:
        """Add one edge per row of ``pairs``, (m, 2); none is added if one of them is impossible."""
        self._live.add_edges(pairs, label)

    def remove_edges(self, pairs: ArrayLike) -> None:
        """Remove one edge per row of ``pairs``, (m, 2); none is removed if one of them does not exist."""
        self._live.remove_edges(pairs)


def _hashable(label: Any) -> Hashable:
    """Return a label in its canonical form; raise an error if it cannot be a label."""
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"a label must be hashable, got {shown(label)}") from None
    return canonical_label(label)
