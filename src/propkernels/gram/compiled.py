"""Compiled loops of the gram station."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def add_products(
    indptr: Any,
    indices: Any,
    data: Any,
    bin_ptr: Any,
    bin_rows: Any,
    bin_data: Any,
    upper: bool,
    first: int,
    last: int,
    gram: Any,
) -> None:
    """Add X Y^T to rows first..last-1 of ``gram``; X by rows (CSR), Y by bins (CSC).

    One row of ``gram`` stays in the cache while the bins of that row are gone through. With ``upper``,
    Y is X and only entries on and above the diagonal are written.
    """
    for i in range(first, last):
        row = gram[i]
        for entry in range(indptr[i], indptr[i + 1]):
            value = data[entry]
            b = indices[entry]
            at, end = bin_ptr[b], bin_ptr[b + 1]
            if upper:
                while bin_rows[at] < i:
                    at += 1
            for other in range(at, end):
                row[bin_rows[other]] += value * bin_data[other]


@njit(cache=True, nogil=True)
def add_minima(
    indptr: Any,
    indices: Any,
    data: Any,
    bin_ptr: Any,
    bin_rows: Any,
    bin_data: Any,
    upper: bool,
    first: int,
    last: int,
    gram: Any,
) -> None:
    """As ``add_products``, but with the smaller of two counts instead of their product."""
    for i in range(first, last):
        row = gram[i]
        for entry in range(indptr[i], indptr[i + 1]):
            value = data[entry]
            b = indices[entry]
            at, end = bin_ptr[b], bin_ptr[b + 1]
            if upper:
                while bin_rows[at] < i:
                    at += 1
            for other in range(at, end):
                row[bin_rows[other]] += min(value, bin_data[other])


@njit(cache=True, nogil=True)
def mirror(gram: Any) -> None:
    """Copy the upper triangle to the lower one, tile by tile."""
    n, tile = gram.shape[0], 64
    for i0 in range(0, n, tile):
        for j0 in range(i0, n, tile):
            for i in range(i0, min(i0 + tile, n)):
                for j in range(max(j0, i + 1), min(j0 + tile, n)):
                    gram[j, i] = gram[i, j]
