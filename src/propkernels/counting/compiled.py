"""Compiled loops of the counting station: codes to counts, with hash tables that stay in the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

CODES_IN_CACHE = 2**13  # codes of one partition, whose table then fits the second-level cache
MOST_PARTITIONS = 256
FIRST_BIT = np.uint64(40)  # of the mixed code: partitions and slots are told by different bits

# A slot of the table is taken if its stamp is the current one: no table is ever cleared.
SLOT = np.dtype([("code", np.int64), ("bin", np.int32), ("stamp", np.int32)])


@njit(nogil=True)
def _mixed(code: Any) -> Any:
    word = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    return word ^ (word >> np.uint64(32))


@njit(nogil=True)
def _slot(code: Any, table: Any, size: int, stamp: int) -> Any:
    """Slot where a code is, or belongs, in an open-addressing table whose size is a power of two."""
    mask = np.uint64(size - 1)
    slot = _mixed(code) & mask
    while table[slot].stamp == stamp and table[slot].code != code:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(nogil=True)
def _part(code: Any, n_parts: int) -> Any:
    return (_mixed(code) >> FIRST_BIT) & np.uint64(n_parts - 1)


@njit(nogil=True)
def _power_of_two(least: int) -> Any:
    power = 1
    while power < least:
        power *= 2
    return power


@njit(nogil=True)
def _partition(codes: Any, no_bin: int, ends: Any, parted: Any, nodes: Any) -> None:
    """Bring codes that share bits of their mixed code together: part p ends before ``ends[p]``."""
    n_parts = len(ends)
    ends[:] = 0
    for node in range(len(codes)):
        if codes[node] != no_bin:
            ends[_part(codes[node], n_parts)] += 1
    total = 0
    for part in range(n_parts):
        size = ends[part]
        ends[part] = total
        total += size
    for node in range(len(codes)):
        if codes[node] != no_bin:
            part = _part(codes[node], n_parts)
            parted[ends[part]] = codes[node]
            nodes[ends[part]] = node
            ends[part] += 1


@njit(nogil=True)
def _bin_of(code: Any, table: Any, size: int, stamp: int, n_bins: int) -> Any:
    """Bin of a code; the next one, ``n_bins``, if it is met for the first time."""
    slot = _slot(code, table, size, stamp)
    if table[slot].stamp != stamp:
        table[slot].code, table[slot].stamp, table[slot].bin = code, stamp, n_bins
    return table[slot].bin


@njit(nogil=True)
def _number_part(
    parted: Any, nodes: Any, start: int, stop: int, table: Any, stamp: int, n_bins: int, bins: Any, ids: Any
) -> Any:
    """Give the codes of one part their bins, in order of appearance; return how many bins there are."""
    size = _power_of_two(2 * (stop - start))
    for k in range(start, stop):
        b = _bin_of(parted[k], table, size, stamp, n_bins)
        ids[nodes[k]] = b
        if b == n_bins:
            bins[n_bins] = parted[k]
            n_bins += 1
    return n_bins


@njit(nogil=True)
def _number_all(codes: Any, no_bin: int, table: Any, stamp: int, bins: Any, ids: Any) -> Any:
    """Give codes so few that no parts are needed their bins; return how many bins there are."""
    n_bins, size = 0, _power_of_two(2 * len(codes))
    for node in range(len(codes)):
        if codes[node] != no_bin:
            b = _bin_of(codes[node], table, size, stamp, n_bins)
            ids[node] = b
            if b == n_bins:
                bins[n_bins] = codes[node]
                n_bins += 1
    return n_bins


@njit(nogil=True)
def _count(ids: Any, graph_ptr: Any, place: Any, indptr: Any, indices: Any, counts: Any) -> Any:
    """Count the bins of each graph, as the rows of a CSR matrix; ``place`` is scratch, all -1."""
    filled = 0
    for graph in range(len(graph_ptr) - 1):
        row_start = filled
        for node in range(graph_ptr[graph], graph_ptr[graph + 1]):
            if ids[node] < 0:
                continue
            b = np.uint64(ids[node])
            if place[b] >= row_start:  # this graph has met the bin before
                counts[place[b]] += 1.0
            else:
                place[b] = filled
                indices[filled] = ids[node]
                counts[filled] = 1.0
                filled += 1
        indptr[graph + 1] = filled
    return filled


# Slices are never assigned to slices in these loops, and arrays come from outside: compiling that takes long.
@njit(cache=True, nogil=True)
def count_rows(
    codes: Any,
    rows: Any,
    graph_ptr: Any,
    no_bin: int,
    ends: Any,
    parted: Any,
    nodes: Any,
    ids: Any,
    place: Any,
    bins: Any,
    table: Any,
    indptr: Any,
    indices: Any,
    counts: Any,
    bin_codes: Any,
    entry_ends: Any,
    bin_ends: Any,
) -> None:
    """Count the codes of each graph, for some rows of ``codes``.

    Many codes are parted by their hash first, so that numbering a part stays in the cache; then each graph
    counts its bins. Writes, for all rows in turn, the CSR arrays (indptr by rows, indices, counts) and
    the bins' codes, and where each row's entries and bins end; the arrays before them are room to work in.
    Bins are numbered part by part, in order of appearance; within a row of the count matrix they stand in
    order of appearance.
    """
    stamp = 0
    for r in range(len(rows)):
        ids[:] = -1
        n_bins = 0
        if len(ends) == 1:
            stamp += 1
            n_bins = _number_all(codes[rows[r]], no_bin, table, stamp, bins, ids)
        else:
            _partition(codes[rows[r]], no_bin, ends, parted, nodes)
            start = 0
            for part in range(len(ends)):
                stamp += 1
                n_bins = _number_part(parted, nodes, start, ends[part], table, stamp, n_bins, bins, ids)
                start = ends[part]
        place[:n_bins] = -1
        first, first_bin = entry_ends[r], bin_ends[r]
        filled = _count(ids, graph_ptr, place, indptr[r], indices[first:], counts[first:])
        entry_ends[r + 1], bin_ends[r + 1] = first + filled, first_bin + n_bins
        for b in range(n_bins):
            bin_codes[first_bin + b] = bins[b]


@njit(cache=True, nogil=True)
def find_known(codes: Any, known: Any) -> Any:
    """Tell for each code, all different, at which place of ``known`` it stands; -1: nowhere."""
    size = _power_of_two(2 * len(codes) + 1)
    table = np.zeros(size, dtype=SLOT)
    for i in range(len(codes)):
        slot = _slot(codes[i], table, size, 1)
        table[slot].code, table[slot].stamp, table[slot].bin = codes[i], 1, i
    found = np.full(len(codes), -1, dtype=np.int32)
    for place in range(len(known)):
        slot = _slot(known[place], table, size, 1)
        if table[slot].stamp == 1:
            found[table[slot].bin] = place
    return found


@njit(nogil=True)
def _sort_row(indices: Any, counts: Any, start: int, stop: int) -> None:
    """Sort the entries start .. stop - 1 by column, in place."""
    if stop - start > 64:
        order = np.argsort(indices[start:stop])
        columns, values = indices[start:stop][order], counts[start:stop][order]
        for k in range(len(order)):
            indices[start + k], counts[start + k] = columns[k], values[k]
        return
    for entry in range(start + 1, stop):
        column, count, k = indices[entry], counts[entry], entry
        while k > start and indices[k - 1] > column:
            indices[k], counts[k] = indices[k - 1], counts[k - 1]
            k -= 1
        indices[k], counts[k] = column, count


@njit(cache=True, nogil=True)
def sort_rows(indptr: Any, indices: Any, counts: Any) -> None:
    """Sort the entries of each row by column, in place."""
    for row in range(len(indptr) - 1):
        _sort_row(indices, counts, indptr[row], indptr[row + 1])


@njit(cache=True, nogil=True)
def count_kept(indptr: Any, indices: Any, n_columns: int, lengths: Any) -> None:
    """Add to ``lengths`` how many entries of each row are in the first ``n_columns`` columns."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            lengths[row] += indices[entry] < n_columns


@njit(cache=True, nogil=True)
def place_stream(
    indptr: Any,
    indices: Any,
    counts: Any,
    n_columns: int,
    offset: int,
    factor: float,
    first: int,
    last: int,
    fill: Any,
    all_indices: Any,
    all_counts: Any,
) -> None:
    """Write the first ``n_columns`` columns of rows first..last-1, sorted, where ``fill`` says."""
    for row in range(first, last):
        start = fill[row]
        stop = start
        for entry in range(indptr[row], indptr[row + 1]):
            if indices[entry] < n_columns:
                all_indices[stop] = offset + indices[entry]
                all_counts[stop] = factor * counts[entry]
                stop += 1
        _sort_row(all_indices, all_counts, start, stop)
        fill[row] = stop
