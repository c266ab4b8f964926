"""Edits of a graph: allowed edits, all single edits, and edits that become possible after another.

An edit is a row of five integers, (kind, a, b, label, bond):

    RELABEL      node a gets the label
    ADD_EDGE     between a and b, with the edge label ``bond``
    REMOVE_EDGE  between a and b
    ADD_LEAF     a new node with the label, attached to a; b is its number, for use by a second edit
    REMOVE_LEAF  node a, whose only neighbor is b

Nodes keep the numbers of the original graph; the first new node has the number n. Labels are numbers in an
:class:`Alphabet`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice, check_integer, shown
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.moments import SAME_VERTEX, edges_of
from propkernels.tracking.alphabet import Alphabet

KINDS = ("relabel", "add_edge", "remove_edge", "add_leaf", "remove_leaf")
RELABEL, ADD_EDGE, REMOVE_EDGE, ADD_LEAF, REMOVE_LEAF = range(5)
NOTHING = -1
MOST_EDITS = 1_000_000
KEYS = ("kinds", "labels", "edge_labels", "nodes", "connected")
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Allowed:
    """Allowed edits, as given by the parameter ``allowed``; None: no restriction.

    Attributes
    ----------
    kinds : tuple of str or None
        A subset of ``KINDS``.
    labels, edge_labels : tuple or None
        Labels that relabeled or new nodes, and new edges, may get.
    nodes : tuple of int or None
        Nodes that may be relabeled or removed, get a new leaf, or be an end of an added or removed edge.
    connected : bool or None
        Whether the ends of a removed edge must stay connected.
    """

    kinds: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None
    edge_labels: tuple[Any, ...] | None = None
    nodes: tuple[int, ...] | None = None
    connected: bool | None = None

    @classmethod
    def check(cls, allowed: Any, n_nodes: int) -> Allowed:
        """Read the parameter: None, kinds of edits, or a mapping with some of ``KEYS``."""
        if allowed is None:
            return cls()
        given = dict(allowed) if isinstance(allowed, Mapping) else {"kinds": allowed}
        for key in given:
            check_choice(key, KEYS, "each key of allowed")
        several = {key: _several(given[key], key) for key in KEYS[:4] if given.get(key) is not None}
        for kind in several.get("kinds", ()):
            check_choice(kind, KINDS, "each kind of allowed edits")
        if "nodes" in several:
            most = n_nodes - 1
            several["nodes"] = tuple(
                check_integer(i, "each of allowed nodes", 0, most) for i in several["nodes"]
            )
        connected = given.get("connected")
        if connected is not None and not isinstance(connected, (bool, np.bool_)):
            raise ValueError(f"allowed['connected'] must be True or False, got {shown(connected)}")
        return cls(**several, connected=None if connected is None else bool(connected))


def _several(values: Any, key: str) -> tuple[Any, ...]:
    """Return one value or several as a tuple."""
    if isinstance(values, str):
        return (values,)
    if not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping)):
        raise TypeError(f"allowed[{key!r}] must be a list, got {shown(values)}")
    return tuple(values)


class Editor:
    """A graph, its allowed edits, and the edited graphs.

    Parameters
    ----------
    graph : GraphDatabase
        One undirected graph.
    alphabet : Alphabet
    kinds : sequence of str
        Allowed kinds of edits.
    nodes : sequence of int or None
        Nodes that may be edited; None: all.
    told_apart : bool
        Whether the model uses edge labels; otherwise new edges get the first allowed label.
    """

    def __init__(
        self,
        graph: GraphDatabase,
        alphabet: Alphabet,
        kinds: Sequence[str],
        nodes: Sequence[int] | None,
        told_apart: bool,
    ) -> None:
        self.graph, self.alphabet, self.n_nodes = graph, alphabet, graph.n_nodes
        self.kinds = frozenset(KINDS.index(kind) for kind in kinds)
        self.free = (
            np.ones(self.n_nodes, dtype=bool) if nodes is None else np.isin(range(self.n_nodes), nodes)
        )
        self.told_apart = told_apart
        self.bonds = alphabet.new_bonds if told_apart else alphabet.new_bonds[:1]
        self.neighbors = np.split(graph.adjacency.indices, graph.adjacency.indptr[1:-1])
        self._entries = np.stack(graph.adjacency.tocoo().coords).astype(np.int64)

    # rows

    def single_edits(self) -> Rows:
        """Return all allowed and possible single edits, one row each."""
        n, free, makers = self.n_nodes, np.flatnonzero(self.free), []
        self._check_number(len(free))
        if RELABEL in self.kinds:
            rows = _product(RELABEL, free, [0], self.alphabet.new_labels, [0])
            makers.append(rows[self.alphabet.node_ids[rows[:, 1]] != rows[:, 3]])
        if ADD_EDGE in self.kinds:
            a, b = (free[ends] for ends in np.triu_indices(len(free), 1))
            apart = ~np.isin(a * n + b, self._entries[0] * n + self._entries[1])
            a, b = a[apart], b[apart]
            bonds = np.tile(self.bonds, len(a))
            a, b = (np.repeat(ends, len(self.bonds)) for ends in (a, b))
            makers.append(_stacked(ADD_EDGE, a, b, 0, bonds))
        if REMOVE_EDGE in self.kinds:
            a, b = self._entries
            kept = (a < b) & self.free[a] & self.free[b]
            if self.graph.is_temporal:  # a vertex stays joined to itself at other times
                kept &= ~edges_of(self.graph, SAME_VERTEX)
            makers.append(_stacked(REMOVE_EDGE, a[kept], b[kept], 0, 0))
        if ADD_LEAF in self.kinds:
            makers.append(_product(ADD_LEAF, free, [n], self.alphabet.new_labels, self.bonds))
        if REMOVE_LEAF in self.kinds:
            leaves = [i for i in free if len(self.neighbors[i]) == 1 and self.neighbors[i][0] != i]
            ends = np.array([self.neighbors[i][0] for i in leaves], dtype=np.int64)
            makers.append(_stacked(REMOVE_LEAF, np.array(leaves, dtype=np.int64), ends, 0, 0))
        return np.concatenate([np.empty((0, 5), dtype=np.int64), *makers])

    def _check_number(self, n_free: int) -> None:
        """Refuse graphs with too many single edits."""
        relabeled = n_free * len(self.alphabet.new_labels)
        number = relabeled * (RELABEL in self.kinds) + relabeled * len(self.bonds) * (ADD_LEAF in self.kinds)
        number += n_free * (n_free - 1) // 2 * len(self.bonds) * (ADD_EDGE in self.kinds)
        if number > MOST_EDITS:
            raise ValueError(
                f"about {number:,} single edits of this graph are possible, more than {MOST_EDITS:,}: "
                "restrict them by allowed={'kinds': ..., 'labels': ..., 'nodes': ...}"
            )

    def edits_after(self, first: Rows) -> Rows:
        """Return edits that a first one makes possible: a leaf on a new leaf, removal of a new end, ..."""
        kind, a, b = (int(x) for x in first[:3])
        parts = [np.empty((0, 5), dtype=np.int64)]
        if kind == ADD_LEAF:
            new, others = [self.n_nodes], np.setdiff1d(np.flatnonzero(self.free), [a])
            if ADD_LEAF in self.kinds:
                parts.append(
                    _product(ADD_LEAF, new, [self.n_nodes + 1], self.alphabet.new_labels, self.bonds)
                )
            if ADD_EDGE in self.kinds:
                parts.append(_product(ADD_EDGE, others, new, [0], self.bonds))
        if kind in (REMOVE_EDGE, REMOVE_LEAF) and REMOVE_LEAF in self.kinds:
            for end, other in ((a, b), (b, a)) if kind == REMOVE_EDGE else ((b, a),):
                left = [j for j in self.neighbors[end] if j not in (other, end)]
                if len(left) == 1 and self.free[end] and len(self.neighbors[end]) == 2:
                    parts.append(np.array([[REMOVE_LEAF, end, left[0], 0, 0]]))
        if kind == REMOVE_EDGE and ADD_EDGE in self.kinds:  # the same edge with another label
            rows = _product(ADD_EDGE, [a], [b], [0], self.bonds)
            parts.append(rows[rows[:, 4] != self._bond(a, b)])
        return np.concatenate(parts)

    def is_redundant(self, first: Rows, seconds: Rows) -> NDArray[np.bool_]:
        """Mask of pairs, in either order, that equal a single edit or no edit."""
        kind, a = first[0], first[1]
        same = seconds[:, 1] == a
        if kind == RELABEL:
            return same & np.isin(seconds[:, 0], (RELABEL, REMOVE_LEAF))
        if kind == REMOVE_LEAF:  # removing a leaf and adding one at the same node equals relabeling the leaf
            replaced = (seconds[:, 0] == ADD_LEAF) & (seconds[:, 1] == first[2]) & (RELABEL in self.kinds)
            return (same & (seconds[:, 0] == RELABEL)) | replaced
        if kind == ADD_LEAF and RELABEL in self.kinds:
            return (seconds[:, 0] == REMOVE_LEAF) & (seconds[:, 2] == a)
        return np.zeros(len(seconds), dtype=bool)

    def _bond(self, a: int, b: int) -> int:
        here = (self._entries[0] == a) & (self._entries[1] == b)
        return int(self.alphabet.edge_ids[here][0])

    # graphs

    def edited(self, rows: Rows, connected: bool = False) -> GraphDatabase | None:
        """Return the graph after a sequence of edits; None if one of them is impossible.

        With ``connected``, also None if the ends of a removed edge are disconnected.
        """
        draft = _Draft(self)
        if not all(draft.apply(*(int(x) for x in row)) for row in rows):
            return None
        graph = draft.database()
        return None if connected and draft.falls_apart(graph, rows) else graph


class _Draft:
    """A graph during editing: flat lists, converted to a database at the end."""

    def __init__(self, editor: Editor) -> None:
        self.editor, self.graph = editor, editor.graph
        self.alive = [True] * self.graph.n_nodes
        self.labels = editor.alphabet.node_ids.tolist()
        self.removed: set[tuple[int, int]] = set()
        self.added: dict[tuple[int, int], int] = {}

    def _degree(self, i: int) -> int:
        own = self.editor.neighbors[i].tolist() if i < self.graph.n_nodes else []
        return sum((min(i, j), max(i, j)) not in self.removed for j in own) + sum(
            i in pair for pair in self.added
        )

    def _has(self, a: int, b: int) -> bool:
        pair = (min(a, b), max(a, b))
        own = a < self.graph.n_nodes and b < self.graph.n_nodes and b in self.editor.neighbors[a]
        return pair in self.added or (own and pair not in self.removed)

    def _cut(self, a: int, b: int) -> None:
        pair = (min(a, b), max(a, b))
        if pair in self.added:
            del self.added[pair]
        else:
            self.removed.add(pair)

    def apply(self, kind: int, a: int, b: int, label: int, bond: int) -> bool:
        """Apply an edit; return False if it is impossible."""
        if not self.alive[a]:
            return False
        if kind == RELABEL:
            changed, self.labels[a] = self.labels[a] != label, label
            return bool(changed)
        if kind == ADD_LEAF:
            b = len(self.alive)
            self.alive.append(True)
            self.labels.append(label)
            self.added[a, b] = bond
            return True
        if b >= len(self.alive) or not self.alive[b] or (kind == ADD_EDGE) == self._has(a, b):
            return False
        if kind == ADD_EDGE:
            self.added[min(a, b), max(a, b)] = bond
            return a != b
        if kind == REMOVE_LEAF:
            if self._degree(a) != 1:
                return False
            self.alive[a] = False
        self._cut(a, b)
        return True

    def falls_apart(self, graph: GraphDatabase, rows: Rows) -> bool:
        """Whether no path joins the ends of a removed edge."""
        from scipy.sparse.csgraph import connected_components

        number, part = np.cumsum(self.alive) - 1, connected_components(graph.adjacency)[1]
        ends = [row[1:3] for row in rows if row[0] == REMOVE_EDGE and all(self.alive[i] for i in row[1:3])]
        return any(part[number[a]] != part[number[b]] for a, b in ends)

    def database(self) -> GraphDatabase:
        """Return the edited graph: old nodes in their order, then new ones."""
        from scipy.sparse import csr_array

        graph, alphabet = self.graph, self.editor.alphabet
        alive = np.array(self.alive, dtype=bool)
        number = np.cumsum(alive) - 1
        rows, columns = self.editor._entries
        kept = np.ones(len(rows), dtype=bool)
        for a, b in self.removed:
            kept &= ~(((rows == a) & (columns == b)) | ((rows == b) & (columns == a)))
        new = np.array([[a, b, bond] for (a, b), bond in self.added.items()], dtype=np.int64).reshape(-1, 3)
        rows = number[np.concatenate([rows[kept], new[:, 0], new[:, 1]])]
        columns = number[np.concatenate([columns[kept], new[:, 1], new[:, 0]])]
        order, size = np.lexsort((columns, rows)), int(alive.sum())
        weights = np.concatenate([graph.adjacency.data[kept], np.ones(2 * len(new))])[order]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
        index = graph.adjacency.indices.dtype
        arrays = (weights, columns[order].astype(index), indptr.astype(index))
        bonds = np.concatenate([alphabet.edge_ids[kept], new[:, 2], new[:, 2]])[order]
        database = GraphDatabase._assemble(
            csr_array(arrays, shape=(size, size)),
            np.array([0, size], dtype=np.int64),
            self._node_labels(alive),
            _with_missing(graph.node_attributes, np.flatnonzero(alive[: graph.n_nodes]), size),
            alphabet.edge_column(bonds),
            None
            if graph.edge_attributes is None
            else _with_missing(graph.edge_attributes, np.flatnonzero(kept), len(rows))[order],  # type: ignore[index]
            graph.ids,
            graph.edge_attribute_names,
        )
        if graph.moments is not None:  # contacts and labels of graphs in time change, their nodes stay
            database = database._with(moments=graph.moments)
        return database.with_names(graph.names.labels, graph.names.edge_labels)

    def _node_labels(self, alive: NDArray[np.bool_]) -> Any:
        column, alphabet = self.graph.label_column, self.editor.alphabet
        if column is None or alphabet.has_labels:
            return alphabet.node_column(np.array(self.labels, dtype=np.int64)[alive])
        return column.take(np.flatnonzero(alive))  # label distributions: relabeling is impossible


def _with_missing(
    attributes: NDArray[np.float64] | None, kept: NDArray[np.int64], size: int
) -> NDArray[np.float64] | None:
    """Return the rows of kept nodes or edges, and missing values for new ones."""
    if attributes is None:
        return None
    rows = np.full((size, attributes.shape[1]), np.nan)
    rows[: len(kept)] = attributes[kept]
    return rows


def _product(kind: int, a: Any, b: Any, labels: Any, bonds: Any) -> Rows:
    """Return rows for all combinations of arguments."""
    grids = np.meshgrid(a, b, labels, bonds, indexing="ij")
    return _stacked(kind, *(np.asarray(grid, dtype=np.int64).ravel() for grid in grids))


def _stacked(kind: int, a: Any, b: Any, label: Any, bond: Any) -> Rows:
    columns = np.broadcast_arrays(kind, a, b, label, bond)
    return np.stack(columns, axis=-1).astype(np.int64).reshape(-1, 5)


def in_pairs(first: Rows | None, rows: Rows) -> Rows:
    """Return rows as (m, 2, 5): single edits, or second edits after a first one."""
    pairs = np.zeros((len(rows), 2, 5), dtype=np.int64)
    if first is None:
        pairs[:, 0], pairs[:, 1, 0] = rows, NOTHING
    else:
        pairs[:, 0], pairs[:, 1] = first, rows
    return pairs
