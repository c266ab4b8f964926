"""Compiled edits of a graph in place, with undo.

An edit is a row of five integers, (kind, a, b, label, bond), with these kinds:

    RELABEL      node a gets the label
    ADD_EDGE     between a and b, with the edge label ``bond``
    REMOVE_EDGE  between a and b
    ADD_LEAF     a new node b with the label, on a
    REMOVE_LEAF  node a, whose only neighbor is b

A row of edits holds one or two edits, (m, 2, 5); the second may be NOTHING.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled

UNTOUCHED = 2**31 - 1
NOTHING, RELABEL, ADD_EDGE, REMOVE_EDGE, ADD_LEAF, REMOVE_LEAF = -1, 0, 1, 2, 3, 4


class Wiring(NamedTuple):
    """The graph while it is edited, with room for more nodes and neighbors.

    Node i has the neighbors ``neighbors[first[i] : first[i] + degree[i]]``, ascending as in a row of the
    adjacency, over edges whose labels have the numbers in ``bonds`` at the same places. A row has room for
    ``room[i]`` neighbors; a full row moves to the free places of the pool, which begin at ``used[0]``. Nodes
    keep their numbers while others are removed (``alive`` marks the rest), which leaves neighbors in the
    order that they have in the edited graph. ``depth`` is the first step at which an edit touches a node,
    and UNTOUCHED between edits.
    """

    first: Any
    room: Any
    neighbors: Any
    bonds: Any
    used: Any
    degree: Any
    labels: Any
    alive: Any
    depth: Any


@compiled(cache=False)
def room_of_moved(room: int) -> Any:
    """Return the room of a row after it was full and moved."""
    return 2 * room + 2


@compiled(cache=False)
def _move_row(wiring: Any, i: int) -> None:
    """Move the row of i to the free places of the pool, with twice the room."""
    neighbors, bonds, old, new = wiring.neighbors, wiring.bonds, wiring.first[i], wiring.used[0]
    for k in range(wiring.degree[i]):
        neighbors[new + k] = neighbors[old + k]
        bonds[new + k] = bonds[old + k]
    wiring.first[i] = new
    wiring.room[i] = room_of_moved(wiring.room[i])
    wiring.used[0] += wiring.room[i]


@compiled(cache=False)
def _link(wiring: Any, i: int, j: int, bond: int) -> None:
    """Insert j into the row of i, after all smaller neighbors."""
    if wiring.degree[i] == wiring.room[i]:
        _move_row(wiring, i)
    neighbors, bonds, first = wiring.neighbors, wiring.bonds, wiring.first[i]
    k = first + wiring.degree[i]
    while k > first and neighbors[k - 1] > j:
        neighbors[k] = neighbors[k - 1]
        bonds[k] = bonds[k - 1]
        k -= 1
    neighbors[k] = j
    bonds[k] = bond
    wiring.degree[i] += 1


@compiled(cache=False)
def _place(wiring: Any, i: int, j: int) -> Any:
    """Return the place of j in the row of i; -1: no edge."""
    neighbors, first = wiring.neighbors, wiring.first[i]
    for k in range(first, first + wiring.degree[i]):
        if neighbors[k] == j:
            return k
    return -1


@compiled(cache=False)
def _unlink(wiring: Any, i: int, j: int) -> Any:
    """Remove j from the row of i; return the number of the edge's label."""
    k, neighbors, bonds = _place(wiring, i, j), wiring.neighbors, wiring.bonds
    bond = bonds[k]
    wiring.degree[i] -= 1
    last = wiring.first[i] + wiring.degree[i]
    while k < last:
        neighbors[k] = neighbors[k + 1]
        bonds[k] = bonds[k + 1]
        k += 1
    return bond


@compiled(cache=False)
def is_possible(wiring: Any, kind: int, a: int, b: int, label: int) -> Any:
    """Whether an edit is possible in the current graph."""
    if kind == ADD_LEAF:
        return wiring.alive[a]
    if kind == RELABEL:
        return wiring.alive[a] and wiring.labels[a] != label
    if not (wiring.alive[a] and wiring.alive[b]):
        return False
    if kind == ADD_EDGE:
        return a != b and _place(wiring, a, b) < 0
    if kind == REMOVE_LEAF:
        return wiring.degree[a] == 1 and wiring.neighbors[wiring.first[a]] == b
    return _place(wiring, a, b) >= 0


@compiled(cache=False)
def apply_edit(wiring: Any, kind: int, a: int, b: int, label: int, bond: int) -> Any:
    """Apply an edit; return the previous label of the node, or the label of the removed edge, for undo."""
    before = 0
    if kind == RELABEL:
        before = wiring.labels[a]
        wiring.labels[a] = label
    elif kind in (ADD_EDGE, ADD_LEAF):
        if kind == ADD_LEAF:
            wiring.alive[b] = True
            wiring.labels[b] = label
        _link(wiring, a, b, bond)
        _link(wiring, b, a, bond)
    else:
        before = _unlink(wiring, a, b)
        _unlink(wiring, b, a)
        if kind == REMOVE_LEAF:
            wiring.alive[a] = False
    return before


@compiled(cache=False)
def take_back(wiring: Any, kind: int, a: int, b: int, before: int) -> None:
    """Undo the last edit."""
    if kind == RELABEL:
        wiring.labels[a] = before
    elif kind in (ADD_EDGE, ADD_LEAF):
        _unlink(wiring, a, b)
        _unlink(wiring, b, a)
        if kind == ADD_LEAF:
            wiring.alive[b] = False
    else:
        _link(wiring, a, b, before)
        _link(wiring, b, a, before)
        if kind == REMOVE_LEAF:
            wiring.alive[a] = True


@compiled(cache=False)
def apply_edits(wiring: Any, edits: Any, row: int, before: Any) -> None:
    """Apply the edits of a row; write the labels needed to undo them to ``before``, (2,)."""
    for k in range(2):
        if edits[row, k, 0] != NOTHING:
            before[k] = apply_edit(
                wiring,
                edits[row, k, 0],
                edits[row, k, 1],
                edits[row, k, 2],
                edits[row, k, 3],
                edits[row, k, 4],
            )


@compiled(cache=False)
def take_back_edits(wiring: Any, edits: Any, row: int, before: Any) -> None:
    """Undo the edits of a row, in reverse order."""
    for k in range(1, -1, -1):
        if edits[row, k, 0] != NOTHING:
            take_back(wiring, edits[row, k, 0], edits[row, k, 1], edits[row, k, 2], before[k])


@compiled(cache=False)
def is_joined(wiring: Any, a: int, b: int, queue: Any, met: Any) -> Any:
    """Whether a path joins a and b, or one of them is removed; ``met`` is False between calls."""
    if not (wiring.alive[a] and wiring.alive[b]):
        return True
    queue[0] = a
    met[a] = True
    count, k = 1, 0
    while k < count and not met[b]:
        i = queue[k]
        for e in range(wiring.degree[i]):
            j = wiring.neighbors[wiring.first[i] + e]
            if not met[j]:
                met[j] = True
                queue[count] = j
                count += 1
        k += 1
    is_reached = met[b]
    for k in range(count):
        met[queue[k]] = False
    return is_reached


FULL, IMPOSSIBLE, DONE = -1, 0, 1


@compiled(cache=False)
def _has_room(wiring: Any, a: int, b: int, most_degree: int) -> Any:
    """Whether an edge fits: into tables of degrees, and into rows or, where these must move, the pool."""
    if max(wiring.degree[a], wiring.degree[b]) + 1 >= most_degree:
        return False
    needed = 0
    for i in (a, b):
        if wiring.degree[i] == wiring.room[i]:
            needed += room_of_moved(wiring.room[i])
    return wiring.used[0] + needed <= len(wiring.neighbors)


@compiled
def change_edge(
    wiring: Any, kind: int, a: int, b: int, bond: int, most_degree: int, edits: Any, n: int
) -> Any:
    """Add or remove an edge for good; return DONE, IMPOSSIBLE, or FULL if arrays must grow first.

    ``wiring`` is a tuple of the fields of a ``Wiring``; the edit is written to row ``n`` of ``edits``.
    """
    return _change_edge(Wiring(*wiring), kind, a, b, bond, most_degree, edits, n)


@compiled(cache=False)
def _change_edge(
    wiring: Any, kind: int, a: int, b: int, bond: int, most_degree: int, edits: Any, n: int
) -> Any:
    if not is_possible(wiring, kind, a, b, 0):
        return IMPOSSIBLE
    if kind == ADD_EDGE and not _has_room(wiring, a, b, most_degree):
        return FULL
    apply_edit(wiring, kind, a, b, 0, bond)
    edits[n, 0], edits[n, 1], edits[n, 2] = kind, a, b
    return DONE


@compiled
def change_edges(wiring: Any, kind: int, pairs: Any, bond: int, before: Any) -> Any:
    """Add or remove edges for good; return their number, or the first impossible row, and change nothing.

    Parameters
    ----------
    wiring : Wiring
        Must have room for the new edges.
    kind : int
        ADD_EDGE or REMOVE_EDGE.
    pairs : ndarray of int64, (m, 2)
    bond : int
        Label of new edges.
    before : ndarray of int64, (m,)
        Workspace: labels of removed edges.
    """
    made = 0
    while made < len(pairs) and is_possible(wiring, kind, pairs[made, 0], pairs[made, 1], 0):
        before[made] = apply_edit(wiring, kind, pairs[made, 0], pairs[made, 1], 0, bond)
        made += 1
    if made < len(pairs):
        for k in range(made - 1, -1, -1):
            take_back(wiring, kind, pairs[k, 0], pairs[k, 1], before[k])
    return made


@compiled
def possible_edits(wiring: Any, edits: Any, connected: bool, queue: Any, met: Any, possible: Any) -> None:
    """Write to ``possible``, bool (m,), which rows of edits are possible in sequence.

    With ``connected``, the ends of a removed edge must stay connected. ``queue`` and ``met``, one entry per
    node, are workspace; ``met`` is False between calls.
    """
    before = np.zeros(2, dtype=np.int64)
    for row in range(len(edits)):
        made = 0
        while made < 2 and edits[row, made, 0] != NOTHING:
            kind, a, b, label = (
                edits[row, made, 0],
                edits[row, made, 1],
                edits[row, made, 2],
                edits[row, made, 3],
            )
            if not is_possible(wiring, kind, a, b, label):
                break
            before[made] = apply_edit(wiring, kind, a, b, label, edits[row, made, 4])
            made += 1
        ok = made == 2 or (made == 1 and edits[row, 1, 0] == NOTHING)
        for k in range(made):
            if ok and connected and edits[row, k, 0] == REMOVE_EDGE:
                ok = is_joined(wiring, edits[row, k, 1], edits[row, k, 2], queue, met)
        for k in range(made - 1, -1, -1):
            take_back(wiring, edits[row, k, 0], edits[row, k, 1], edits[row, k, 2], before[k])
        possible[row] = ok
