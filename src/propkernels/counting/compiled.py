"""Compiled loops of the counting station: codes to counts with one hash table look-up a node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(inline="always")
def _slot(code: Any, table_codes: Any, table_bins: Any) -> Any:
    """Slot where a code is, or belongs, in an open-addressing table whose size is a power of two."""
    mask = len(table_bins) - 1
    word = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((word ^ (word >> np.uint64(32))) & np.uint64(mask))
    while table_bins[slot] >= 0 and table_codes[slot] != code:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def count_stream(codes: Any, graph_ptr: Any, known: Any, no_bin: int) -> Any:
    """Count the codes of each graph.

    Bins are numbered: first those of ``known``, then new codes in order of appearance. Returns the CSR
    arrays (indptr, indices, counts) of the count matrix and the codes of the new bins. Within a row,
    bins stand in order of first appearance.
    """
    capacity = 256
    while capacity < 2 * len(known) + 256:
        capacity *= 2
    table_codes = np.empty(capacity, dtype=np.int64)
    table_bins = np.full(capacity, -1, dtype=np.int32)
    bin_codes = np.empty(capacity, dtype=np.int64)
    last_graph = np.full(capacity, -1, dtype=np.int32)
    place = np.empty(capacity, dtype=np.int32)
    n_bins = 0
    for code in known:
        slot = _slot(code, table_codes, table_bins)
        table_codes[slot] = code
        table_bins[slot] = n_bins
        bin_codes[n_bins] = code
        n_bins += 1
    n_graphs = len(graph_ptr) - 1
    indptr = np.zeros(n_graphs + 1, dtype=np.int64)
    indices = np.empty(len(codes), dtype=np.int32)
    counts = np.empty(len(codes), dtype=np.float64)
    filled = 0
    for graph in range(n_graphs):
        for node in range(graph_ptr[graph], graph_ptr[graph + 1]):
            code = codes[node]
            if code == no_bin:
                continue
            slot = _slot(code, table_codes, table_bins)
            b = table_bins[slot]
            if b < 0:
                if 2 * (n_bins + 1) > capacity:
                    capacity *= 4
                    table_codes = np.empty(capacity, dtype=np.int64)
                    table_bins = np.full(capacity, -1, dtype=np.int32)
                    for old in range(n_bins):
                        slot = _slot(bin_codes[old], table_codes, table_bins)
                        table_codes[slot] = bin_codes[old]
                        table_bins[slot] = old
                    bin_codes = np.concatenate(
                        (bin_codes, np.empty(capacity - len(bin_codes), dtype=np.int64))
                    )
                    last_graph = np.concatenate(
                        (last_graph, np.full(capacity - len(last_graph), -1, dtype=np.int32))
                    )
                    place = np.concatenate((place, np.empty(capacity - len(place), dtype=np.int32)))
                    slot = _slot(code, table_codes, table_bins)
                b = n_bins
                table_codes[slot] = code
                table_bins[slot] = b
                bin_codes[b] = code
                n_bins += 1
            if last_graph[b] == graph:
                counts[place[b]] += 1.0
            else:
                last_graph[b] = graph
                place[b] = filled
                indices[filled] = b
                counts[filled] = 1.0
                filled += 1
        indptr[graph + 1] = filled
    return indptr, indices[:filled].copy(), counts[:filled].copy(), bin_codes[len(known) : n_bins].copy()
