"""Compiled loops of the gram station."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import FIRST_FACTOR, GOLDEN

# An entry of a bin: a graph and how often it has the bin, side by side, so that one cache line brings both.
ENTRY = np.dtype([("row", np.int32), ("count", np.int32)])
# The rows of the kernel matrix are cut into blocks that fit the cache, and all bins go past one block after
# the other. A visit says that a bin has entries in a block: where the bin begins, and where its entries of
# the block begin and end. With blocks of two rows (0 1 | 2 3) and a bin whose entries 10, 11, 12 belong to
# the graphs 0, 2, 3:
#     visit of block 0: begin 10, start 10, stop 11     adds k(0, 0)
#     visit of block 1: begin 10, start 11, stop 13     adds k(2, 0), k(2, 2), k(3, 0), k(3, 2), k(3, 3)
# Entries of a bin are sorted by row: those from ``begin`` up to an entry are on or below the diagonal.
VISIT, LONG_VISIT = (np.dtype([(name, kind) for name in ("begin", "start", "stop")]) for kind in ("i4", "i8"))


@compiled(cache=False)
def _add_up(values: Any) -> None:
    """Cumulative sums, in place."""
    for i in range(1, len(values)):
        values[i] += values[i - 1]


# Arrays come from outside: compiling np.zeros and the like takes long.
@compiled
def split_bins(
    indptr: Any,
    indices: Any,
    data: Any,
    popular_from: int,
    squares: Any,
    fill: Any,
    bin_ptr: Any,
    entries: Any,
) -> Any:
    """Bring counts from rows to bins; ``fill`` and ``bin_ptr`` come as zeros.

    Bins of one graph are added to ``squares`` (the diagonal) and forgotten. The others are written by
    bin, their entries by row: bin_ptr and entries; bins with at least ``popular_from`` graphs stand
    first. Returns the number of bins, and that of popular ones.
    """
    # ``fill[b]`` is first the number of graphs that have bin b; popular bins are numbered from 0 and the
    # others from n_popular on, both in the order of b.
    n_bins = len(fill)
    for entry in range(len(indices)):
        fill[indices[entry]] += 1
    n_popular, n_kept = 0, 0
    for b in range(n_bins):
        n_popular += fill[b] >= popular_from
        n_kept += fill[b] > 1
    popular, other = 0, n_popular
    for b in range(n_bins):
        if fill[b] >= popular_from:
            popular += 1
            bin_ptr[popular] = fill[b]
        elif fill[b] > 1:
            other += 1
            bin_ptr[other] = fill[b]
    _add_up(bin_ptr[: n_kept + 1])
    popular, other = 0, n_popular
    for b in range(n_bins):  # from here on: where the next entry of a bin goes, -1 for a bin of one graph
        if fill[b] >= popular_from:
            fill[b] = bin_ptr[popular]
            popular += 1
        elif fill[b] > 1:
            fill[b] = bin_ptr[other]
            other += 1
        else:
            fill[b] = -1
    for i in range(len(indptr) - 1):  # rows ascend, so the entries of each bin are sorted by row
        for entry in range(indptr[i], indptr[i + 1]):
            b = indices[entry]
            place = fill[b]
            if place < 0:
                squares[i] += data[entry] * data[entry]
            else:
                fill[b] = place + 1
                entries[place]["row"] = i
                entries[place]["count"] = np.int32(data[entry])
    return n_kept, n_popular


@compiled
def sign_bins(bin_ptr: Any, entries: Any, signatures: Any) -> None:
    """Write a signature of each bin's content: equal bins have equal ones."""
    # Entries of a bin are sorted by row, so equal contents come in the same order and an ordinary (ordered)
    # hash will do. Different bins may share a signature: merge_bins compares contents.
    for b in range(len(signatures)):
        word = np.uint64(0)
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            word = (word ^ np.uint64(entries[entry]["row"])) * GOLDEN
            word = (word ^ np.uint64(entries[entry]["count"])) * FIRST_FACTOR
            word ^= word >> np.uint64(29)
        signatures[b] = word


@compiled(cache=False)
def _same(bin_ptr: Any, entries: Any, first: int, start: int, stop: int) -> Any:
    """Tell whether a bin holds the same counts of the same graphs as the entries start .. stop - 1."""
    shift = start - bin_ptr[first]
    if bin_ptr[first + 1] + shift != stop:
        return False
    for entry in range(start, stop):
        ours, theirs = entries[entry - shift], entries[entry]
        if ours["row"] != theirs["row"] or ours["count"] != theirs["count"]:
            return False
    return True


@compiled
def merge_bins(bin_ptr: Any, entries: Any, multiplicity: Any, signatures: Any, table: Any) -> Any:
    """Keep the first of several bins with equal contents, in place; return how many bins are kept.

    The kept bins move to the front of all arrays, and ``multiplicity`` tells how many each stands for.
    ``table`` comes with -1 in each of its slots, whose number is a power of two.
    """
    capacity = len(table)
    # The bins 0 .. kept - 1 are final and lie at the front. Reading is never behind writing (kept <= b), so
    # what is overwritten was read before; bin_ptr[b] itself may be, hence ``stop`` of the last turn is kept.
    kept, stop = 0, 0
    for b in range(len(signatures)):
        start, stop = stop, bin_ptr[b + 1]
        slot = np.int64(signatures[b] & np.uint64(capacity - 1))
        while table[slot] >= 0:
            other = table[slot]
            if signatures[other] == signatures[b] and _same(bin_ptr, entries, other, start, stop):
                multiplicity[other] += multiplicity[b]
                break
            slot = (slot + 1) & (capacity - 1)
        else:
            table[slot] = kept
            signatures[kept], multiplicity[kept] = signatures[b], multiplicity[b]
            shift = start - bin_ptr[kept]
            for entry in range(start, stop):
                entries[entry - shift] = entries[entry]
            kept += 1
            bin_ptr[kept] = stop - shift
    return kept


@compiled
def fill_dense(bin_ptr: Any, entries: Any, dense: Any) -> None:
    """Write bins as the columns of a dense matrix."""
    for b in range(len(bin_ptr) - 1):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            dense[entries[entry]["row"], b] = entries[entry]["count"]


@compiled
def list_visits(bin_ptr: Any, entries: Any, block: int, numbers: Any, visits: Any) -> None:
    """List for each block of rows which bins have entries in it, in the order of the bins.

    A visit tells where a bin begins, and where its entries of the block begin and end. ``numbers`` holds
    where the next visit of each block goes; with no ``visits``, they are only counted.
    """
    for b in range(len(bin_ptr) - 1):
        last = -1
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            own = entries[entry]["row"] // block
            if own != last:
                if len(visits) > 0:
                    visits[numbers[own]]["begin"] = bin_ptr[b]
                    visits[numbers[own]]["start"] = entry
                numbers[own] += 1
                last = own
            if len(visits) > 0:
                visits[numbers[own] - 1]["stop"] = entry + 1


@compiled
def add_pairs(visits: Any, first: int, last: int, weights: Any, entries: Any, gram: Any) -> None:
    """Add the products of counts in the same bin to the rows of ``gram`` that some visits are of.

    The rows of a block stay in the cache while all bins with entries in it go past, one after the other. The
    entries of a bin are sorted by row, so those from its beginning to the row's own are the ones below the
    diagonal. ``weights`` are the bins' multiplicities by entry; empty: all 1.
    """
    for visit in range(first, last):
        for place in range(visits[visit]["start"], visits[visit]["stop"]):
            row = gram[entries[place]["row"]]
            count = float(entries[place]["count"])
            if len(weights) > 0:
                count *= weights[place]
            for entry in range(visits[visit]["begin"], place + 1):
                row[np.uint64(entries[entry]["row"])] += count * entries[entry]["count"]


@compiled
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
                    break  # rows of a bin ascend: all others are above the diagonal as well
                row[j] += min(value, bin_data[other]) if minimum else value * bin_data[other]


@compiled
def mirror(gram: Any, first: int, last: int) -> None:
    """Copy rows first..last-1 of the lower triangle to the upper one, tile by tile."""
    # A row is read along memory but written down a column, one cache line for each number. In a tile of
    # 64 x 64 the 64 lines that are written to stay in the first-level cache until they are full.
    tile = 64
    for i0 in range(first, last, tile):
        for j0 in range(0, i0 + tile, tile):
            for i in range(i0, min(i0 + tile, last)):
                for j in range(j0, min(j0 + tile, i)):
                    gram[j, i] = gram[i, j]


@compiled
def add_squares(indptr: Any, data: Any, squares: Any) -> None:
    """Add the sum of each row's squares to ``squares``."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            squares[row] += data[entry] * data[entry]
