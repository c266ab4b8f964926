"""Compiled loops of products of counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled, count_numbers
from propkernels._utils.mixing import FIRST_FACTOR, GOLDEN

# An entry of a bin: a graph and its count, adjacent in memory, so that one cache line holds both.
ENTRY = np.dtype([("row", np.int32), ("count", np.int32)])
# The rows of the kernel matrix are cut into blocks that fit the cache; each block processes all bins. A visit
# is a bin with entries in a block: the first entry of the bin, and the first entry and end of its entries in
# the block. With blocks of two rows (0 1 | 2 3) and a bin whose entries 10, 11, 12 belong to the graphs
# 0, 2, 3:
#     visit of block 0: begin 10, start 10, stop 11     adds k(0, 0)
#     visit of block 1: begin 10, start 11, stop 13     adds k(2, 0), k(2, 2), k(3, 0), k(3, 2), k(3, 3)
# Entries of a bin are sorted by row: those from ``begin`` up to an entry are on or below the diagonal.
VISIT, LONG_VISIT = (np.dtype([(name, kind) for name in ("begin", "start", "stop")]) for kind in ("i4", "i8"))


@compiled(cache=False)
def _add_up(values: Any) -> None:
    """Replace values by their cumulative sums."""
    for i in range(1, len(values)):
        values[i] += values[i - 1]


# Arrays are allocated by the caller, since compiling np.zeros takes long.
@compiled(passes=count_numbers)
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
    """Sort counts by bin, popular bins first; return the number of bins, and of popular bins.

    Bins of one graph are added to the diagonal and dropped.

    Parameters
    ----------
    indptr, indices, data : ndarray
        CSR arrays of the counts, (graphs, bins).
    popular_from : int
        Number of graphs from which a bin is popular.
    squares : ndarray of float64, (graphs,)
        Diagonal; squared counts of bins of one graph are added.
    fill : ndarray of int32, (bins,)
        Workspace of zeros.
    bin_ptr : ndarray of int64, (bins + 1,)
        Output, zeros before: offsets of the entries of each bin.
    entries : ndarray of ENTRY, (nnz,)
        Output: entries by bin, then by row.
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
    for b in range(n_bins):  # from here, fill[b] is the place of the bin's next entry; -1: bin of one graph
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


@compiled(passes=count_numbers)
def sign_bins(bin_ptr: Any, entries: Any, first: int, last: int, signatures: Any) -> None:
    """Write a 64-bit signature of the bins first .. last - 1: equal contents have equal signatures.

    Parameters
    ----------
    bin_ptr : ndarray of int, (bins + 1,)
    entries : ndarray of ENTRY
    first, last : int
        Range of bins.
    signatures : ndarray of uint64, (bins,)
        Output.
    """
    # Entries of a bin are sorted by row, so equal contents have the same order and an ordered hash suffices.
    # Different bins may share a signature: find_equals compares contents.
    for b in range(first, last):
        word = np.uint64(0)
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            word = (word ^ np.uint64(entries[entry]["row"])) * GOLDEN
            word = (word ^ np.uint64(entries[entry]["count"])) * FIRST_FACTOR
            word ^= word >> np.uint64(29)
        signatures[b] = word


@compiled(cache=False)
def _same(bin_ptr: Any, entries: Any, first: int, start: int, stop: int) -> Any:
    """Whether bin ``first`` has the same graphs and counts as the entries start .. stop - 1."""
    shift = start - bin_ptr[first]
    if bin_ptr[first + 1] + shift != stop:
        return False
    for entry in range(start, stop):
        ours, theirs = entries[entry - shift], entries[entry]
        if ours["row"] != theirs["row"] or ours["count"] != theirs["count"]:
            return False
    return True


@compiled(passes=count_numbers)
def find_equals(
    bin_ptr: Any,
    entries: Any,
    signatures: Any,
    group: int,
    n_groups: int,
    multiplicity: Any,
    is_kept: Any,
) -> None:
    """Mark the first of several bins with equal contents, among the bins of one group.

    Parameters
    ----------
    bin_ptr, entries, multiplicity
        Arrays of ``products.Bins``; the first bin gets the multiplicities of all.
    signatures : ndarray of uint64, (bins,)
        From ``sign_bins``.
    group, n_groups : int
        A bin belongs to the group ``signature % n_groups``, so that equal bins belong to the same group;
        ``n_groups`` is a power of two.
    is_kept : ndarray of bool, (bins,)
        Output, for the bins of the group.
    """
    n_bins, own = 0, np.uint64(group)
    mask = np.uint64(n_groups - 1)
    for b in range(len(signatures)):
        n_bins += (signatures[b] & mask) == own
    capacity = 2
    while capacity < 2 * n_bins + 1:
        capacity *= 2
    table = np.full(capacity, -1, dtype=np.int32)
    for b in range(len(signatures)):
        if (signatures[b] & mask) != own:
            continue
        slot = np.int64((signatures[b] // np.uint64(n_groups)) & np.uint64(capacity - 1))
        is_kept[b] = True
        while table[slot] >= 0:
            other = table[slot]
            if signatures[other] == signatures[b] and _same(
                bin_ptr, entries, other, bin_ptr[b], bin_ptr[b + 1]
            ):
                multiplicity[other] += multiplicity[b]
                is_kept[b] = False
                break
            slot = (slot + 1) & (capacity - 1)
        if is_kept[b]:
            table[slot] = b


@compiled(passes=count_numbers)
def copy_bins(
    bin_ptr: Any, entries: Any, chosen: Any, first: int, last: int, new_ptr: Any, copied: Any
) -> None:
    """Copy the entries of the bins ``chosen[first:last]`` to their places in ``copied``, by ``new_ptr``."""
    for k in range(first, last):
        to = new_ptr[k]
        for entry in range(bin_ptr[chosen[k]], bin_ptr[chosen[k] + 1]):
            copied[to] = entries[entry]
            to += 1


@compiled(passes=count_numbers)
def add_bin_squares(
    bin_ptr: Any, entries: Any, multiplicity: Any, first: int, last: int, squares: Any
) -> None:
    """Add the squared counts in the bins first .. last - 1, times multiplicity, to ``squares``, (graphs,)."""
    for b in range(first, last):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            count = float(entries[entry]["count"])
            squares[entries[entry]["row"]] += multiplicity[b] * (count * count)


@compiled(passes=count_numbers)
def fill_dense(bin_ptr: Any, entries: Any, first: int, last: int, dense: Any) -> None:
    """Write the bins first .. last - 1 as columns of ``dense``, zeros of shape (graphs, bins)."""
    for b in range(first, last):
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            dense[entries[entry]["row"], b] = entries[entry]["count"]


@compiled(passes=count_numbers)
def list_visits(
    bin_ptr: Any, entries: Any, first: int, last_bin: int, block: int, numbers: Any, visits: Any
) -> None:
    """List the visits of each block of rows by the bins first .. last_bin - 1, in order; or count them.

    Parameters
    ----------
    bin_ptr, entries
        Arrays of ``products.Bins``.
    first, last_bin : int
        Range of bins.
    block : int
        Rows per block.
    numbers : ndarray of int64, (blocks,)
        Place of the next visit of each block; incremented.
    visits : ndarray of VISIT or LONG_VISIT
        Output; empty: visits are only counted.
    """
    for b in range(first, last_bin):
        last = -1
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            at = entries[entry]["row"] // block
            if at != last:
                if len(visits) > 0:
                    visits[numbers[at]]["begin"] = bin_ptr[b]
                    visits[numbers[at]]["start"] = entry
                numbers[at] += 1
                last = at
            if len(visits) > 0:
                visits[numbers[at] - 1]["stop"] = entry + 1


@compiled
def add_pairs(visits: Any, first: int, last: int, weights: Any, entries: Any, gram: Any) -> None:
    """Add the products of counts in the same bin to the lower triangle of ``gram``, visit by visit.

    The rows of a block stay in the cache while all of its bins are processed. Entries of a bin are sorted by
    row, so those up to the current entry are on or below the diagonal.

    Parameters
    ----------
    visits : ndarray of VISIT or LONG_VISIT
    first, last : int
        Range of visits.
    weights : ndarray
        Multiplicity of the bin of each entry; empty: all 1.
    entries : ndarray of ENTRY
    gram : ndarray of float64, (n, n)
        Changed in place.
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
    """Add X Y^T to the rows first .. last - 1 of ``gram``.

    Parameters
    ----------
    indptr, indices, data : ndarray
        CSR arrays of X.
    bin_ptr, bin_rows, bin_data : ndarray
        CSC arrays of Y, rows ascending.
    lower : bool
        Whether Y is X and only entries on and below the diagonal are written.
    minimum : bool
        Whether the smaller of two counts is added instead of their product.
    first, last : int
        Range of rows.
    gram : ndarray of float64, (m, n)
        Changed in place.
    """
    for i in range(first, last):
        row = gram[i]
        for entry in range(indptr[i], indptr[i + 1]):
            value = data[entry]
            b = indices[entry]
            for other in range(bin_ptr[b], bin_ptr[b + 1]):
                j = bin_rows[other]
                if lower and j > i:
                    break  # rows of a bin ascend: the remaining ones are also above the diagonal
                row[j] += min(value, bin_data[other]) if minimum else value * bin_data[other]


@compiled(passes=count_numbers)
def mirror(gram: Any, first: int, last: int) -> None:
    """Copy the rows first .. last - 1 of the lower triangle of ``gram``, (n, n), to the upper one."""
    # A row is read along memory but written down a column, one cache line per number. In a tile of 64 x 64,
    # the 64 written lines stay in the L1 cache until they are full.
    tile = 64
    for i0 in range(first, last, tile):
        for j0 in range(0, i0 + tile, tile):
            for i in range(i0, min(i0 + tile, last)):
                for j in range(j0, min(j0 + tile, i)):
                    gram[j, i] = gram[i, j]


@compiled(passes=count_numbers)
def add_squares(indptr: Any, data: Any, squares: Any) -> None:
    """Add the sum of squares of each row of a CSR matrix to ``squares``, float64 (rows,)."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            squares[row] += data[entry] * data[entry]


@compiled
def scale_block(block: Any, left: Any, right: Any, first: int, last: int) -> None:
    """Multiply entry (i, j) of the rows first .. last - 1 by ``left[i] * right[j]``, in place."""
    # The product of the factors comes first, so that rounding keeps a symmetric matrix symmetric.
    for i in range(first, last):
        for j in range(block.shape[1]):
            block[i, j] *= left[i] * right[j]


@compiled
def take_block(matrix: Any, rows: Any, columns: Any, left: Any, right: Any, unit: float, block: Any) -> None:
    """Write ``matrix[rows][:, columns] * (left right^T) / unit`` to ``block``; empty ``left``: not scaled."""
    for i in range(len(rows)):
        row = matrix[rows[i]]
        for j in range(len(columns)):
            value = row[columns[j]]
            if len(left) > 0:
                value *= left[i] * right[j]
            block[i, j] = value / unit


@compiled
def add_ratios(
    shared: Any, left: Any, right: Any, weight: float, first: int, last: int, adds: bool, total: Any
) -> None:
    """Add ``weight * s / (l + r - s)`` to the rows first .. last - 1 of ``total``; 0 where l + r - s is 0.

    Parameters
    ----------
    shared : ndarray of float64, (m, n)
        The sums s.
    left, right : ndarray of float64, (m,) and (n,)
        The sums l and r of each graph with itself.
    weight : float
    first, last : int
        Range of rows.
    adds : bool
        Whether to add to ``total`` instead of overwriting it.
    total : ndarray of float64, (m, n)
        Changed in place; may be ``shared`` if it is overwritten.
    """
    for i in range(first, last):
        for j in range(len(right)):
            union = left[i] + right[j] - shared[i, j]
            ratio = shared[i, j] / union if union > 0.0 else 0.0
            total[i, j] = total[i, j] + ratio * weight if adds else ratio * weight
