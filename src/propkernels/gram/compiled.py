"""Compiled loops of the gram station."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def split_bins(indptr: Any, indices: Any, data: Any, n_bins: int, popular_from: int, squares: Any) -> Any:
    """Bring counts from rows to bins, in one pass.

    Bins of one graph are added to ``squares`` (the diagonal) and forgotten. The others are returned by
    bin (CSC): bin_ptr, rows (ascending), counts, and a signature of each bin's content; bins
    with at least ``popular_from`` graphs stand first, and their number is returned last.
    """
    popularity = np.zeros(n_bins, dtype=np.int32)
    for entry in range(len(indices)):
        popularity[indices[entry]] += 1
    place = np.empty(n_bins, dtype=np.int32)
    kept, n_popular = 0, 0
    for b in range(n_bins):
        place[b] = -1
        if popularity[b] >= popular_from:
            place[b] = n_popular
            n_popular += 1
    kept = n_popular
    for b in range(n_bins):
        if 1 < popularity[b] < popular_from:
            place[b] = kept
            kept += 1
    bin_ptr = np.zeros(kept + 1, dtype=np.int64)
    for b in range(n_bins):
        if place[b] >= 0:
            bin_ptr[place[b] + 1] = popularity[b]
    for b in range(kept):
        bin_ptr[b + 1] += bin_ptr[b]
    fill = bin_ptr[:-1].copy()
    rows = np.empty(bin_ptr[kept], dtype=np.int32)
    counts = np.empty(bin_ptr[kept], dtype=np.float64)
    signatures = np.zeros(kept, dtype=np.uint64)
    for i in range(len(indptr) - 1):
        for entry in range(indptr[i], indptr[i + 1]):
            b = place[indices[entry]]
            if b < 0:
                squares[i] += data[entry] * data[entry]
            else:
                rows[fill[b]] = i
                counts[fill[b]] = data[entry]
                fill[b] += 1
                word = (signatures[b] ^ np.uint64(i)) * np.uint64(0x9E3779B97F4A7C15)
                word = (word ^ np.uint64(data[entry])) * np.uint64(0xBF58476D1CE4E5B9)
                signatures[b] = word ^ (word >> np.uint64(29))
    return bin_ptr, rows, counts, signatures, n_popular


@njit(inline="always")
def _same(bin_ptr: Any, rows: Any, counts: Any, first: int, start: int, stop: int) -> Any:
    """Tell whether a bin holds the same counts of the same graphs as the entries start .. stop - 1."""
    shift = start - bin_ptr[first]
    if bin_ptr[first + 1] + shift != stop:
        return False
    for entry in range(start, stop):
        if rows[entry - shift] != rows[entry] or counts[entry - shift] != counts[entry]:
            return False
    return True


@njit(cache=True, nogil=True)
def merge_bins(bin_ptr: Any, rows: Any, counts: Any, signatures: Any, multiplicity: Any) -> Any:
    """Keep the first of several bins with equal contents, in place; return how many bins are kept.

    The kept bins move to the front of all arrays, and ``multiplicity`` tells how many each stands for.
    """
    capacity = 1
    while capacity < 2 * len(signatures):
        capacity *= 2
    table = np.full(capacity, -1, dtype=np.int32)
    kept, stop = 0, 0
    for b in range(len(signatures)):
        start, stop = stop, bin_ptr[b + 1]
        slot = np.int64(signatures[b] & np.uint64(capacity - 1))
        while table[slot] >= 0:
            other = table[slot]
            if signatures[other] == signatures[b] and _same(bin_ptr, rows, counts, other, start, stop):
                multiplicity[other] += multiplicity[b]
                break
            slot = (slot + 1) & (capacity - 1)
        else:
            table[slot] = kept
            signatures[kept], multiplicity[kept] = signatures[b], multiplicity[b]
            shift = start - bin_ptr[kept]
            for entry in range(start, stop):
                rows[entry - shift], counts[entry - shift] = rows[entry], counts[entry]
            kept += 1
            bin_ptr[kept] = stop - shift
    return kept


@njit(cache=True, nogil=True)
def fill_dense(bin_ptr: Any, rows: Any, counts: Any, dense: Any) -> None:
    """Write bins as the columns of a dense matrix."""
    for b in range(len(bin_ptr) - 1):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            dense[rows[entry], b] = counts[entry]


@njit(cache=True, nogil=True)
def add_products(
    indptr: Any,
    indices: Any,
    data: Any,
    bin_ptr: Any,
    bin_rows: Any,
    bin_data: Any,
    lower: bool,
    minimum: bool,
    first: int,
    last: int,
    gram: Any,
) -> None:
    """Add X Y^T to rows first..last-1 of ``gram``; X by rows (CSR), Y by bins (CSC, rows ascending).

    One row of ``gram`` stays in the cache while the bins of that row are gone through. With ``lower``,
    Y is X and only entries on and below the diagonal are written. With ``minimum``, the smaller of
    two counts is added instead of their product.
    """
    for i in range(first, last):
        row = gram[i]
        for entry in range(indptr[i], indptr[i + 1]):
            value = data[entry]
            b = indices[entry]
            for other in range(bin_ptr[b], bin_ptr[b + 1]):
                j = bin_rows[other]
                if lower and j > i:
                    break
                row[j] += min(value, bin_data[other]) if minimum else value * bin_data[other]


@njit(cache=True, nogil=True)
def mirror(gram: Any, first: int, last: int) -> None:
    """Copy rows first..last-1 of the lower triangle to the upper one, tile by tile."""
    tile = 64
    for i0 in range(first, last, tile):
        for j0 in range(0, i0 + tile, tile):
            for i in range(i0, min(i0 + tile, last)):
                for j in range(j0, min(j0 + tile, i)):
                    gram[j, i] = gram[i, j]


@njit(cache=True, nogil=True)
def add_squares(indptr: Any, data: Any, squares: Any) -> None:
    """Add the sum of each row's squares to ``squares``."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            squares[row] += data[entry] * data[entry]
