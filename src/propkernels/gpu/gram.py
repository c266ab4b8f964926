"""Kernel matrices on the device: popular bins by one dense product, the others pair by pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.gpu.counts import DeviceRows
from propkernels.gpu.runtime import BLOCKS, Runtime

POPULAR = 0.02  # share of graphs from which on a bin is cheaper in the dense product: an estimate
DENSE_BYTES = 2**33  # of the dense counts that are in memory at a time


def square_gram(rows: DeviceRows, runtime: Runtime) -> Any:
    """Return Phi Phi^T for counts that are whole numbers: exact, and so equal to the CPU's.

    Bins of one graph touch the diagonal only; popular ones go through a dense product in float64; the
    rest are added pair by pair.
    """
    xp, n = runtime.xp, len(rows.indptr) - 1
    graphs = row_numbers(rows, xp)
    popularity = xp.bincount(rows.columns, minlength=rows.n_columns)
    popular_from = max(int(POPULAR * n), 2)
    gram = _dense_product(rows, rows, popularity >= popular_from, runtime)
    shared_by = popularity[rows.columns]
    rare = xp.flatnonzero((shared_by > 1) & (shared_by < popular_from))
    bins = _by_column(rows.columns[rare], graphs[rare], rows.values[rare], xp)
    arguments = (bins.bin_ptr, np.int64(len(bins.bin_ptr) - 1), bins.graphs, bins.counts, np.int64(n), gram)
    runtime.launch("add_pairs", BLOCKS, arguments)
    alone = xp.where(shared_by == 1, rows.values**2, 0.0)
    gram.ravel()[:: n + 1] += xp.bincount(graphs, weights=alone, minlength=n)
    runtime.launch("mirror", BLOCKS, (gram, np.int64(n), np.int64(-(-n // 32))), shared=32 * 33 * 8)
    return gram


class Bins(NamedTuple):
    """Counts by bin: the entries of bin b are bin_ptr[b] .. bin_ptr[b + 1] - 1."""

    columns: Any
    bin_ptr: Any
    graphs: Any
    counts: Any


def row_numbers(rows: DeviceRows, xp: Any) -> Any:
    """Row of each entry."""
    entries = xp.arange(len(rows.columns), dtype=rows.indptr.dtype)
    return (xp.searchsorted(rows.indptr, entries, side="right") - 1).astype(xp.int32)


def _by_column(columns: Any, graphs: Any, counts: Any, xp: Any) -> Bins:
    """Sort entries by column and then by graph."""
    n_graphs = int(graphs.max()) + 1 if len(graphs) else 1
    order = xp.argsort(columns.astype(xp.int64) * n_graphs + graphs)
    columns = columns[order]
    heads = xp.flatnonzero(
        xp.concatenate([xp.ones(min(len(columns), 1), dtype=bool), columns[1:] != columns[:-1]])
    )
    bin_ptr = xp.concatenate([heads, xp.asarray([len(columns)], dtype=heads.dtype)]).astype(xp.int64)
    return Bins(columns[heads], bin_ptr, graphs[order], counts[order])


def _dense_product(left: DeviceRows, right: DeviceRows, is_popular: Any, runtime: Runtime) -> Any:
    """Product of the popular columns of two sides, some columns at a time."""
    xp, n_left, n_right = runtime.xp, len(left.indptr) - 1, len(right.indptr) - 1
    places = xp.cumsum(is_popular) - 1
    n_popular = int(is_popular.sum())
    gram = xp.zeros((n_left, n_right))
    at_once = max(DENSE_BYTES // (8 * max(n_left + n_right, 1)), 1)
    for first in range(0, n_popular, at_once):
        last = min(first + at_once, n_popular)
        parts = [_dense(side, is_popular, places, first, last, xp) for side in (left, right)]
        gram += parts[0] @ parts[1].T
    return gram


def _dense(rows: DeviceRows, is_popular: Any, places: Any, first: int, last: int, xp: Any) -> Any:
    """Counts of the popular columns first .. last - 1 as a dense matrix."""
    place = xp.where(is_popular, places, -1)[rows.columns]
    chosen = xp.flatnonzero((place >= first) & (place < last))
    dense = xp.zeros((len(rows.indptr) - 1, last - first))
    dense[row_numbers(rows, xp)[chosen], place[chosen] - first] = rows.values[chosen]
    return dense
