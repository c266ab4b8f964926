"""Compiled loops of the counting station: codes to counts with one hash table look-up a node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# A slot of the table holds (code, bin, place): 16 bytes of which one look-up touches one cache line.
SLOT = np.dtype([("code", np.int64), ("bin", np.int32), ("place", np.int32)])


@njit(inline="always")
def _slot(code: Any, table: Any) -> Any:
    """Slot where a code is, or belongs, in an open-addressing table whose size is a power of two."""
    mask = len(table) - 1
    word = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((word ^ (word >> np.uint64(32))) & np.uint64(mask))
    while table[slot].bin >= 0 and table[slot].code != code:
        slot = (slot + 1) & mask
    return slot


@njit(inline="always")
def _empty_table(capacity: int) -> Any:
    table = np.empty(capacity, dtype=SLOT)
    for slot in range(capacity):
        table[slot].bin = -1
    return table


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
    table = _empty_table(capacity)
    n_bins = 0
    for code in known:
        slot = _slot(code, table)
        table[slot].code, table[slot].bin, table[slot].place = code, n_bins, -1
        n_bins += 1
    new_codes = np.empty(len(codes), dtype=np.int64)
    n_graphs = len(graph_ptr) - 1
    indptr = np.zeros(n_graphs + 1, dtype=np.int32)
    indices = np.empty(len(codes), dtype=np.int32)
    counts = np.empty(len(codes), dtype=np.float64)
    filled = 0
    for graph in range(n_graphs):
        row_start = filled
        for node in range(graph_ptr[graph], graph_ptr[graph + 1]):
            code = codes[node]
            if code == no_bin:
                continue
            slot = _slot(code, table)
            if table[slot].bin < 0:
                if 2 * n_bins >= capacity:
                    old, capacity = table, 4 * capacity
                    table = _empty_table(capacity)
                    for entry in range(len(old)):
                        if old[entry].bin >= 0:
                            moved = _slot(old[entry].code, table)
                            table[moved].code = old[entry].code
                            table[moved].bin = old[entry].bin
                            table[moved].place = old[entry].place
                    slot = _slot(code, table)
                table[slot].code, table[slot].bin, table[slot].place = code, n_bins, -1
                new_codes[n_bins - len(known)] = code
                n_bins += 1
            place = table[slot].place
            if place >= row_start:  # this graph has met the bin before
                counts[place] += 1.0
            else:
                table[slot].place = filled
                indices[filled] = table[slot].bin
                counts[filled] = 1.0
                filled += 1
        indptr[graph + 1] = filled
    return indptr, indices[:filled].copy(), counts[:filled].copy(), new_codes[: n_bins - len(known)].copy()
