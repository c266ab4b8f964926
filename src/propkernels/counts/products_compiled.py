"""Compiled loops of products of counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.addresses import Arrays, array_at, multiply
from propkernels._utils.crew import job_of, share
from propkernels._utils.jit import compiled, count_numbers
from propkernels._utils.mixing import FIRST_FACTOR, GOLDEN, mix_word

POPULAR_ROWS = 1024  # popular bins of one dense product of many streams
ONE_IN_64 = np.uint64(2**58)  # hashes below it

# An entry of a bin: a graph and its count, adjacent in memory, so that one cache line holds both. Counts are
# floats, as in the matrix that they are added to: float32 where all sums are exact in it.
ENTRY = np.dtype([("row", np.int32), ("count", np.float32)])
WIDE_ENTRY = np.dtype([("row", np.int64), ("count", np.float64)])
# The rows of the kernel matrix are cut into blocks that fit the cache; each block processes all bins. A visit
# is a bin with entries in a block: the first entry of the bin, and the first entry and end of its entries in
# the block. With blocks of two rows (0 1 | 2 3) and a bin whose entries 10, 11, 12 belong to the graphs
# 0, 2, 3:
#     visit of block 0: begin 10, start 10, stop 11     adds nothing: diagonals are known
#     visit of block 1: begin 10, start 11, stop 13     adds k(2, 0), k(3, 0), k(3, 2)
# Entries of a bin are sorted by row: those from ``begin`` up to an entry are below the diagonal.
VISIT, LONG_VISIT = (np.dtype([(name, kind) for name in ("begin", "start", "stop")]) for kind in ("i4", "i8"))


class Parts(NamedTuple):
    """CSR arrays of the counts of several streams, (graphs, bins) each, and shares of their bins.

    Share k has the bins of stream ``stream[k]`` whose remainder modulo 2^``shift[k]`` is ``share[k]``.
    """

    indptr: Arrays
    indices: Arrays
    data: Arrays
    stream: Any
    share: Any
    shift: Any


# Functions of (crew, first, last, work) are stages: they run the pieces first .. last - 1 of some work, which
# threads share. Arrays are allocated by the caller, since compiling np.zeros takes long.
@compiled(cache=False)
def count_bins(
    indptr: Any, indices: Any, data: Any, popular_from: int, share: int, shift: int, sizes: Any, squares: Any,
    numbers: Any,
) -> None:  # fmt: skip
    """Count the graphs of each bin, and add up the squared counts of each graph.

    Parameters
    ----------
    indptr, indices, data : ndarray
        CSR arrays of the counts, (graphs, bins).
    popular_from : int
        Number of graphs from which a bin is popular.
    share, shift : int
        Only one of 2^shift bins is counted, those whose remainder is ``share``; 0 and 0: all bins.
    sizes : ndarray of int, (bins,)
        Output, zeros before: number of graphs of each bin.
    squares : ndarray of float64, (graphs,)
        Output: sums of squared counts.
    numbers : ndarray of int64, (3,)
        Output: number of popular bins, of the other bins of several graphs, and of the entries of the latter.
    """
    mask = (1 << shift) - 1
    for i in range(len(indptr) - 1):
        total = 0.0
        for entry in range(indptr[i], indptr[i + 1]):
            if shift > 0 and indices[entry] & mask != share:
                continue
            sizes[np.uint64(indices[entry] >> shift)] += 1
            total += data[entry] * data[entry]
        squares[i] = total
    n_popular, n_rest, n_entries = 0, 0, 0
    for b in range(len(sizes)):
        is_popular = sizes[b] >= popular_from
        is_rest = (sizes[b] > 1) & (not is_popular)
        n_popular += is_popular
        n_rest += is_rest
        n_entries += sizes[b] * is_rest
    numbers[0], numbers[1], numbers[2] = n_popular, n_rest, n_entries


@compiled(cache=False)
def _count_part(
    parts: Any, popular_from: int, firsts: Any, sizes: Any, squares: Any, numbers: Any, thread: int, k: int
) -> None:
    s = parts.stream[k]
    rows = array_at(parts.indptr, s), array_at(parts.indices, s), array_at(parts.data, s)
    count_bins(
        *rows,
        popular_from,
        parts.share[k],
        parts.shift[k],
        sizes[firsts[k] : firsts[k + 1]],
        squares[k],
        numbers[k],
    )


_count_part_job = job_of(_count_part)


def _entries_of_parts(crew: Any, first: int, last: int, work: Any) -> int:
    return 3 * int(work[0].indices.lengths.sum()) + count_numbers(work)


@compiled(passes=_entries_of_parts)
def count_all_bins(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`count_bins` for shares of streams; the sizes of share k begin at ``firsts[k]``."""
    share(crew, first, last, _count_part_job(work))


@compiled(cache=False)
def place_bins(
    indptr: Any,
    indices: Any,
    data: Any,
    popular_from: int,
    share: int,
    shift: int,
    sizes: Any,
    column: int,
    dense: Any,
    place: int,
    ends: Any,
    entries: Any,
    nowhere: int,
) -> None:
    """Write popular bins as rows of a dense matrix, and the others as entries by bin, then by row.

    Parameters
    ----------
    indptr, indices, data, popular_from, share, shift, sizes
        As in :func:`count_bins`; ``sizes`` are overwritten.
    column : int
        Row of the first popular bin.
    dense : ndarray, (popular bins of all streams, graphs)
        Zeros; popular counts are written.
    place : int
        Place of the first entry of the other bins.
    ends : ndarray of int, (other bins,)
        Output: end of the entries of each bin.
    entries : ndarray of ENTRY or WIDE_ENTRY
        Output.
    nowhere : int
        Place for entries of bins of one graph, which are not kept; no other thread writes near it.
    """
    # From here, ``sizes[b]`` is the place of the bin's next entry, or -1 - row of a popular bin. Ends are
    # written for all bins, and overwritten until a bin is kept: a branch that cannot be predicted is slower.
    at, last, mask = 0, len(ends) - 1, (1 << shift) - 1
    for b in range(len(sizes)):
        size = sizes[b]
        is_popular = size >= popular_from
        is_rest = (size > 1) & (not is_popular)
        sizes[b] = -1 - column if is_popular else (place if is_rest else nowhere)
        place += size if is_rest else 0
        column += is_popular
        if last >= 0:
            ends[np.uint64(min(at, last))] = place
        at += is_rest
    for i in range(len(indptr) - 1):  # rows ascend, so the entries of each bin are sorted by row
        for entry in range(indptr[i], indptr[i + 1]):
            if shift > 0 and indices[entry] & mask != share:
                continue
            own = np.uint64(indices[entry] >> shift)
            to = sizes[own]
            if to < 0:
                dense[np.uint64(-1 - to), i] = data[entry]
            else:
                sizes[own] = to + 1
                entries[np.uint64(to)]["row"] = i
                entries[np.uint64(to)]["count"] = data[entry]


@compiled(cache=False)
def _place_part(
    parts: Any,
    popular_from: int,
    firsts: Any,
    sizes: Any,
    columns: Any,
    dense: Any,
    places: Any,
    first_bins: Any,
    ends: Any,
    entries: Any,
    nowhere: Any,
    thread: int,
    k: int,
) -> None:
    s = parts.stream[k]
    rows = array_at(parts.indptr, s), array_at(parts.indices, s), array_at(parts.data, s)
    own = ends[first_bins[k] : first_bins[k + 1]]
    bins = popular_from, parts.share[k], parts.shift[k], sizes[firsts[k] : firsts[k + 1]]
    place_bins(*rows, *bins, columns[k], dense, places[k], own, entries, nowhere[k])


_place_part_job = job_of(_place_part)


@compiled(passes=_entries_of_parts)
def place_all_bins(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`place_bins` for shares of streams; the ends of share k begin at ``first_bins[k]``."""
    share(crew, first, last, _place_part_job(work))


@compiled(cache=False)
def _signature(entries: Any, start: int, stop: int) -> Any:
    """Return a 64-bit signature of the entries start .. stop - 1: equal contents have equal signatures."""
    # Entries of a bin are sorted by row, so equal contents have the same order and an ordered hash suffices.
    # Different bins may share a signature: find_equals compares contents.
    word = np.uint64(0)
    for entry in range(start, stop):
        word = (word ^ np.uint64(entries[entry]["row"])) * GOLDEN
        word = (word ^ np.uint64(entries[entry]["count"])) * FIRST_FACTOR
        word ^= word >> np.uint64(29)
    return word


@compiled(cache=False)
def sample_bins(bin_ptr: Any, entries: Any, first: int, last: int, signatures: Any) -> Any:
    """Write the signatures of one in 64 of the bins first .. last - 1; return their number.

    Whether a bin is in the sample depends on its first row, last row and length alone, so bins of equal
    contents are sampled together.
    """
    n_signed = 0
    for b in range(first, last):
        start, stop = bin_ptr[b], bin_ptr[b + 1]
        ends = np.uint64(entries[start]["row"]) ^ (np.uint64(entries[stop - 1]["row"]) << np.uint64(32))
        if mix_word(ends + np.uint64(stop - start)) < ONE_IN_64:
            signatures[n_signed] = _signature(entries, start, stop)
            n_signed += 1
    return n_signed


@compiled(cache=False)
def _sample_run(
    bin_ptr: Any, entries: Any, runs: Any, signatures: Any, numbers: Any, thread: int, k: int
) -> None:
    numbers[k] = sample_bins(bin_ptr, entries, runs[k], runs[k + 1], signatures[runs[k] : runs[k + 1]])


_sample_run_job = job_of(_sample_run)


def _sizes_of_arrays(crew: Any, first: int, last: int, work: Any) -> int:
    return count_numbers(work)


@compiled(passes=_sizes_of_arrays)
def sample_all_bins(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`sample_bins` for runs of bins; the signatures of run k begin at its first bin."""
    share(crew, first, last, _sample_run_job(work))


@compiled(cache=False)
def sign_bins(bin_ptr: Any, entries: Any, first: int, last: int, signatures: Any) -> None:
    """Write a signature of the contents of the bins first .. last - 1.

    Parameters
    ----------
    bin_ptr : ndarray of int, (bins + 1,)
    entries : ndarray of ENTRY or WIDE_ENTRY
    first, last : int
        Range of bins.
    signatures : ndarray of uint64, (bins,)
        Output.
    """
    for b in range(first, last):
        signatures[b] = _signature(entries, bin_ptr[b], bin_ptr[b + 1])


@compiled(cache=False)
def _sign_run(bin_ptr: Any, entries: Any, runs: Any, signatures: Any, thread: int, k: int) -> None:
    sign_bins(bin_ptr, entries, runs[k], runs[k + 1], signatures)


_sign_run_job = job_of(_sign_run)


@compiled(passes=_sizes_of_arrays)
def sign_all_bins(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`sign_bins` for runs of bins."""
    share(crew, first, last, _sign_run_job(work))


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


@compiled(cache=False)
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


@compiled(cache=False)
def _find_group(
    bin_ptr: Any,
    entries: Any,
    signatures: Any,
    n_groups: int,
    multiplicity: Any,
    is_kept: Any,
    thread: int,
    k: int,
) -> None:
    find_equals(bin_ptr, entries, signatures, k, n_groups, multiplicity, is_kept)


_find_group_job = job_of(_find_group)


@compiled(passes=_sizes_of_arrays)
def find_all_equals(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`find_equals` for groups of bins."""
    share(crew, first, last, _find_group_job(work))


@compiled(cache=False)
def copy_bins(
    bin_ptr: Any, entries: Any, chosen: Any, first: int, last: int, new_ptr: Any, copied: Any
) -> None:
    """Copy the entries of the bins ``chosen[first:last]`` to their places in ``copied``, by ``new_ptr``."""
    for k in range(first, last):
        to = new_ptr[k]
        for entry in range(bin_ptr[chosen[k]], bin_ptr[chosen[k] + 1]):
            copied[to] = entries[entry]
            to += 1


@compiled(cache=False)
def _copy_run(
    bin_ptr: Any, entries: Any, chosen: Any, runs: Any, new_ptr: Any, copied: Any, thread: int, k: int
) -> None:
    copy_bins(bin_ptr, entries, chosen, runs[k], runs[k + 1], new_ptr, copied)


_copy_run_job = job_of(_copy_run)


@compiled(passes=_sizes_of_arrays)
def copy_all_bins(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`copy_bins` for runs of chosen bins."""
    share(crew, first, last, _copy_run_job(work))


@compiled(cache=False)
def list_visits(
    bin_ptr: Any, entries: Any, first: int, last_bin: int, shift: int, numbers: Any, visits: Any
) -> None:
    """List the visits of each block of rows by the bins first .. last_bin - 1, in order; or count them.

    Parameters
    ----------
    bin_ptr, entries
        Arrays of ``products.Bins``.
    first, last_bin : int
        Range of bins.
    shift : int
        A block has 2^shift rows.
    numbers : ndarray of int64, (blocks,)
        Place of the next visit of each block; incremented.
    visits : ndarray of VISIT or LONG_VISIT
        Output; empty: visits are only counted.
    """
    for b in range(first, last_bin):
        last = -1
        for entry in range(bin_ptr[b], bin_ptr[b + 1]):
            at = entries[entry]["row"] >> shift
            if at != last:
                if len(visits) > 0:
                    visits[numbers[at]]["begin"] = bin_ptr[b]
                    visits[numbers[at]]["start"] = entry
                numbers[at] += 1
                last = at
            if len(visits) > 0:
                visits[numbers[at] - 1]["stop"] = entry + 1


@compiled(cache=False)
def _list_run(
    bin_ptr: Any, entries: Any, runs: Any, shift: int, numbers: Any, visits: Any, thread: int, k: int
) -> None:
    list_visits(bin_ptr, entries, runs[k], runs[k + 1], shift, numbers[k], visits)


_list_run_job = job_of(_list_run)


@compiled(passes=_sizes_of_arrays)
def list_all_visits(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`list_visits` for runs of bins; the places of run k are ``numbers[k]``."""
    share(crew, first, last, _list_run_job(work))


@compiled(cache=False)
def add_visits(
    visits: Any, first: int, last: int, weights: Any, entries: Any, first_row: int, tile: Any
) -> None:
    """Add the products of counts in the same bin below the diagonal to rows of a matrix, visit by visit.

    The rows of a block stay in the cache while all of its bins are processed. Entries of a bin are sorted by
    row, so those before the current entry are below the diagonal.

    Parameters
    ----------
    visits : ndarray of VISIT or LONG_VISIT
    first, last : int
        Range of visits.
    weights : ndarray
        Multiplicity of the bin of each entry; empty: all 1.
    entries : ndarray of ENTRY or WIDE_ENTRY
    first_row : int
        Row of the matrix that is the first row of the tile.
    tile : ndarray, (rows, columns)
        Changed in place.
    """
    for visit in range(first, last):
        for place in range(visits[visit]["start"], visits[visit]["stop"]):
            row = tile[np.uint64(entries[place]["row"] - first_row)]
            count = entries[place]["count"]
            if len(weights) > 0:
                count *= weights[place]
            for entry in range(visits[visit]["begin"], place):
                row[np.uint64(entries[entry]["row"])] += count * entries[entry]["count"]


@compiled
def add_bins(bin_ptr: Any, entries: Any, multiplicity: Any, first: int, last: int, gram: Any) -> None:
    """Add the products of counts in the bins first .. last - 1 below the diagonal of a matrix, bin by bin.

    Parameters
    ----------
    bin_ptr, entries, multiplicity
        Arrays of ``products.Bins``.
    first, last : int
        Range of bins.
    gram : ndarray, (n, n)
        Changed in place; small enough for the cache.
    """
    for b in range(first, last):
        for place in range(bin_ptr[b] + 1, bin_ptr[b + 1]):
            row = gram[np.uint64(entries[place]["row"])]
            count = entries[place]["count"] * multiplicity[b]
            for entry in range(bin_ptr[b], place):
                row[np.uint64(entries[entry]["row"])] += count * entries[entry]["count"]


@compiled(cache=False)
def _add_run(
    bin_ptr: Any, entries: Any, multiplicity: Any, runs: Any, sums: Any, thread: int, k: int
) -> None:
    add_bins(bin_ptr, entries, multiplicity, runs[k], runs[k + 1], sums[k])


_add_run_job = job_of(_add_run)


@compiled
def add_all_bins(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`add_bins` for runs of bins, each with a matrix ``sums[k]`` of its own."""
    share(crew, first, last, _add_run_job(work))


class Streams(NamedTuple):
    """Workspace of :func:`add_streams`, for the bins of one stream, and its results.

    ``sizes``, ``ends``, ``entries`` and ``multiplicity`` are those of :func:`count_bins`, :func:`place_bins`
    and :func:`add_bins`. ``dense`` collects popular bins, zeros before, and ``times`` how often they count.
    ``numbers`` are those of :func:`count_bins`, the number of popular bins of all streams, and whether the
    limit was reached.
    """

    sizes: Any
    ends: Any
    entries: Any
    multiplicity: Any
    squares: Any
    numbers: Any
    dense: Any
    times: Any

    @classmethod
    def make(cls, entry: Any, n: int, n_bins: int, n_entries: int, n_popular: int) -> Streams:
        """Return a workspace for streams of n graphs with at most so many bins and entries."""
        sizes, ends = np.zeros((2, n_bins + 1), dtype=np.int32)
        entries, multiplicity = np.empty(n_entries + 1, dtype=entry), np.empty(n_bins, dtype=entry["count"])
        dense = np.zeros((max(POPULAR_ROWS, n_popular), n), dtype=entry["count"])
        times = np.ones(len(dense), dtype=entry["count"])
        return cls(sizes, ends, entries, multiplicity, np.empty(n), np.zeros(5, dtype=np.int64), dense, times)


@compiled
def add_streams(
    indptr: Any, indices: Any, data: Any, places: Any, copies: Any, first: int, popular_from: int,
    limit: float, room: Any, gram: Any, diagonal: Any,
) -> Any:  # fmt: skip
    """Add the products of counts of the streams first, first + 1, ... to a matrix and its diagonal.

    Popular bins are written to ``room.dense``. Return the first stream that is not added, because there is no
    room for its popular bins, or the diagonal would reach the limit; else the end.

    Parameters
    ----------
    indptr, indices, data, places, copies
        See ``many_streams.Stack``.
    first : int
    popular_from : int
        As in :func:`count_bins`.
    limit : float
        Numbers up to which sums in ``gram`` are exact.
    room : Streams
    gram : ndarray, (n, n)
        Changed below the diagonal; small enough for the cache.
    diagonal : ndarray of float64, (n,)
        Squares of counts are added.
    """
    n, n_popular, numbers = len(diagonal), 0, room.numbers
    numbers[3], numbers[4] = 0, 0
    for k in range(first, len(places)):
        own = indptr[places[k, 0] : places[k, 0] + n + 1]
        begin, end = places[k, 1], places[k, 1] + own[n]
        bins, counts, sizes = indices[begin:end], data[begin:end], room.sizes[: places[k, 2]]
        sizes[:] = 0
        count_bins(own, bins, counts, popular_from, 0, 0, sizes, room.squares, numbers)
        largest = 0.0
        for i in range(n):
            largest = max(largest, diagonal[i] + copies[k] * room.squares[i])
        numbers[3], numbers[4] = n_popular, largest >= limit
        if n_popular + numbers[0] > len(room.dense) or largest >= limit:
            return k
        for i in range(n):
            diagonal[i] += copies[k] * room.squares[i]
        ends = room.ends[1 : numbers[1] + 1]
        to = n_popular, room.dense, 0, ends, room.entries, numbers[2]
        place_bins(own, bins, counts, popular_from, 0, 0, sizes, *to)
        room.times[n_popular : n_popular + numbers[0]] = copies[k]
        room.multiplicity[: numbers[1]] = copies[k]
        n_popular += numbers[0]
        numbers[3] = n_popular
        add_bins(room.ends, room.entries, room.multiplicity, 0, numbers[1], gram)
    return len(places)


@compiled(cache=False)
def touch_rows(gram: Any, first: int, last: int) -> None:
    """Write a number to every page of the rows first .. last - 1, float64, so that the system maps them."""
    for i in range(first, last):
        for j in range(0, gram.shape[1], 512):
            gram[i, j] = 0.0


@compiled(cache=False)
def _touch_run(gram: Any, runs: Any, thread: int, k: int) -> None:
    touch_rows(gram, runs[k], runs[k + 1])


_touch_run_job = job_of(_touch_run)


@compiled(passes=_sizes_of_arrays)
def touch_all_rows(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`touch_rows` for runs of rows."""
    share(crew, first, last, _touch_run_job(work))


@compiled(cache=False)
def write_rows(tile: Any, first: int, diagonal: Any, gram: Any) -> None:
    """Write rows below the diagonal of a symmetric matrix, the same as columns, and the diagonal.

    Parameters
    ----------
    tile : ndarray, (rows, first + rows)
        Entries of the rows first, first + 1, ...; those below the diagonal are read.
    first : int
    diagonal : ndarray of float64, (n,)
    gram : ndarray of float64, (n, n)
        Output.
    """
    for i in range(len(tile)):
        row, values = gram[first + i], tile[i]
        for j in range(first + i):
            row[j] = values[j]
        row[first + i] = diagonal[first + i]
    # A row of the tile is read along memory but written down a column, one cache line per number. The lines
    # of 64 rows stay in the L1 cache until they are full.
    for j0 in range(0, first + len(tile), 64):
        for i in range(max(j0 - first, 0), len(tile)):
            values = tile[i]
            for j in range(j0, min(j0 + 64, first + i)):
                gram[j, first + i] = values[j]


class Popular(NamedTuple):
    """Counts of popular bins, (bins, graphs), and their multiplicities; empty: all 1.

    Bins are rows, so that threads that write the bins of different streams share no cache lines.
    """

    counts: Any
    multiplicity: Any


class Rest(NamedTuple):
    """The other bins: their products below the diagonal in matrices, or their entries by visits.

    Attributes
    ----------
    sums : Arrays
        Matrices, (n, n), flat.
    visits : ndarray of VISIT or LONG_VISIT
    bounds : ndarray of int64, (blocks + 1,)
        Where the visits of each block begin.
    shift : int
        A block has 2^shift rows.
    weights, entries
        See :func:`add_visits`.
    """

    sums: Any
    visits: Any
    bounds: Any
    shift: int
    weights: Any
    entries: Any


@compiled(cache=False)
def _add_sums(sums: Any, n: int, first: int, tile: Any) -> None:
    """Add the rows first, first + 1, ... of some matrices, (n, n), to a tile."""
    for k in range(len(sums.lengths)):
        matrix = array_at(sums, k)
        for i in range(tile.shape[0]):
            row, values = tile[i], matrix[(first + i) * n : (first + i + 1) * n]
            for j in range(tile.shape[1]):
                row[j] += values[j]


@compiled(cache=False)
def _multiply_popular(gemm: int, popular: Any, first: int, room: Any, tile: Any) -> None:
    """Write the products of the graphs first, first + 1, ... with all graphs up to the last one to a tile."""
    left = popular.counts[:, first : first + tile.shape[0]]
    if len(popular.counts) == 0:
        tile[:, :] = 0.0
        return
    if len(popular.multiplicity) > 0:
        for b in range(len(left)):
            for i in range(tile.shape[0]):
                room[b, i] = left[b, i] * popular.multiplicity[b]
        left = room[:, : tile.shape[0]]
    multiply(gemm, left, popular.counts[:, : tile.shape[1]], tile)


@compiled(cache=False)
def _fill_tile(
    gemm: int,
    popular: Any,
    rest: Any,
    diagonal: Any,
    length: int,
    tiles: Any,
    rooms: Any,
    gram: Any,
    thread: int,
    k: int,
) -> None:
    n = len(gram)
    first = ((n - 1) // length - k) * length  # longest rows first
    last = min(first + length, n)
    tile = tiles[thread, : (last - first) * last].reshape(
        (last - first, last)
    )  # rows without gaps are faster
    _multiply_popular(gemm, popular, first, rooms[thread], tile)
    _add_sums(rest.sums, n, first, tile)
    if len(rest.visits) > 0:
        blocks = rest.bounds[first >> rest.shift], rest.bounds[((last - 1) >> rest.shift) + 1]
        add_visits(rest.visits, *blocks, rest.weights, rest.entries, first, tile)
    write_rows(tile, first, diagonal, gram)


_fill_tile_job = job_of(_fill_tile)


def _numbers_of_tiles(crew: Any, first: int, last: int, work: Any) -> int:
    _, _, rest, *_, gram = work
    longest = (rest.visits["stop"] - rest.visits["begin"]).max(initial=0)
    return gram.size * (1 + len(rest.sums.lengths)) + int(longest) * len(rest.entries)


@compiled(passes=_numbers_of_tiles)
def fill_tiles(crew: Any, first: int, last: int, work: Any) -> None:
    """Compute tiles of rows below the diagonal, and write them to the rows and columns of the matrix.

    A tile of ``length`` rows is written while it is in the cache. The work is (gemm, popular, rest, diagonal,
    length, tiles, rooms, gram), with one of ``tiles``, (length * n,), and of ``rooms``,
    (popular bins, length), for each thread.
    """
    share(crew, first, last, _fill_tile_job(work))


@compiled(cache=False)
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


@compiled(cache=False)
def _add_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    bin_ptr: Any,
    bin_rows: Any,
    bin_data: Any,
    lower: bool,
    minimum: bool,
    runs: Any,
    gram: Any,
    thread: int,
    k: int,
) -> None:
    rows, bins = (indptr, indices, data), (bin_ptr, bin_rows, bin_data)
    add_products(*rows, *bins, lower, minimum, runs[k], runs[k + 1], gram)


_add_rows_job = job_of(_add_rows)


@compiled
def add_all_products(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`add_products` for runs of rows."""
    share(crew, first, last, _add_rows_job(work))


@compiled(passes=count_numbers)
def sum_rows(indptr: Any, data: Any, squared: bool, sums: Any) -> None:
    """Write the sum of each row of a CSR matrix, or of the squares, to ``sums``, float64 (rows,)."""
    for row in range(len(indptr) - 1):
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += data[entry] * data[entry] if squared else data[entry]
        sums[row] = total


@compiled
def add_squares(indptr: Any, indices: Any, data: Any, places: Any, squares: Any) -> None:
    """Add the squared counts of each graph in several streams; arguments as of ``many_streams.Stack``."""
    for k in range(len(places)):
        first = places[k, 1]
        for i in range(len(squares)):
            for entry in range(first + indptr[places[k, 0] + i], first + indptr[places[k, 0] + i + 1]):
                squares[i] += data[entry] * data[entry]


@compiled(cache=False)
def scale_block(block: Any, left: Any, right: Any, first: int, last: int) -> None:
    """Multiply entry (i, j) of the rows first .. last - 1 by ``left[i] * right[j]``, in place."""
    # The product of the factors comes first, so that rounding keeps a symmetric matrix symmetric.
    for i in range(first, last):
        for j in range(block.shape[1]):
            block[i, j] *= left[i] * right[j]


@compiled(cache=False)
def _scale_run(block: Any, left: Any, right: Any, runs: Any, thread: int, k: int) -> None:
    scale_block(block, left, right, runs[k], runs[k + 1])


_scale_run_job = job_of(_scale_run)


@compiled
def scale_all_rows(crew: Any, first: int, last: int, work: Any) -> None:
    """Run :func:`scale_block` for runs of rows."""
    share(crew, first, last, _scale_run_job(work))


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
def add_stream_ratios(
    indptr: Any, indices: Any, data: Any, places: Any, weights: Any, minimum: bool, first: int, last: int,
    room: Any, total: Any,
) -> None:  # fmt: skip
    """Add ``weight * s / (l + r - s)`` of streams in turn to the rows first .. last - 1, up to the diagonal.

    Parameters
    ----------
    indptr, indices, data, places
        See ``many_streams.Stack``.
    weights : ndarray of float64, (streams,)
    minimum : bool
        Whether s is the sum of smaller counts instead of products.
    first, last : int
        Range of rows.
    room : tuple of ndarray
        Workspace: int64 (bins + 1,), int64 (entries,), float64 (entries,), float64 (n,), float64 (n,).
    total : ndarray of float64, (n, n)
        Changed in place.
    """
    ends, graphs, counts, own, shared = room
    for k in range(len(places)):
        rows, begin = indptr[places[k, 0] : places[k, 0] + last + 1], places[k, 1]
        bins, values = indices[begin : begin + rows[last]], data[begin : begin + rows[last]]
        list_bins(rows, bins, values, minimum, ends[: places[k, 2] + 1], graphs, counts, own)
        for i in range(first, last):
            shared[: i + 1] = 0.0
            for entry in range(rows[i], rows[i + 1]):
                value, b = values[entry], bins[entry]
                for other in range(ends[b - 1] if b > 0 else 0, ends[b]):
                    j = graphs[other]
                    if j > i:
                        break
                    shared[j] += min(value, counts[other]) if minimum else value * counts[other]
            for j in range(i + 1):
                union = own[i] + own[j] - shared[j]
                ratio = shared[j] / union if union > 0.0 else 0.0
                total[i, j] += ratio * weights[k]


@compiled(cache=False)
def list_bins(
    rows: Any, bins: Any, values: Any, minimum: bool, ends: Any, graphs: Any, counts: Any, own: Any
) -> None:
    """List the graphs of each bin with their counts, and sum the counts of each graph, or their squares."""
    ends[:] = 0
    for b in bins:
        ends[b + 1] += 1
    for b in range(1, len(ends)):
        ends[b] += ends[b - 1]
    for i in range(len(rows) - 1):
        own[i] = 0.0
        for entry in range(rows[i], rows[i + 1]):
            at, value = ends[bins[entry]], values[entry]
            graphs[at], counts[at] = i, value
            ends[bins[entry]] = at + 1
            own[i] += value if minimum else value * value


@compiled
def mirror_rows(matrix: Any, first: int, last: int) -> None:
    """Copy the columns first .. last - 1 below the diagonal to the rows."""
    for j0 in range(first, last, 64):  # the lines of 64 rows stay in the cache
        for i in range(j0 + 1, len(matrix)):
            for j in range(j0, min(j0 + 64, last, i)):
                matrix[j, i] = matrix[i, j]


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
