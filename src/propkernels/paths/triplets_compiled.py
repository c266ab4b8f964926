"""Compiled counts of (label, number of edges, label), without ever listing the pairs of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from propkernels.hashing.refinement_compiled import mix_other, mix_word


@njit(nogil=True)
def _local_labels(ids: Any, first: int, n: int, local: Any, labels: Any, present: Any) -> int:
    """Number the labels of one graph: ``labels[v]`` for each node, ``present`` for each number."""
    found = 0
    for v in range(n):
        label = ids[first + v]
        if local[label] < 0:
            local[label] = found
            present[found] = label
            found += 1
        labels[v] = local[label]
    for k in range(found):
        local[present[k]] = -1
    return found


@njit(nogil=True)
def _group(labels: Any, n: int, n_labels: int, starts: Any, members: Any) -> None:
    """Counting sort: nodes with label a are members[starts[a]:starts[a + 1]]."""
    starts[: n_labels + 1] = 0
    for v in range(n):
        starts[labels[v] + 1] += 1
    for a in range(n_labels):
        starts[a + 1] += starts[a]
    fill = starts[:n_labels].copy()
    for v in range(n):
        members[fill[labels[v]]] = v
        fill[labels[v]] += 1


@njit(nogil=True)
def _search(
    indptr: Any,
    indices: Any,
    first: int,
    source: int,
    labels: Any,
    n_labels: int,
    seen: Any,
    stamp: int,
    queue: Any,
    table: Any,
    touched: Any,
    n_touched: int,
) -> int:
    """Breadth-first search that counts the labels of each level in ``table[level * n_labels + label]``."""
    queue[0] = source
    seen[source] = stamp
    head, tail, level = 0, 1, 0
    while head < tail:
        level_end = tail
        base = level * n_labels
        if level > 0:
            for k in range(head, level_end):
                cell = base + labels[queue[k]]
                if table[cell] == 0:
                    touched[n_touched] = cell
                    n_touched += 1
                table[cell] += 1
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


@njit(cache=True, nogil=True)
def count_triplets(indptr: Any, indices: Any, graph_ptr: Any, ids: Any, keys: Any) -> Any:
    """Count label triplets of graphs whose edges have length 1.

    ``ids`` number the label of each node and ``keys`` hold the key of each number. Returns the length of each
    graph's part, the codes (those of ``compiled.triplet_codes``), each once a graph, and their counts.
    """
    n_graphs = len(graph_ptr) - 1
    largest = 1
    for graph in range(n_graphs):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    local = np.full(len(keys), -1, dtype=np.int64)
    labels = np.empty(largest, dtype=np.int64)
    present = np.empty(largest, dtype=np.int64)
    starts = np.empty(largest + 1, dtype=np.int64)
    members = np.empty(largest, dtype=np.int64)
    queue = np.empty(largest, dtype=np.int64)
    seen = np.full(largest, -1, dtype=np.int64)
    table = np.zeros(largest, dtype=np.int64)
    touched = np.empty(largest, dtype=np.int64)
    lengths = np.zeros(n_graphs, dtype=np.int64)
    codes = np.empty(1024, dtype=np.int64)
    counts = np.empty(1024, dtype=np.float64)
    filled, stamp = 0, 0
    for graph in range(n_graphs):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        n_labels = _local_labels(ids, first, n, local, labels, present)
        if n * n_labels > len(table):
            table = np.zeros(n * n_labels, dtype=np.int64)
            touched = np.empty(n * n_labels, dtype=np.int64)
        _group(labels, n, n_labels, starts, members)
        for a in range(n_labels):
            n_touched = 0
            for k in range(starts[a], starts[a + 1]):
                n_touched = _search(
                    indptr,
                    indices,
                    first,
                    members[k],
                    labels,
                    n_labels,
                    seen,
                    stamp,
                    queue,
                    table,
                    touched,
                    n_touched,
                )
                stamp += 1
            while filled + n_touched > len(codes):
                codes = np.concatenate((codes, np.empty_like(codes)))
                counts = np.concatenate((counts, np.empty_like(counts)))
            begin = mix_word(keys[present[a]])
            for k in range(n_touched):
                cell = touched[k]
                length = np.float64(cell // n_labels).view(np.uint64)
                end = mix_other(keys[present[cell % n_labels]] ^ length)
                codes[filled] = np.int64(mix_word(begin + end))
                counts[filled] = table[cell]
                table[cell] = 0
                filled += 1
            lengths[graph] += n_touched
    return lengths, codes[:filled].copy(), counts[:filled].copy()
