"""Compiled loops over the shortest paths of one graph: all pairs of nodes are recounted after an edit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_word
from propkernels.codes.paths_compiled import crossed_word, longer_path, triplet_code
from propkernels.tracking.bins_compiled import (
    NUMBER,
    SETTLED,
    STAMP,
    add_delta,
    find_slot,
    list_changes,
)
from propkernels.tracking.wiring_compiled import apply_edits, take_back_edits


class Paths(NamedTuple):
    """Keys for the codes of shortest paths, and workspace of the search.

    ``start[row]`` is the key of a label or, with ``by_degree``, of a degree. ``edge_words[bond]`` are the
    words of edges; without ``labeled``, only lengths count. ``distance`` and ``words`` are those from one
    node to all others, ``queue`` lists nodes in the order in which they are reached, and ``before``, (2,),
    holds the labels needed to undo edits.
    """

    start: Any
    by_degree: bool
    edge_words: Any
    labeled: bool
    distance: Any
    words: Any
    queue: Any
    before: Any


@compiled
def edge_words(keys: Any, words: Any) -> None:
    """Write the words of edges of length 1 with the labels of these keys."""
    for k in range(len(keys)):
        words[k] = crossed_word(keys[k], 1.0)


@compiled(cache=False)
def _search_from(wiring: Any, paths: Any, source: int) -> Any:
    """Breadth-first search; return the number of nodes in ``queue``, whose words are complete."""
    neighbors, bonds, rows, degree = wiring.neighbors, wiring.bonds, wiring.first, wiring.degree
    distance, words, queue, edge_words = paths.distance, paths.words, paths.queue, paths.edge_words
    for v in range(len(distance)):
        distance[v] = -1
    distance[source] = 0
    words[source] = np.uint64(1)
    queue[0] = source
    head, tail = 0, 1
    # A node is visited after all nearer nodes, so its word is complete.
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(rows[u], rows[u] + degree[u]):
            v = neighbors[e]
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                words[v] = np.uint64(0)
                queue[tail] = v
                tail += 1
            if paths.labeled and distance[v] == distance[u] + 1:
                words[v] += longer_path(words[u], edge_words[bonds[e]])
    return tail


@compiled(cache=False)
def _add_pairs(wiring: Any, paths: Any, bins: Any, stamp: int, table: Any, n_touched: int) -> Any:
    """Add all ordered pairs of nodes joined by a path to the deltas; return the number of listed slots."""
    cells, delta, touched = bins.cells, bins.delta, bins.touched
    labels, degree, start = wiring.labels, wiring.degree, paths.start
    for source in range(len(wiring.alive)):
        if not wiring.alive[source]:
            continue
        begin = mix_word(start[degree[source] if paths.by_degree else labels[source]])
        for k in range(1, _search_from(wiring, paths, source)):
            v = paths.queue[k]
            word = paths.words[v] if paths.labeled else np.float64(paths.distance[v]).view(np.uint64)
            if word != 0:
                code = triplet_code(begin, word, start[degree[v] if paths.by_degree else labels[v]])
                n_touched = add_delta(delta, touched, n_touched, find_slot(cells, 0, code, stamp, table), 1)
    return n_touched


@compiled
def settle_pairs(wiring: Any, paths: Any, bins: Any, table: Any) -> None:
    """Count all pairs of the unedited graph."""
    cells, delta = bins.cells, bins.delta
    _add_pairs(wiring, paths, bins, SETTLED, table, 0)
    for slot in range(len(delta)):
        cells[0, slot, NUMBER] = delta[slot]
        delta[slot] = 0


@compiled
def follow_pairs(wiring: Any, paths: Any, bins: Any, table: Any, edits: Any, changes: Any) -> None:
    """List the changes of counts by each row of ``edits``, (m, 2, 5), all of which must be possible."""
    cells, delta, touched, ptr = bins.cells, bins.delta, bins.touched, changes.ptr
    settled = np.empty(cells.shape[1], dtype=np.int64)
    n_settled = 0
    for slot in range(cells.shape[1]):
        if cells[0, slot, STAMP] == SETTLED:
            settled[n_settled] = slot
            n_settled += 1
    for row in range(len(edits)):
        bins.stamp[0] += 1
        apply_edits(wiring, edits, row, paths.before)
        n_touched = 0
        for k in range(n_settled):
            n_touched = add_delta(delta, touched, n_touched, settled[k], -cells[0, settled[k], NUMBER])
        n_touched = _add_pairs(wiring, paths, bins, bins.stamp[0], table, n_touched)
        ptr[row + 1] = list_changes(cells, 0, delta, touched, n_touched, changes.rows, ptr[row])
        take_back_edits(wiring, edits, row, paths.before)
