"""Counts on the device: codes to a sparse matrix with rows sorted by column."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from propkernels.gpu.runtime import BLOCKS, CAPACITY, THREADS, DeviceGraphs, Runtime

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
