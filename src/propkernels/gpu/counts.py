"""Counts on the device: codes to the rows of a sparse matrix, sorted by column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.gpu.packets import CAPACITY, DeviceGraphs
from propkernels.gpu.runtime import BLOCKS, THREADS

NO_COLUMN = np.uint32(0xFFFFFFFF)
NO_BIN = np.iinfo(np.int64).min


class DeviceRows(NamedTuple):
    """A sparse matrix on the device in CSR form, one row per graph."""

    indptr: Any
    columns: Any
    values: Any
    n_columns: int


class Columns(NamedTuple):
    """What column each code goes to: hashed from the code and the stream's word, or listed.

    Attributes
    ----------
    n_columns : int
    words : device array of uint64, (streams,), or None
        What iteration and number of the stream were mixed to (``counting.columns``).
    listed : device array of uint32, (streams, N), or None
        Columns themselves; ``NO_COLUMN``: none.
    """

    n_columns: int
    words: Any = None
    listed: Any = None


def count_columns(graphs: DeviceGraphs, codes: Any, columns: Columns, scale: float) -> DeviceRows:
    """Count the columns of each graph's codes; equal columns add up, and each count is multiplied by a scale."""
    runtime, xp = graphs.runtime, graphs.runtime.xp
    n_streams = len(codes if columns.listed is None else columns.listed)
    staged = xp.empty((2, graphs.n_nodes * n_streams), dtype=xp.uint32)
    row_lengths = xp.zeros(graphs.n_graphs, dtype=xp.int32)
    packet_lengths = xp.zeros(graphs.n_packets, dtype=xp.int64)
    shift = max(columns.n_columns - 1, 0).bit_length()
    what = (codes, columns.words, columns.listed)
    sizes = (np.int32(n_streams), np.int32(CAPACITY), np.int64(graphs.n_nodes))
    mapping = (np.uint64(columns.n_columns), np.int32(shift))
    outputs = (staged[0], staged[1], row_lengths, packet_lengths)
    shared = 8 * CAPACITY * n_streams + 4 * (2 * CAPACITY + 1 + THREADS) + 4 * CAPACITY
    arguments = (graphs.packets, graphs.graph_ptr, *what, *sizes, *mapping, *outputs)
    runtime.launch("count_columns", graphs.n_packets, arguments, shared=shared)
    if graphs.large_nodes is not None:
        _count_large(graphs, what, n_streams, columns.n_columns, *outputs)
    return _packed(graphs, n_streams, columns.n_columns, scale, *outputs)


def _count_large(
    graphs: DeviceGraphs,
    what: tuple[Any, ...],
    n_streams: int,
    n_columns: int,
    staged_columns: Any,
    staged_counts: Any,
    row_lengths: Any,
    packet_lengths: Any,
) -> None:
    """Count graphs larger than a packet by sorting their (graph, column) keys."""
    runtime, xp, large = graphs.runtime, graphs.runtime.xp, graphs.large_nodes
    assert large is not None
    keys = xp.empty(len(large.nodes) * n_streams, dtype=xp.uint64)
    sizes = (np.int32(n_streams), np.int64(graphs.n_nodes), np.uint64(n_columns))
    where = (large.nodes, large.owner, np.int64(len(large.nodes)))
    runtime.launch("large_keys", BLOCKS, (*where, *what, *sizes, keys))
    keys = xp.sort(keys)
    n_kept = int(xp.searchsorted(keys, xp.asarray([2**64 - 1], dtype=xp.uint64))[0])
    keys = keys[:n_kept]
    heads = xp.flatnonzero(xp.concatenate([xp.ones(min(n_kept, 1), dtype=bool), keys[1:] != keys[:-1]]))
    lengths = xp.diff(xp.concatenate([heads, xp.asarray([n_kept], dtype=heads.dtype)]))
    owner = (keys[heads] >> np.uint64(32)).astype(xp.int64)
    first = xp.searchsorted(owner, xp.arange(len(large.graphs)))
    place = graphs.graph_ptr[large.graphs][owner] * n_streams + xp.arange(len(heads)) - first[owner]
    staged_columns[place] = (keys[heads] & np.uint64(0xFFFFFFFF)).astype(xp.uint32)
    staged_counts[place] = lengths.astype(xp.uint32)
    per_graph = xp.bincount(owner, minlength=len(large.graphs))
    row_lengths[large.graphs] = per_graph.astype(xp.int32)
    packet_lengths[xp.searchsorted(graphs.packets, large.graphs.astype(xp.int32))] = per_graph


def _packed(
    graphs: DeviceGraphs,
    n_streams: int,
    n_columns: int,
    scale: float,
    staged_columns: Any,
    staged_counts: Any,
    row_lengths: Any,
    packet_lengths: Any,
) -> DeviceRows:
    """Move staged entries together."""
    runtime, xp = graphs.runtime, graphs.runtime.xp
    packet_ptr = xp.concatenate([xp.zeros(1, dtype=xp.int64), xp.cumsum(packet_lengths)])
    n_entries = int(packet_ptr[-1])
    columns, values = xp.empty(n_entries, dtype=xp.int32), xp.empty(n_entries)
    staged = (staged_columns, staged_counts, np.int32(n_streams), np.float64(scale))
    arguments = (graphs.packets, graphs.graph_ptr, packet_ptr, *staged, columns, values)
    runtime.launch("pack", graphs.n_packets, arguments)
    indptr = xp.concatenate([xp.zeros(1, dtype=xp.int64), xp.cumsum(row_lengths, dtype=xp.int64)])
    return DeviceRows(indptr, columns, values, n_columns)


def vocabulary(codes: Any, xp: Any) -> tuple[Any, list[Any]]:
    """Return the column of every code and the sorted codes of each stream; streams stand side by side.

    Bins are numbered by code, as ``counting.counts.rank_bins`` does.
    """
    listed = xp.empty(codes.shape, dtype=xp.uint32)
    bins, width = [], 0
    for stream, row in enumerate(codes):
        found, ranks = _ranks(row, xp)
        listed[stream] = xp.where(row == NO_BIN, xp.uint32(NO_COLUMN), (ranks + width).astype(xp.uint32))
        bins.append(found)
        width += len(found)
    return listed, bins


def _ranks(row: Any, xp: Any) -> tuple[Any, Any]:
    """Return the distinct codes of a stream in order, and the rank of each code; ``NO_BIN`` has none."""
    order = xp.argsort(row)
    ordered = row[order]
    n_skipped = int(xp.searchsorted(ordered, xp.asarray([NO_BIN], dtype=xp.int64), side="right")[0])
    is_new = xp.concatenate([xp.zeros(min(len(row), 1), dtype=bool), ordered[1:] != ordered[:-1]])
    if n_skipped < len(row):
        is_new[n_skipped] = False
    numbers = xp.cumsum(is_new, dtype=xp.int32)
    numbers -= numbers[n_skipped] if n_skipped < len(row) else 0
    ranks = xp.empty(len(row), dtype=xp.int32)
    ranks[order] = numbers
    heads = xp.flatnonzero(is_new[n_skipped:]) + n_skipped
    first = xp.arange(n_skipped, min(n_skipped + 1, len(row)))
    return ordered[xp.concatenate([first, heads])], ranks


def known_columns(codes: Any, known: list[Any], xp: Any) -> Any:
    """Return the column of every code among the known ones of its stream; ``NO_COLUMN`` where there is none."""
    listed = xp.empty(codes.shape, dtype=xp.uint32)
    width = 0
    for stream, row in enumerate(codes):
        bins = known[stream]
        place = xp.searchsorted(bins, row)
        is_known = xp.zeros(len(row), dtype=bool)
        if len(bins):
            is_known = bins[xp.minimum(place, len(bins) - 1)] == row
        listed[stream] = xp.where(is_known, (place + width).astype(xp.uint32), xp.uint32(NO_COLUMN))
        width += len(bins)
    return listed
