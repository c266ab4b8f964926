"""Kernel matrices on the device: popular bins by a dense product, other bins pair by pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.gpu.device_counts import DeviceRows
from propkernels.gpu.runtime import BLOCKS, FEW, THREADS, TILE, Runtime

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
