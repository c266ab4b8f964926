"""Compiled edits of a graph in place, each of which can be taken back.

An edit is a row of five integers, (kind, a, b, label, bond), with these kinds:

    RELABEL      node a gets the label
    ADD_EDGE     between a and b, with the edge label ``bond``
    REMOVE_EDGE  between a and b
    ADD_LEAF     a new node b with the label, on a
    REMOVE_LEAF  node a, whose only neighbor is b

Edits come one or two at a time, (m, 2, 5); a second one may be NOTHING.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled

NOTHING, RELABEL, ADD_EDGE, REMOVE_EDGE, ADD_LEAF, REMOVE_LEAF = -1, 0, 1, 2, 3, 4


class Wiring(NamedTuple):
    """The graph while it is edited, with room for two more nodes.

    Node i has the neighbors ``neighbors[i, : degree[i]]``, ascending as in a row of the adjacency, over edges
    whose labels have the numbers ``bonds[i, : degree[i]]``. Nodes keep their numbers while others are removed
    (``alive`` tells), which leaves neighbors in the order that they have in the edited graph.
    """

    neighbors: Any
    bonds: Any
    degree: Any
    labels: Any
    alive: Any


@compiled(cache=False)
def _link(wiring: Any, i: int, j: int, bond: int) -> None:
    """Put j into the row of i, behind all smaller neighbors."""
    k = wiring.degree[i]
    while k > 0 and wiring.neighbors[i, k - 1] > j:
        wiring.neighbors[i, k] = wiring.neighbors[i, k - 1]
        wiring.bonds[i, k] = wiring.bonds[i, k - 1]
        k -= 1
    wiring.neighbors[i, k] = j
    wiring.bonds[i, k] = bond
    wiring.degree[i] += 1


@compiled(cache=False)
def _place(wiring: Any, i: int, j: int) -> Any:
    """Where j stands in the row of i; -1: nowhere."""
    for k in range(wiring.degree[i]):
        if wiring.neighbors[i, k] == j:
            return k
    return -1


@compiled(cache=False)
def _unlink(wiring: Any, i: int, j: int) -> Any:
    """Take j out of the row of i; return the number of the edge's label."""
    k = _place(wiring, i, j)
    bond = wiring.bonds[i, k]
    wiring.degree[i] -= 1
    while k < wiring.degree[i]:
        wiring.neighbors[i, k] = wiring.neighbors[i, k + 1]
        wiring.bonds[i, k] = wiring.bonds[i, k + 1]
        k += 1
    return bond


@compiled(cache=False)
def is_possible(wiring: Any, kind: int, a: int, b: int, label: int) -> Any:
    """Whether an edit can be made in the graph as it is now."""
    if kind == ADD_LEAF:
        return wiring.alive[a]
    if kind == RELABEL:
        return wiring.alive[a] and wiring.labels[a] != label
    if not (wiring.alive[a] and wiring.alive[b]):
        return False
    if kind == ADD_EDGE:
        return a != b and _place(wiring, a, b) < 0
    if kind == REMOVE_LEAF:
        return wiring.degree[a] == 1 and wiring.neighbors[a, 0] == b
    return _place(wiring, a, b) >= 0


@compiled(cache=False)
def apply_edit(wiring: Any, kind: int, a: int, b: int, label: int, bond: int) -> Any:
    """Make an edit; return what takes it back: the label before, or that of the removed edge."""
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
    """Undo an edit, the last that was made."""
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
    """Make the edits of a row; ``before``, (2,), is filled with what takes them back."""
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
    """Undo the edits of a row, the last one first."""
    for k in range(1, -1, -1):
        if edits[row, k, 0] != NOTHING:
            take_back(wiring, edits[row, k, 0], edits[row, k, 1], edits[row, k, 2], before[k])


@compiled(cache=False)
def is_joined(wiring: Any, a: int, b: int, queue: Any, met: Any) -> Any:
    """Whether a path leads from a to b, or one of them is gone; ``met`` comes, and is left, as False."""
    if not (wiring.alive[a] and wiring.alive[b]):
        return True
    queue[0] = a
    met[a] = True
    count, k = 1, 0
    while k < count and not met[b]:
        i = queue[k]
        for e in range(wiring.degree[i]):
            j = wiring.neighbors[i, e]
            if not met[j]:
                met[j] = True
                queue[count] = j
                count += 1
        k += 1
    found = met[b]
    for k in range(count):
        met[queue[k]] = False
    return found


@compiled
def possible_edits(wiring: Any, edits: Any, connected: bool, queue: Any, met: Any, possible: Any) -> None:
    """Tell which rows of edits can be made, one after the other.

    With ``connected``, only those that leave the ends of a removed edge connected. ``queue`` and ``met``, one
    place per node, are room to work in; ``met`` comes, and is left, as False. ``possible`` is (m,).
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
