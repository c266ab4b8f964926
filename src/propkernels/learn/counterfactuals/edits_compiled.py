"""Compiled edits of a graph in place, each of which can be taken back."""

from __future__ import annotations

from typing import Any, NamedTuple

from propkernels.utils.jit import compiled

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
