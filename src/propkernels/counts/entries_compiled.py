"""Compiled loops over entries: bins of new graphs, looked up in a vocabulary.

Entries of stream s in graph g are the slots ``starts[s, g]`` to ``starts[s, g] + sizes[s, g]`` of
``columns`` and ``counts``, in the order in which the graph's nodes meet their bins. Sums over entries go
stream by stream, so that a decision has the same bits in any batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.arrays import power_of_two
from propkernels._utils.jit import compiled
from propkernels._utils.mixing import slot_bits, slots_for
from propkernels.codes.codes import NO_BIN

N_LANES = 32  # sums side by side, for vector instructions


class BinTable(NamedTuple):
    """Open-addressing table from codes to columns of bins.

    Stream s owns the slots ``first[s]`` to ``first[s] + mask[s]``; an empty slot has the column -1. Columns
    are numbered through all streams: those of stream s begin at ``starts[s]``.
    """

    codes: Any
    columns: Any
    first: Any
    mask: Any
    starts: Any

    @classmethod
    def of(cls, codes: Any) -> BinTable:
        """Return the table of the codes of each stream."""
        lengths = np.array([len(some) for some in codes], dtype=np.int64)
        sizes = np.array([power_of_two(2 * n + 1) for n in lengths.tolist()], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        slots, columns = np.zeros(int(sizes.sum()), np.int64), np.full(int(sizes.sum()), -1, np.int32)
        table = cls(slots, columns, np.cumsum(sizes) - sizes, sizes - 1, starts)
        for stream, some in enumerate(codes):
            fill_table(table, stream, np.ascontiguousarray(some, dtype=np.int64))
        return table


@compiled
def fill_table(table: Any, stream: int, codes: Any) -> None:
    """Insert the codes of a stream into the table; code i has the column ``starts[stream] + i``."""
    first, mask = table.first[stream], np.uint64(table.mask[stream])
    for i in range(len(codes)):
        slot = slot_bits(codes[i]) & mask
        while table.columns[first + np.int64(slot)] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table.codes[first + np.int64(slot)] = codes[i]
        table.columns[first + np.int64(slot)] = table.starts[stream] + i


@compiled(cache=False)
def find_column(codes: Any, columns: Any, first: int, mask: Any, code: Any) -> Any:
    """Return the column of a code in a stream's part of a table; -1: not in it."""
    slot = slot_bits(code) & mask
    while columns[first + np.int64(slot)] >= 0:
        if codes[first + np.int64(slot)] == code:
            return columns[first + np.int64(slot)]
        slot = (slot + np.uint64(1)) & mask
    return -1


@compiled
def find_columns(table: Any, stream: int, codes: Any, found: Any) -> None:
    """Write the column of each code of a stream to ``found``, int32; -1: not in the table."""
    first, mask = table.first[stream], np.uint64(table.mask[stream])
    for i in range(len(codes)):
        found[i] = find_column(table.codes, table.columns, first, mask, codes[i])


@compiled
def enter_codes(
    codes: Any,
    first_stream: int,
    ptr: Any,
    table: Any,
    seen: Any,
    slots: Any,
    stamps: Any,
    sizes: Any,
    columns: Any,
    counts: Any,
    places: Any,
) -> None:
    """Count the codes of each graph and look up the columns of their bins.

    Parameters
    ----------
    codes : (rows, nodes) int64
        Row r is stream ``first_stream + r``.
    ptr : (graphs + 1,)
        Offsets of the graphs' nodes, which are also those of a stream's entries.
    table : BinTable
    seen, slots, stamps : (power of two,) each
        Workspace: a hash table of one graph's codes; stamps must be 0.
    sizes : (streams, graphs)
        Filled with the number of entries of each graph.
    columns, counts : (streams, nodes)
        Filled with the entries of each graph, from ``ptr[graph]`` on.
    places : (streams, nodes) int32
        Filled with the entry, in 0 .. nodes - 1, that each node is counted in; -1: none.
    """
    stamp = 0
    table_codes, table_columns = table.codes, table.columns
    for row in range(len(codes)):
        stream = first_stream + row
        first, mask = table.first[stream], np.uint64(table.mask[stream])
        for graph in range(len(ptr) - 1):
            stamp += 1
            filled = ptr[graph]
            size = slots_for(2 * (ptr[graph + 1] - ptr[graph]) + 1)
            wrap = np.uint64(size - 1)
            for node in range(ptr[graph], ptr[graph + 1]):
                code = codes[row, node]
                if code == NO_BIN:
                    places[stream, node] = -1
                    continue
                slot = slot_bits(code) & wrap
                while stamps[slot] == stamp and seen[slot] != code:
                    slot = (slot + np.uint64(1)) & wrap
                if stamps[slot] != stamp:
                    stamps[slot], seen[slot], slots[slot] = stamp, code, filled
                    columns[stream, filled] = find_column(table_codes, table_columns, first, mask, code)
                    counts[stream, filled] = 0.0
                    filled += 1
                counts[stream, slots[slot]] += 1.0
                places[stream, node] = slots[slot]
            sizes[stream, graph] = filled - ptr[graph]


@compiled
def square_lengths(starts: Any, sizes: Any, counts: Any, weights: Any, assigned: bool, squares: Any) -> None:
    """Write k(x, x) of each graph, over all of its bins: squared counts, or (``assigned``) counts."""
    for graph in range(len(squares)):
        total = 0.0
        for s in range(len(weights)):
            part = 0.0
            for e in range(starts[s, graph], starts[s, graph] + sizes[s, graph]):
                part += counts[e] if assigned else counts[e] * counts[e]
            total += weights[s] * part
        squares[graph] = total


@compiled
def mark_bins(starts: Any, sizes: Any, columns: Any, is_training: Any, seen: Any) -> None:
    """Set ``seen[column, fold]`` to 1 for each bin of a graph with ``is_training[graph, fold]`` 1."""
    for s in range(starts.shape[0]):
        for graph in range(starts.shape[1]):
            for e in range(starts[s, graph], starts[s, graph] + sizes[s, graph]):
                if columns[e] >= 0:
                    for k in range(seen.shape[1]):
                        seen[columns[e], k] |= is_training[graph, k]


@compiled
def share_unseen(starts: Any, sizes: Any, columns: Any, counts: Any, seen: Any, shares: Any) -> None:
    """Write the share of each graph's counts in bins that a fold has not seen to ``shares[graph, fold]``.

    A graph without entries has the share 1.
    """
    for graph in range(shares.shape[0]):
        total = 0.0
        shares[graph, :] = 0.0
        for s in range(starts.shape[0]):
            for e in range(starts[s, graph], starts[s, graph] + sizes[s, graph]):
                total += counts[e]
                for k in range(shares.shape[1]):
                    if columns[e] < 0 or seen[columns[e], k] == 0:
                        shares[graph, k] += counts[e]
        for k in range(shares.shape[1]):
            shares[graph, k] = shares[graph, k] / total if total > 0 else 1.0


@compiled(cache=False)
def entry_value(count: float, column: int, level_ptr: Any, weights: Any, d: int) -> Any:
    """Return the contribution of an entry to decision d: count * weight, or the weights of its levels."""
    if level_ptr is None:
        return count * weights[column, d]
    total = 0.0
    for level in range(level_ptr[column], min(level_ptr[column + 1], level_ptr[column] + np.int64(count))):
        total += weights[level, d]
    return total


@compiled
def decide_folded(
    starts: Any,
    sizes: Any,
    columns: Any,
    counts: Any,
    n_streams: int,
    level_ptr: Any,
    weights: Any,
    sums: Any,
) -> None:
    """Write the sums of the weights of each graph's entries to ``sums``, (graphs, decisions)."""
    for graph in range(len(sums)):
        for d in range(sums.shape[1]):
            total = 0.0
            for s in range(n_streams):
                part = 0.0
                for e in range(starts[s, graph], starts[s, graph] + sizes[s, graph]):
                    if columns[e] >= 0:
                        part += entry_value(counts[e], columns[e], level_ptr, weights, d)
                total += part
            sums[graph, d] = total


@compiled
def folded_values(
    starts: Any,
    sizes: Any,
    columns: Any,
    counts: Any,
    n_streams: int,
    level_ptr: Any,
    weights: Any,
    chosen: Any,
    values: Any,
) -> None:
    """Write the contribution of each entry to the chosen sum of its graph.

    ``weights`` is (columns or levels, sums), ``chosen`` the number of each graph's sum.
    """
    for s in range(n_streams):
        for graph in range(starts.shape[1]):
            for e in range(starts[s, graph], starts[s, graph] + sizes[s, graph]):
                values[e] = 0.0
                if columns[e] >= 0:
                    values[e] = entry_value(counts[e], columns[e], level_ptr, weights, chosen[graph])


class Kept(NamedTuple):
    """Counts of kept training graphs, column by column.

    Column c occurs in the kept graphs ``graphs[ptr[c] : ptr[c + 1]]``, with the counts ``numbers``. Popular
    columns (``row[c] >= 0``) also have a row ``rows[row[c]]`` with the counts in all kept graphs, zeros
    included: a loop over a row is faster. ``own[s, i]`` is the agreement of graph i with itself in stream s:
    the sum of products of counts or, with ``assigned``, of the smaller counts.
    """

    ptr: Any
    graphs: Any
    numbers: Any
    row: Any
    rows: Any
    own: Any
    assigned: bool


class Work(NamedTuple):
    """Workspace, one number per kept graph, and one per lane; ``shared`` is 0 between calls."""

    shared: Any
    touched: Any
    factors: Any
    lanes: Any

    @classmethod
    def make(cls, kept: Kept) -> Work:
        """Return a workspace; sums of smaller counts are 32-bit integers, for vector instructions."""
        n_kept = kept.own.shape[1]
        shared, touched = np.zeros(n_kept, kept.numbers.dtype), np.empty(n_kept, np.int32)
        return cls(shared, touched, np.zeros(n_kept), np.empty(N_LANES))


@compiled(cache=False)
def _agreement(count: Any, number: Any, assigned: bool) -> Any:
    """Return the smaller of two counts of a bin (``assigned``), or their product."""
    return min(count, number) if assigned else count * number


@compiled(cache=False)
def _add_row(count: Any, line: Any, assigned: bool, shared: Any) -> None:
    """Add the agreement of an entry with all kept graphs to ``shared``; ``line`` holds their counts."""
    if assigned:
        for i in range(len(shared)):
            shared[i] += min(count, np.int32(line[i]))
    else:
        for i in range(len(shared)):
            shared[i] += count * line[i]


@compiled(cache=False)
def _add_shared(
    columns: Any, counts: Any, start: int, stop: int, kept: Any, shared: Any, touched: Any
) -> Any:
    """Add the agreement of the entries of one stream with each kept graph to ``shared``.

    Return the number of kept graphs with a common bin, listed in ``touched``, or -1 if they are not listed.
    """
    ptr, graphs, numbers, row, rows = kept.ptr, kept.graphs, kept.numbers, kept.row, kept.rows
    assigned, n_postings = kept.assigned, 0
    for e in range(start, stop):
        if columns[e] >= 0:
            n_postings += ptr[columns[e] + 1] - ptr[columns[e]]
    if 2 * n_postings < len(shared):
        n_touched = 0
        for e in range(start, stop):
            c = columns[e]
            if c >= 0:
                count = shared.dtype.type(counts[e])
                for p in range(ptr[c], ptr[c + 1]):
                    i = graphs[p]
                    if shared[i] == 0:
                        touched[n_touched] = i
                        n_touched += 1
                    shared[i] += _agreement(count, numbers[p], assigned)
        return n_touched
    for e in range(start, stop):
        c = columns[e]
        if c < 0:
            continue
        count = shared.dtype.type(counts[e])
        if row[c] >= 0:
            _add_row(count, rows[row[c]], assigned, shared)
        else:
            for p in range(ptr[c], ptr[c + 1]):
                shared[graphs[p]] += _agreement(count, numbers[p], assigned)
    return -1


@compiled(cache=False)
def _add_ratios(weight: float, own: float, other: Any, shared: Any, kernel: Any) -> None:
    """Add ``weight * shared / (own + other - shared)`` to the kernel values of all kept graphs."""
    # without a bin in common the quotient is 0; the larger denominator only avoids 0 / 0
    for i in range(len(kernel)):
        both = np.float64(shared[i])
        kernel[i] += weight * (both / max(own + other[i] - both, 1.0))
    for i in range(len(kernel)):
        shared[i] = 0


@compiled(cache=False)
def _own_sum(counts: Any, start: int, stop: int, assigned: bool) -> Any:
    """Return the agreement of a graph with itself in one stream."""
    own = 0.0
    for e in range(start, stop):
        own += counts[e] if assigned else counts[e] * counts[e]
    return own


@compiled
def decide_ratios(
    starts: Any,
    sizes: Any,
    columns: Any,
    counts: Any,
    kept: Any,
    weights: Any,
    coefficients: Any,
    work: Any,
    sums: Any,
) -> None:
    """Write ``sum_i a_i sum_s w_s shared / (own + other - shared)`` of each graph to ``sums``.

    Parameters
    ----------
    starts, sizes, columns, counts
        Entries.
    kept : Kept
    weights : (streams,)
        The weights w_s.
    coefficients : (kept graphs, decisions)
        The coefficients a_i.
    work : Work
    sums : (graphs, decisions)
    """
    shared, touched, kernel = work.shared, work.touched, work.factors
    for graph in range(len(sums)):
        for i in range(len(kernel)):
            kernel[i] = 0.0
        for s in range(len(weights)):
            start, other, weight = starts[s, graph], kept.own[s], weights[s]
            stop = start + sizes[s, graph]
            own = _own_sum(counts, start, stop, kept.assigned)
            n_touched = _add_shared(columns, counts, start, stop, kept, shared, touched)
            if n_touched < 0:
                _add_ratios(weight, own, other, shared, kernel)
            for k in range(n_touched):
                i = touched[k]
                both = np.float64(shared[i])
                kernel[i] += weight * (both / (own + other[i] - both))
                shared[i] = 0
        for d in range(sums.shape[1]):
            total = 0.0
            for i in range(len(kernel)):
                total += coefficients[i, d] * kernel[i]
            sums[graph, d] = total


@compiled(cache=False)
def _factors(
    columns: Any,
    counts: Any,
    start: int,
    stop: int,
    kept: Any,
    s: int,
    coefficients: Any,
    every: bool,
    work: Any,
) -> None:
    """Write ``a_i / (own + other - shared)`` of one stream to the factors of ``work``.

    Without ``every``, only those of kept graphs with a common bin are written, if that is faster.
    """
    shared, touched, other, factors = work.shared, work.touched, kept.own[s], work.factors
    own = _own_sum(counts, start, stop, kept.assigned)
    n_touched = _add_shared(columns, counts, start, stop, kept, shared, touched)
    if n_touched >= 0 and not every:
        for k in range(n_touched):
            i = touched[k]
            factors[i] = coefficients[i] / (own + other[i] - np.float64(shared[i]))
            shared[i] = 0
    else:
        for i in range(len(factors)):
            factors[i] = coefficients[i] / max(own + other[i] - np.float64(shared[i]), 1.0)
        for i in range(len(factors)):
            shared[i] = 0


@compiled(cache=False)
def _weight_of(
    count: Any, first: int, last: int, graphs: Any, numbers: Any, assigned: bool, factors: Any
) -> Any:
    """Return the sum over kept graphs of factor times agreement with an entry; four sums hide latency."""
    a = b = c = d = 0.0
    p = first
    while p + 4 <= last:
        a += factors[graphs[p]] * _agreement(count, numbers[p], assigned)
        b += factors[graphs[p + 1]] * _agreement(count, numbers[p + 1], assigned)
        c += factors[graphs[p + 2]] * _agreement(count, numbers[p + 2], assigned)
        d += factors[graphs[p + 3]] * _agreement(count, numbers[p + 3], assigned)
        p += 4
    while p < last:
        a += factors[graphs[p]] * _agreement(count, numbers[p], assigned)
        p += 1
    return (a + b) + (c + d)


@compiled(cache=False)
def _weight_of_row(count: Any, line: Any, assigned: bool, factors: Any, lanes: Any) -> Any:
    """Return the same sum for a column whose counts in all kept graphs are ``line``.

    Sum j takes every 32nd kept graph from the j-th on, which the compiler turns into vector instructions.
    """
    whole = len(line) - len(line) % N_LANES
    for j in range(N_LANES):
        lanes[j] = 0.0
    if assigned:
        for first in range(0, whole, N_LANES):
            for j in range(N_LANES):
                lanes[j] += factors[first + j] * min(count, np.int32(line[first + j]))
    else:
        for first in range(0, whole, N_LANES):
            for j in range(N_LANES):
                lanes[j] += factors[first + j] * (count * line[first + j])
    for j in range(len(line) - whole):
        lanes[j] += factors[whole + j] * _agreement(count, line[whole + j], assigned)
    total = 0.0
    for j in range(N_LANES):
        total += lanes[j]
    return total


@compiled
def ratio_values(
    starts: Any,
    sizes: Any,
    columns: Any,
    counts: Any,
    kept: Any,
    weights: Any,
    coefficients: Any,
    chosen: Any,
    work: Any,
    values: Any,
) -> None:
    """Write the contribution of each entry to ``sum_i a_i sum_s w_s shared / (own + other - shared)``.

    The quotient is the sum of the agreements of entries, times a factor per pair of graph and kept graph.
    ``coefficients`` is (sums, kept graphs), and ``chosen`` the number of each graph's sum; other arguments
    are as in :func:`decide_ratios`.
    """
    factors, lanes, row, rows = work.factors, work.lanes, kept.row, kept.rows
    ptr, graphs, numbers, assigned = kept.ptr, kept.graphs, kept.numbers, kept.assigned
    for graph in range(starts.shape[1]):
        for s in range(len(weights)):
            start = starts[s, graph]
            stop = start + sizes[s, graph]
            _factors(columns, counts, start, stop, kept, s, coefficients[chosen[graph]], False, work)
            for e in range(start, stop):
                values[e], c = 0.0, columns[e]
                if c < 0:
                    continue
                count = numbers.dtype.type(counts[e])
                if row[c] >= 0:
                    total = _weight_of_row(count, rows[row[c]], assigned, factors, lanes)
                else:
                    total = _weight_of(count, ptr[c], ptr[c + 1], graphs, numbers, assigned, factors)
                values[e] = weights[s] * total


@compiled
def sum_factors(
    starts: Any,
    sizes: Any,
    columns: Any,
    counts: Any,
    kept: Any,
    weights: Any,
    coefficients: Any,
    work: Any,
    total: Any,
) -> None:
    """Add ``a_i w_s / (own + other - shared)`` of all graphs to ``total``, (streams, kept graphs)."""
    for graph in range(starts.shape[1]):
        for s in range(len(weights)):
            start = starts[s, graph]
            _factors(columns, counts, start, start + sizes[s, graph], kept, s, coefficients, True, work)
            for i in range(total.shape[1]):
                total[s, i] += weights[s] * work.factors[i]


@compiled
def share_out_pairs(ptr: Any, pair_ptr: Any, places: Any, counts: Any, values: Any, shares: Any) -> None:
    """Share the value of each entry equally among its ordered pairs of nodes, and a pair's among both nodes.

    Pair (u, v) of graph g has the number ``pair_ptr[g] + u * n + v``; ``shares`` is (nodes,).
    """
    for graph in range(len(ptr) - 1):
        first, n = ptr[graph], ptr[graph + 1] - ptr[graph]
        for u in range(n):
            for v in range(n):
                slot = places[pair_ptr[graph] + u * n + v]
                if slot >= 0:
                    half = 0.5 * values[slot] / counts[slot]
                    shares[first + u] += half
                    shares[first + v] += half


@compiled
def share_out(places: Any, width: int, iterations: Any, counts: Any, values: Any, contributions: Any) -> None:
    """Share the value of each entry equally among its nodes: add to ``contributions``, (nodes, iterations).

    ``places[s, i]`` is the entry of node i among the ``width`` slots of stream s; -1: none.
    """
    for s in range(len(places)):
        t = iterations[s]
        for i in range(places.shape[1]):
            if places[s, i] >= 0:
                slot = s * width + places[s, i]
                contributions[i, t] += values[slot] / counts[slot]
