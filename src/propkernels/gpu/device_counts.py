"""Counts on the device: codes to a sparse matrix with rows sorted by column."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from propkernels.gpu.runtime import BLOCKS, CAPACITY, FEW, THREADS, TILE, DeviceGraphs, Runtime

NO_COLUMN = np.uint32(0xFFFFFFFF)
NO_KEY = np.uint64(2**64 - 1)  # empty slot of a table of graphs and columns
EMPTY = np.uint64(2**63)  # empty slot of a hash table: the bits of NO_BIN
CODES_AT_ONCE = 2**22  # number of codes up to which all streams share the launches of a vocabulary
SHARED_BYTES = 96 * 1024  # shared memory of a block, so that two blocks fit a multiprocessor
WORTH_KEEPING = 0.5  # used share of an array below which the used part is copied


class Tally(NamedTuple):
    """Counts of graphs larger than a packet on the device, as slots of a hash table.

    Attributes
    ----------
    keys : device array of uint64, (slots,)
        Graph in the upper and column in the lower half; ``NO_KEY``: empty.
    counts : device array of int32, (slots,)
    """

    keys: Any
    counts: Any


class DeviceRows(NamedTuple):
    """A sparse matrix on the device in CSR form, one row per graph; ``large``: entries of other graphs."""

    indptr: Any
    columns: Any
    values: Any
    n_columns: int
    large: Tally | None = None


class Columns(NamedTuple):
    """Column of each code: hashed from the code and the stream's word, or listed.

    Attributes
    ----------
    n_columns : int
    words : device array of uint64, (streams,), or None
        Mixed iteration and number of each stream (``counting.columns``).
    listed : device array of uint32, (streams, N), or None
        Column of each code; ``NO_COLUMN``: none.
    """

    n_columns: int
    words: Any = None
    listed: Any = None


def count_columns(graphs: DeviceGraphs, codes: Any, columns: Columns, scale: float) -> DeviceRows:
    """Return the counts of columns per graph, multiplied by a scale; equal columns are summed."""
    n_streams = len(codes if columns.listed is None else columns.listed)
    what = (codes, columns.words, columns.listed)
    large = None if graphs.large_nodes is None else _sort_large(graphs, what, n_streams, columns.n_columns)
    lengths = None if large is None else large.lengths
    indptr, out_columns, out_values = _count_small(graphs, what, n_streams, columns.n_columns, scale, lengths)
    n_entries = int(indptr[-1])
    if large is not None:
        place = indptr[large.graphs] + large.places
        out_columns[place] = large.columns
        out_values[place] = large.counts * scale
    kept = (out_columns[:n_entries], out_values[:n_entries])
    if n_entries < len(out_columns) * WORTH_KEEPING:  # a view would keep the unused part in memory
        kept = (kept[0].copy(), kept[1].copy())
    return DeviceRows(indptr, *kept, columns.n_columns)


def _count_small(
    graphs: DeviceGraphs, what: tuple[Any, ...], n_streams: int, n_columns: int, scale: float, lengths: Any
) -> tuple[Any, Any, Any]:
    """Return offsets, columns and values of rows; those of graphs larger than a packet are left out.

    Of such graphs, ``lengths`` are the numbers of entries that rows leave room for; None: no room.
    """
    runtime, xp, most = graphs.runtime, graphs.runtime.xp, graphs.n_nodes * n_streams
    out_columns, out_values = xp.empty(most, dtype=xp.int32), xp.empty(most)
    indptr, states = (
        xp.empty(graphs.n_graphs + 1, dtype=xp.int64),
        xp.zeros(graphs.n_packets, dtype=xp.uint64),
    )
    sizes = (np.int32(n_streams), np.int32(graphs.capacity), np.int64(graphs.n_nodes))
    mapping = (np.uint64(n_columns), np.int32((n_columns - 1).bit_length()), np.float64(scale))
    outputs = (lengths, states, out_columns, out_values, indptr)
    arguments = (graphs.packets, graphs.graph_ptr, *what, *sizes, *mapping, *outputs)
    shared = graphs.capacity * (10 * n_streams + 12) + 4 * THREADS + 32  # bytes; see the kernel's pointers
    runtime.launch("count_columns", graphs.n_packets, arguments, shared=shared)
    return indptr, out_columns, out_values


def count_slots(graphs: DeviceGraphs, codes: Any) -> DeviceRows:
    """Return counts whose columns are the slots of codes in a hash table; streams are side by side.

    They have the products of the counts of :func:`vocabulary`, without sorting and without waiting for the
    device. The order of columns differs from run to run.
    """
    runtime, xp, (n_streams, n) = graphs.runtime, graphs.runtime.xp, codes.shape
    size = _slots_for(n)
    slots = _insert(codes, size, runtime)[0]
    n_columns, what = n_streams * size, (None, None, slots)
    rows = _count_small(graphs, what, n_streams, n_columns, 1.0, None)
    if (large := graphs.large_nodes) is None:
        return DeviceRows(*rows, n_columns)
    n_keys = _slots_for(len(large.nodes) * n_streams)
    tally = Tally(xp.full(n_keys, NO_KEY, dtype=xp.uint64), xp.zeros(n_keys, dtype=xp.int32))
    sizes = (np.int32(n_streams), np.int64(n), np.uint64(n_keys - 1))
    where = (large.nodes, large.graph_of, np.int64(len(large.nodes)))
    runtime.launch("tally_large", BLOCKS, (*where, slots, *sizes, *tally))
    return DeviceRows(*rows, n_columns, tally)


def can_count_slots(n_streams: int, n: int) -> bool:
    """Return whether the slots of all streams are numbered by 31 bits, as :func:`count_slots` requires."""
    return 0 < n_streams * _slots_for(n) < 2**31


def _slots_for(n: int) -> int:
    """Return a power of two, at least twice the number of codes."""
    return 1 << max(2 * n - 1, 1).bit_length()


def _insert(codes: Any, size: int, runtime: Runtime) -> tuple[Any, Any]:
    """Return the slot of each code in a hash table with ``size`` slots per stream, and the table."""
    xp, (n_streams, n) = runtime.xp, codes.shape
    table = xp.full(n_streams * size, EMPTY, dtype=xp.uint64)
    slots = xp.empty((n_streams, n), dtype=xp.uint32)
    shape = (np.int64(n_streams), np.int64(n), np.uint64(size - 1))
    runtime.launch("insert_codes", BLOCKS, (codes, *shape, table, slots))
    return slots, table


def capacity_for(n_streams: int) -> int:
    """Return the number of nodes of a packet whose counts fit the shared memory of a block, at least 1."""
    return max(min(CAPACITY, (SHARED_BYTES - 4 * THREADS - 32) // (10 * n_streams + 12)), 1)


class LargeEntries(NamedTuple):
    """Counts of graphs larger than a packet.

    Attributes
    ----------
    lengths : device array of int64, (graphs,)
        Number of entries of each graph; 0 for small graphs.
    graphs, places, columns, counts : device arrays
        Graph, position in the graph's row, column and count of each entry.
    """

    lengths: Any
    graphs: Any
    places: Any
    columns: Any
    counts: Any


def _sort_large(graphs: DeviceGraphs, what: tuple[Any, ...], n_streams: int, n_columns: int) -> LargeEntries:
    """Return the counts of graphs larger than a packet, by sorting their (graph, column) keys."""
    runtime, xp, large = graphs.runtime, graphs.runtime.xp, graphs.large_nodes
    assert large is not None
    keys = xp.empty(len(large.nodes) * n_streams, dtype=xp.uint64)
    sizes = (np.int32(n_streams), np.int64(graphs.n_nodes), np.uint64(n_columns))
    where = (large.nodes, large.graph_of, np.int64(len(large.nodes)))
    runtime.launch("large_keys", BLOCKS, (*where, *what, *sizes, keys))
    keys = xp.sort(keys)
    n_kept = int(xp.searchsorted(keys, xp.asarray([NO_KEY], dtype=xp.uint64))[0])
    keys = keys[:n_kept]
    heads = xp.flatnonzero(xp.concatenate([xp.ones(min(n_kept, 1), dtype=bool), keys[1:] != keys[:-1]]))
    counts = xp.diff(xp.concatenate([heads, xp.asarray([n_kept], dtype=heads.dtype)]))
    owner = (keys[heads] >> np.uint64(32)).astype(xp.int64)
    lengths = xp.bincount(owner, minlength=graphs.n_graphs).astype(xp.int64)
    first = xp.cumsum(lengths) - lengths
    columns = (keys[heads] & np.uint64(0xFFFFFFFF)).astype(xp.int32)
    places = xp.arange(len(heads)) - first[owner]
    return LargeEntries(lengths, owner, places, columns, counts.astype(xp.float64))


def vocabulary(codes: Any, runtime: Runtime) -> tuple[Any, list[Any]]:
    """Return the column of every code and the sorted codes of each stream; streams are side by side.

    Bins are numbered by code, as in ``counting.counters.rank_bins``. Codes are inserted into a hash table of
    at least twice their number; only distinct codes are sorted. Few codes are numbered at once, many stream
    by stream.
    """
    xp = runtime.xp
    listed, bins, width = xp.empty(codes.shape, dtype=xp.uint32), [], 0
    at_once = max(CODES_AT_ONCE // max(codes.shape[1], 1), 1)
    for first in range(0, len(codes), at_once):
        part = codes[first : first + at_once]
        found, streams = _number_codes(part, width, listed[first : first + at_once], runtime)
        ends = xp.searchsorted(streams, xp.arange(len(part) + 1)).tolist()
        bins += [found[a:b] for a, b in pairwise(ends)]
        width += len(found)
    return listed, bins


def _number_codes(codes: Any, width: int, listed: Any, runtime: Runtime) -> tuple[Any, Any]:
    """Write the columns of streams, from ``width`` on; return their sorted codes and the codes' streams."""
    xp, (n_streams, n) = runtime.xp, codes.shape
    size = _slots_for(n)
    slots, table = _insert(codes, size, runtime)
    used = xp.flatnonzero(table != EMPTY)
    found, streams = table[used].view(xp.int64), (used // size).astype(xp.int32)
    if n_streams > 1:
        order = xp.argsort(found)  # two stable radix sorts are faster than one comparison sort
        order = order[xp.argsort(streams[order], kind="stable")]
        found, streams = found[order], streams[order]
    else:
        found = xp.sort(found)
    ranks = xp.empty(n_streams * size, dtype=xp.uint32)
    place = (np.int64(len(found)), np.uint64(size - 1), table, np.uint32(width), ranks)
    runtime.launch("rank_codes", BLOCKS, (found, streams, *place))
    runtime.launch("take_ranks", BLOCKS, (slots, np.int64(slots.size), ranks, listed))
    return found, streams


POPULAR = 0.04  # share of graphs above which a bin is faster in the dense product (best on three data sets)
DENSE_BYTES = 2**33  # dense counts in memory at a time


def square_gram(rows: DeviceRows, runtime: Runtime) -> Any:
    """Return Phi Phi^T for integer counts: exact, and so equal to the result of the CPU.

    Bins of one graph touch the diagonal only; popular ones go through a dense product in float64; the
    rest are added pair by pair.
    """
    xp, n = runtime.xp, len(rows.indptr) - 1
    gram = xp.zeros((n, n))
    if rows.n_columns == 0:
        return gram
    kinds = _kinds_of_columns(rows, max(int(POPULAR * n), 2), runtime)
    n_popular = kinds.n_popular(runtime)
    graphs, counts = xp.empty(kinds.n_entries, dtype=xp.int32), xp.empty(kinds.n_entries)
    _add_products(rows, kinds, n_popular, gram, runtime)
    runtime.launch(
        "place_rare", BLOCKS, (*_entries(rows), *kinds.shared_by, kinds.places, graphs, counts, gram)
    )
    listed = (kinds.totals, kinds.few, kinds.many, kinds.shared_by[0], kinds.places)
    runtime.launch("add_pairs", BLOCKS, (*listed, graphs, counts, np.int64(n), gram))
    runtime.launch("mirror", BLOCKS, (gram, np.int64(n), np.int64(-(-n // 32))), shared=32 * 33 * 8)
    return gram


def self_products(rows: DeviceRows, weights: Any, runtime: Runtime) -> Any:
    """Return the weighted sum over streams of <phi, phi> of each graph, rounded as on the CPU.

    The columns of :func:`propkernels.gpu.device_counts.count_slots` tell their streams.
    """
    xp, n, n_streams = runtime.xp, len(rows.indptr) - 1, len(weights)
    shift = (rows.n_columns // n_streams).bit_length() - 1
    squares, diagonal = xp.zeros((n_streams, n)), xp.empty(n)
    runtime.launch("add_squares", BLOCKS, (*_entries(rows), np.int32(shift), squares))
    sizes = (np.int32(n_streams), np.int64(n))
    runtime.launch("weigh_squares", BLOCKS, (squares, runtime.to_device(weights), *sizes, diagonal))
    return diagonal


class ColumnKinds(NamedTuple):
    """Columns by the number of graphs that have them.

    Attributes
    ----------
    shared_by : (device array of int32, (columns,), np.int32)
        Number of graphs with each column, and the smallest such number of a popular column.
    totals : device array of int32, (4,)
        Number of popular columns, of entries of rare ones, of rare columns with few entries, and with more.
    places : device array of int32, (columns,)
        Position of each popular column, and of the first entry of each rare one.
    few, many : device arrays of int32
        Rare columns with few entries, and with more; ``totals`` says how many.
    """

    shared_by: tuple[Any, np.int32]
    totals: Any
    places: Any
    few: Any
    many: Any

    @property
    def n_entries(self) -> int:
        """Upper bound of the number of entries of rare columns."""
        return 2 * len(self.few)

    def n_popular(self, runtime: Runtime) -> int:
        """Return the number of popular columns: this waits for the device."""
        return int(runtime.to_host(self.totals)[0])


def row_numbers(rows: DeviceRows, xp: Any) -> Any:
    """Return the row of each entry."""
    entries = xp.arange(len(rows.columns), dtype=rows.indptr.dtype)
    return (xp.searchsorted(rows.indptr, entries, side="right") - 1).astype(xp.int32)


def _entries(rows: DeviceRows) -> tuple[Any, ...]:
    """Return counts as arguments of a CUDA kernel."""
    keys, tally, n_slots = (None, None, 0) if rows.large is None else (*rows.large, len(rows.large.keys))
    here = (rows.indptr, np.int64(len(rows.indptr) - 1), rows.columns, rows.values)
    return (*here, keys, tally, np.int64(n_slots))


def _kinds_of_columns(rows: DeviceRows, popular_from: int, runtime: Runtime) -> ColumnKinds:
    """Return the split of columns into popular and rare ones."""
    xp, most = runtime.xp, len(rows.columns) + (0 if rows.large is None else len(rows.large.keys))
    shared_by = (xp.zeros(rows.n_columns, dtype=xp.int32), np.int32(popular_from))
    runtime.launch("count_entries", BLOCKS, (*_entries(rows), shared_by[0]))
    totals, places = xp.zeros(4, dtype=xp.int32), xp.empty(rows.n_columns, dtype=xp.int32)
    few, many = xp.empty(most // 2 + 1, dtype=xp.int32), xp.empty(most // FEW + 1, dtype=xp.int32)
    arguments = (shared_by[0], np.int64(rows.n_columns), shared_by[1], totals, places, few, many)
    runtime.launch(
        "place_columns", -(-rows.n_columns // TILE), arguments, shared=4 * (2 * TILE + 4 + THREADS)
    )
    return ColumnKinds(shared_by, totals, places, few, many)


def _add_products(rows: DeviceRows, kinds: ColumnKinds, n_popular: int, gram: Any, runtime: Runtime) -> None:
    """Add the product of the popular columns with themselves below the diagonal, in batches of columns."""
    n = len(gram)
    at_once = max(DENSE_BYTES // (8 * max(n, 1)), 1)
    for first in range(0, n_popular, at_once):
        last = min(first + at_once, n_popular)
        dense = runtime.xp.zeros((n, last - first))
        where = (kinds.places, np.int64(first), np.int64(last))
        runtime.launch("spread_popular", BLOCKS, (*_entries(rows), *kinds.shared_by, *where, dense))
        runtime.add_square(dense, gram)
