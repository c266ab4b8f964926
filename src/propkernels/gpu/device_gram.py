"""Kernel matrices on the device: popular bins by a dense product, other bins pair by pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.gpu.device_counts import DeviceRows
from propkernels.gpu.runtime import BLOCKS, Runtime

POPULAR = 0.04  # share of graphs above which a bin is faster in the dense product (best on three data sets)
DENSE_BYTES = 2**33  # dense counts in memory at a time


def square_gram(rows: DeviceRows, runtime: Runtime) -> Any:
    """Return Phi Phi^T for integer counts: exact, and so equal to the result of the CPU.

    Bins of one graph touch the diagonal only; popular ones go through a dense product in float64; the
    rest are added pair by pair.
    """
    xp, n = runtime.xp, len(rows.indptr) - 1
    if rows.n_columns == 0:
        return xp.zeros((n, n))
    kinds = _kinds_of_columns(rows, max(int(POPULAR * n), 2), runtime)
    gram = _dense_product(rows, kinds, runtime)
    graphs, counts = xp.empty(kinds.n_rare, dtype=xp.int32), xp.empty(kinds.n_rare)
    taken = xp.zeros(rows.n_columns, dtype=xp.int32)
    arguments = (*_entries(rows), *kinds.shared_by, kinds.rare_up_to, taken, graphs, counts, gram)
    runtime.launch("place_rare", BLOCKS, arguments)
    arguments = (kinds.rare_up_to, np.int64(rows.n_columns), graphs, counts, np.int64(n), gram)
    runtime.launch("add_pairs", BLOCKS, arguments)
    runtime.launch("mirror", BLOCKS, (gram, np.int64(n), np.int64(-(-n // 32))), shared=32 * 33 * 8)
    return gram


class ColumnKinds(NamedTuple):
    """Columns by the number of graphs that have them.

    Attributes
    ----------
    shared_by : (device array of int32, (columns,), np.int32)
        Number of graphs with each column, and the smallest such number of a popular column.
    popular_up_to, rare_up_to : device arrays of int64, (columns,)
        Cumulative number of popular columns, and of entries of rare columns.
    n_popular, n_rare : int
        Number of popular columns, and of entries of rare columns.
    """

    shared_by: tuple[Any, np.int32]
    popular_up_to: Any
    rare_up_to: Any
    n_popular: int
    n_rare: int


def row_numbers(rows: DeviceRows, xp: Any) -> Any:
    """Return the row of each entry."""
    entries = xp.arange(len(rows.columns), dtype=rows.indptr.dtype)
    return (xp.searchsorted(rows.indptr, entries, side="right") - 1).astype(xp.int32)


def _entries(rows: DeviceRows) -> tuple[Any, ...]:
    """Return a CSR matrix as arguments of a CUDA kernel."""
    return rows.indptr, np.int64(len(rows.indptr) - 1), rows.columns, rows.values


def _kinds_of_columns(rows: DeviceRows, popular_from: int, runtime: Runtime) -> ColumnKinds:
    """Return the split of columns into popular and rare ones."""
    xp, n_columns = runtime.xp, np.int64(rows.n_columns)
    shared_by = (xp.zeros(rows.n_columns, dtype=xp.int32), np.int32(popular_from))
    runtime.launch("count_entries", BLOCKS, (rows.columns, np.int64(len(rows.columns)), shared_by[0]))
    kinds = xp.empty((2, rows.n_columns), dtype=xp.int64)
    runtime.launch("kinds_of_columns", BLOCKS, (shared_by[0], n_columns, shared_by[1], kinds))
    popular, rare = xp.cumsum(kinds[0]), xp.cumsum(kinds[1])
    return ColumnKinds(shared_by, popular, rare, int(popular[-1]), int(rare[-1]))


def _dense_product(rows: DeviceRows, kinds: ColumnKinds, runtime: Runtime) -> Any:
    """Return the product of the popular columns with themselves, computed in batches of columns."""
    xp, n, n_popular = runtime.xp, len(rows.indptr) - 1, kinds.n_popular
    at_once = max(DENSE_BYTES // (8 * max(n, 1)), 1)
    gram = None
    for first in range(0, n_popular, at_once):
        last = min(first + at_once, n_popular)
        dense = xp.zeros((n, last - first))
        where = (kinds.popular_up_to, np.int64(first), np.int64(last))
        runtime.launch("spread_popular", BLOCKS, (*_entries(rows), *kinds.shared_by, *where, dense))
        product = dense @ dense.T
        gram = product if gram is None else gram + product
    return xp.zeros((n, n)) if gram is None else gram
