"""Compiled counts of (label, number of edges, label) triplets, without a list of the pairs of nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_word
from propkernels.codes.paths_compiled import triplet_code


class Search(NamedTuple):
    """Workspace of breadth-first searches in graphs with at most n nodes; arrays of int64.

    Attributes
    ----------
    labels : (n,)
        Label of each node, numbered within the graph.
    present : (n,)
        Maps these numbers to labels of the database.
    local : (labels of the database,)
        The inverse of ``present``; -1: not in the graph.
    starts, members : (n + 1,), (n,)
        Nodes with label a are ``members[starts[a] : starts[a + 1]]``.
    queue : (n,)
        Nodes in the order in which a search reaches them.
    seen : (n,)
        Number of the last search that reached each node; never cleared.
    """

    labels: Any
    present: Any
    local: Any
    starts: Any
    members: Any
    queue: Any
    seen: Any

    @classmethod
    def room(cls, n: int, n_labels: int) -> Search:
        """Return a workspace for graphs with at most n nodes, in a database with ``n_labels`` labels."""
        labels, present, members, queue = np.empty((4, n), dtype=np.int64)
        local, seen = np.full(n_labels, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        return cls(labels, present, local, np.empty(n + 1, dtype=np.int64), members, queue, seen)


@compiled
def number_labels(ids: Any, first: int, n: int, search: Any) -> int:
    """Number the labels of n nodes from the first in order of appearance; return the number of labels."""
    # ``local`` has one entry per label of the database, so it is not cleared as a whole: the loop at the end
    # resets the entries that this graph has used to -1.
    n_present = 0
    for v in range(n):
        label = ids[first + v]
        if search.local[label] < 0:
            search.local[label] = n_present
            search.present[n_present] = label
            n_present += 1
        search.labels[v] = search.local[label]
    for k in range(n_present):
        search.local[search.present[k]] = -1
    return n_present


@compiled(cache=False)
def _group(n: int, n_labels: int, search: Any) -> None:
    """Sort the n nodes by label (counting sort): members[starts[a] : starts[a + 1]] have label a."""
    labels, starts, members = search.labels, search.starts, search.members
    starts[: n_labels + 1] = 0
    for v in range(n):
        starts[labels[v] + 1] += 1
    for a in range(n_labels):
        starts[a + 1] += starts[a]
    fill = starts[:n_labels].copy()
    for v in range(n):
        members[fill[labels[v]]] = v
        fill[labels[v]] += 1


@compiled(cache=False)
def _search_from(
    source: int,
    times: int,
    stamp: int,
    indptr: Any,
    indices: Any,
    first: int,
    n_labels: int,
    search: Any,
    table: Any,
    touched: Any,
    n_touched: int,
) -> int:
    """Count the labels at each distance from a source; return the number of nonzero cells of the table.

    Parameters
    ----------
    source, times, stamp : int
        Start node, how often its paths count, and the number of this search.
    indptr, indices : ndarray
        CSR structure of the adjacency.
    first, n_labels : int
        First node and number of labels of the graph.
    search : Search
    table : ndarray of int64
        Cell ``level * n_labels + label`` counts nodes with a label at a distance.
    touched : ndarray of int64
        List of the nonzero cells.
    n_touched : int
        Length of that list before.
    """
    # queue[head:level_end] are nodes at distance ``level``, queue[level_end:tail] those of the next level:
    #     path 0 - 1 - 2 - 3 from node 1: queue 1 | 0 2 | 3
    queue, seen = search.queue, search.seen
    queue[0] = source
    seen[source] = stamp
    head, tail, level = 0, 1, 0
    while head < tail:
        level_end = tail
        base = level * n_labels
        if level > 0:
            for k in range(head, level_end):
                cell = base + search.labels[queue[k]]
                if table[cell] == 0:
                    touched[n_touched] = cell
                    n_touched += 1
                table[cell] += times
        while head < level_end:
            u = queue[head] + first
            head += 1
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry] - first
                if seen[v] != stamp:
                    seen[v] = stamp
                    queue[tail] = v
                    tail += 1
        level += 1
    return n_touched


@compiled(cache=False)
def _write_triplets(
    begin: Any, n_labels: int, keys: Any, present: Any, table: Any, touched: Any, codes: Any, counts: Any
) -> None:
    """Write codes of (first label, length, last label) and counts of the touched cells; clear the cells.

    Parameters
    ----------
    begin : uint64
        Mixed key of the first label.
    n_labels : int
        Labels of the graph.
    keys, present : ndarray
        Key of each label of the database; label of each number.
    table, touched : ndarray of int64
        Counts, and the list of nonzero cells.
    codes, counts : ndarray of int64 and of float64
        Output.
    """
    # A cell is level * n_labels + label: the division gives the number of edges, the remainder the label.
    for k in range(len(touched)):
        cell = touched[k]
        length = np.float64(cell // n_labels).view(np.uint64)
        codes[k] = triplet_code(begin, length, keys[present[cell % n_labels]])
        counts[k] = table[cell]
        table[cell] = 0


@compiled
def count_triplets(
    indptr: Any,
    indices: Any,
    graph_ptr: Any,
    ids: Any,
    times: Any,
    keys: Any,
    part: int,
    n_parts: int,
    search: Any,
) -> Any:
    """Count label triplets of graphs whose edges have length 1.

    Parameters
    ----------
    indptr, indices : ndarray
        CSR structure of the adjacency.
    graph_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes.
    ids : ndarray of int, (N,)
        Label number of each node.
    times : ndarray of int64, (N,)
        How often the paths from each node count; a node with 0 is not searched from.
    keys : ndarray of uint64, (labels,)
        Key of each label number.
    part, n_parts : int
        Part of the start nodes of each graph, sorted by label: 0 and 1 for all. The counts of all parts add
        up to those of a graph; triplets of a label on the border of two parts are in the lists of both.
    search : Search

    Returns
    -------
    lengths, codes, counts : ndarray
        Number of codes of each graph; codes, as of ``paths_compiled.triplet_codes``, each once per graph;
        their counts.
    """
    # One table serves all nodes with the same label a: cell level * n_labels + b counts the paths with
    # ``level`` edges from label a to label b. Only touched cells are read and cleared.
    lengths = np.zeros(len(graph_ptr) - 1, dtype=np.int64)
    room = min(max(1024, 8 * (graph_ptr[-1] - graph_ptr[0])), 2**16)
    codes, counts = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.float64)
    table, touched = np.zeros(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    filled, stamp = 0, 0
    for graph in range(len(lengths)):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        n_labels = number_labels(ids, first, n, search)
        if n * n_labels > len(table):
            table = np.zeros(n * n_labels, dtype=np.int64)
            touched = np.empty(n * n_labels, dtype=np.int64)
        _group(n, n_labels, search)
        begin, end = part * n // n_parts, (part + 1) * n // n_parts
        for a in range(n_labels):
            n_touched = 0
            for k in range(max(search.starts[a], begin), min(search.starts[a + 1], end)):
                source = search.members[k]
                if times[first + source] == 0:
                    continue
                n_touched = _search_from(
                    source,
                    times[first + source],
                    stamp,
                    indptr,
                    indices,
                    first,
                    n_labels,
                    search,
                    table,
                    touched,
                    n_touched,
                )
                stamp += 1
            while filled + n_touched > len(codes):
                codes = np.concatenate((codes, np.empty_like(codes)))
                counts = np.concatenate((counts, np.empty_like(counts)))
            if n_touched == 0:
                continue
            word = mix_word(keys[search.present[a]])
            cells = touched[:n_touched]
            _write_triplets(
                word, n_labels, keys, search.present, table, cells, codes[filled:], counts[filled:]
            )
            filled += n_touched
            lengths[graph] += n_touched
    return lengths, codes[:filled].copy(), counts[:filled].copy()
