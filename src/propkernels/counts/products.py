"""Products of counts, <Phi, Phi>, by bin popularity; and normalization by self-similarities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from propkernels._utils.addresses import Arrays, alike, gemm_address
from propkernels._utils.arrays import index_dtype, offsets, power_of_two
from propkernels._utils.parallel import (
    active_device,
    by_rows,
    equal_work,
    one_blas_thread,
    pieces_for,
    row_runs,
    run_pieces,
    stage_pieces,
    thread_count,
    threads_for,
    whole_runs,
)
from propkernels.counts.many_streams import EXACT_FLOAT32, MANY_STREAMS, sum_streams
from propkernels.counts.products_compiled import (
    ENTRY,
    LONG_VISIT,
    VISIT,
    WIDE_ENTRY,
    Parts,
    Popular,
    Rest,
    add_all_bins,
    add_all_products,
    add_bins,
    copy_all_bins,
    count_all_bins,
    fill_tiles,
    find_all_equals,
    list_all_visits,
    place_all_bins,
    sample_all_bins,
    scale_all_rows,
    sign_all_bins,
    sum_rows,
    touch_all_rows,
)

POPULAR = 1 / 8  # share of graphs above which a bin is cheaper in a dense product (measured)
WORTH_MERGING = 0.3  # share of duplicate bins above which merging is faster (measured)
ENTRIES_IN_CACHE = 2**19  # of the rows of a block, which then fit the L2 cache
MATRIX_IN_CACHE = 2**21  # entries of a matrix to which bins are added in any order (measured)
ROWS_OF_A_TILE = 256  # most rows of a product, fewer where threads share them
LEAST_ROWS = 32  # of a product that threads share: BLAS copies the other factor for every product
MOST_MATRICES = 8  # to which threads add bins side by side: more are more new memory than work (measured)
APART = 16  # entries between two that different threads write often: more than a cache line
PRODUCTS_OF_A_STEP = 64  # of counts in a dense product
ENTRIES_OF_A_STEP = 8  # entries that a short loop reads in the time of an elementary step
ENTRIES_OF_A_SHARE = 2**17  # least entries of a stream that threads share: each of them reads all
ENTRIES_IN_MEMORY = 2**23  # (graph, bin) pairs sorted by bin at a time


def square_gram(
    parts: Sequence[csr_array], n_jobs: int | None = None, copies: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the sum of Phi Phi^T over count matrices with the same rows, exact.

    Matrix k counts ``copies[k]`` times; by default, once.

    Bins seen in one graph only touch the diagonal; popular bins go through one dense product; the
    rest are added pair by pair. If many bins have equal contents, as after propagation has converged, they
    are merged into one with a multiplicity. Streams are processed in batches of bounded size, so that memory
    does not grow with their number.
    """
    device = active_device() if copies is None else None
    gram = None if device is None else device.square_gram(parts)
    if gram is not None:
        return np.asarray(gram)
    if copies is None:
        parts, copies = _distinct(parts)
    n = parts[0].shape[0]
    if len(parts) >= MANY_STREAMS and n * n <= MATRIX_IN_CACHE:
        return _many_streams(parts, copies, n_jobs)
    lengths = offsets([part.nnz for part in parts])
    total: NDArray[np.float64] | None = None
    for a, b in pairwise(whole_runs(lengths, ENTRIES_IN_MEMORY).tolist()):
        batch, times = parts[a:b], copies[a:b]
        threads = threads_for(n * n // 4 + int(lengths[b] - lengths[a]), n_jobs)
        kept = [alike(arrays) for arrays in zip(*((m.indptr, m.indices, m.data) for m in batch), strict=True)]
        rows, widths, times = _shares(batch, kept, times, threads)
        sizes, squares, numbers = _sizes(rows, widths, n, threads)
        diagonal = times @ squares
        popular, bins = _by_bin(rows, times, widths, sizes, numbers, diagonal, threads)
        if _share_of_copies(bins, threads) > WORTH_MERGING:
            bins = _merged(bins, threads)
        threads = max(threads, threads_for(popular.counts.size * n // PRODUCTS_OF_A_STEP, n_jobs))
        length = _rows_of_a_tile(n, threads)
        rest, _kept = _rest(bins, n, length, threads)
        gram = _filled(popular, rest, diagonal, length, threads)
        if total is None:
            total = gram
        else:
            add_matrix(total, gram, n_jobs)
    assert total is not None
    return total


def _many_streams(
    parts: Sequence[csr_array], copies: NDArray[np.int64], n_jobs: int | None
) -> NDArray[np.float64]:
    """Return the sum of Phi Phi^T over many count matrices with few rows."""
    n, n_entries = parts[0].shape[0], sum(part.nnz for part in parts)
    threads = threads_for(n * n // 4 + n_entries, n_jobs)
    sums, diagonal = sum_streams(parts, copies, _popular_from(n), threads)
    nothing = np.empty((0, n), dtype=np.result_type(*sums))
    kept = alike([matrix.ravel() for matrix in sums])
    rest = _only_sums(kept, nothing.dtype)
    return _filled(Popular(nothing, nothing[:, 0]), rest, diagonal, _rows_of_a_tile(n, threads), threads)


def _only_sums(matrices: Sequence[NDArray[Any]], number: Any) -> Rest:
    """Return bins that are summed already, in flat matrices of numbers of a type."""
    nothing = np.empty(0, dtype=VISIT), np.zeros(1, dtype=np.int64), 0, np.empty(0, dtype=number)
    entries = np.empty(0, dtype=ENTRY if number == np.float32 else WIDE_ENTRY)
    return Rest(Arrays.of(matrices, number), *nothing, entries)


def fits_one_product(parts: Sequence[csr_array]) -> bool:
    """Whether ``square_gram`` needs a single batch, and so no second matrix."""
    return sum(part.nnz for part in {id(part): part for part in parts}.values()) <= ENTRIES_IN_MEMORY


def _distinct(parts: Sequence[csr_array]) -> tuple[list[csr_array], NDArray[np.int64]]:
    """Return the distinct count matrices and their multiplicities."""
    shared: dict[int, list[csr_array]] = {}
    for part in parts:
        shared.setdefault(id(part), []).append(part)
    return [same[0] for same in shared.values()], np.array([len(same) for same in shared.values()])


class Bins(NamedTuple):
    """Counts by bin: bin b has the entries bin_ptr[b] .. bin_ptr[b + 1] - 1 and a multiplicity."""

    bin_ptr: NDArray[Any]
    entries: NDArray[Any]
    multiplicity: NDArray[Any]


def _popular_from(n: int) -> int:
    """Return the number of graphs from which a bin is popular."""
    return max(int(POPULAR * n), 1) + 1


def _shares(
    parts: Sequence[csr_array], arrays: Sequence[Any], copies: NDArray[np.int64], threads: int
) -> tuple[Parts, NDArray[np.int64], NDArray[np.int64]]:
    """Return the bins of streams, offsets of their numbers, and how often they count.

    Threads share the bins of a large stream: each takes one of 2^shift.
    """
    most = max(sum(part.nnz for part in parts) // threads, ENTRIES_OF_A_SHARE) if threads > 1 else np.inf
    shifts = np.array([max(int(part.nnz // most) - 1, 0).bit_length() for part in parts])
    stream = np.repeat(np.arange(len(parts)), 1 << shifts)
    share = np.concatenate([np.arange(1 << shift) for shift in shifts.tolist()])
    shift, n_bins = shifts[stream], np.array([part.shape[1] for part in parts])[stream]
    widths = offsets(((n_bins - 1 - share) >> shift) + 1)
    indptr, indices, data = map(Arrays.of, arrays)
    return Parts(indptr, indices, data, stream, share, shift), widths, copies[stream]


def _sizes(parts: Parts, widths: NDArray[np.int64], n: int, n_jobs: int) -> tuple[Any, Any, Any]:
    """Return the number of graphs of each bin of all streams, squared counts, and numbers of bins."""
    n_parts, n_entries = len(widths) - 1, int(parts.indices.lengths.sum())
    sizes = np.zeros(widths[-1], dtype=index_dtype(n_entries + APART * n_parts))
    squares, numbers = np.empty((n_parts, n)), np.empty((n_parts, 3), dtype=np.int64)
    run_pieces(count_all_bins, (parts, _popular_from(n), widths, sizes, squares, numbers), n_parts, n_jobs)
    return sizes, squares, numbers


def _by_bin(
    parts: Parts,
    copies: NDArray[np.int64],
    widths: NDArray[np.int64],
    sizes: NDArray[Any],
    numbers: NDArray[np.int64],
    diagonal: NDArray[np.float64],
    n_jobs: int,
) -> tuple[Popular, Bins]:
    """Return the bins of all streams side by side: popular ones, and others of at least two graphs.

    Counts are float32 if no sum exceeds its exact range: none exceeds the largest entry of the diagonal.
    """
    n, columns, firsts, places = len(diagonal), *map(offsets, numbers.T)
    entry = ENTRY if diagonal.max(initial=0.0) < EXACT_FLOAT32 else WIDE_ENTRY
    counts = np.zeros((columns[-1], n), dtype=entry["count"])
    nowhere = places[-1] + APART * np.arange(len(copies))  # places for entries of bins of one graph
    entries = np.empty(places[-1] + APART * len(copies), dtype=entry)
    bin_ptr = np.zeros(firsts[-1] + 1, dtype=sizes.dtype)
    bins = _popular_from(n), widths, sizes, columns, counts, places, firsts, bin_ptr[1:], entries, nowhere
    run_pieces(place_all_bins, (parts, *bins), len(copies), n_jobs)
    times = copies.astype(counts.dtype)
    popular = Popular(counts, times[:0] if (copies == 1).all() else np.repeat(times, numbers[:, 0]))
    return popular, Bins(bin_ptr, entries[: places[-1]], np.repeat(times, numbers[:, 1]))


def _share_of_copies(bins: Bins, n_jobs: int) -> float:
    """Return an estimate of the share of bins whose contents another bin has."""
    threads = threads_for(len(bins.entries) // ENTRIES_OF_A_STEP, n_jobs)
    runs = whole_runs(bins.bin_ptr, len(bins.entries) / stage_pieces(threads))
    signatures, numbers = np.empty(len(bins.multiplicity), np.uint64), np.zeros(len(runs) - 1, np.int64)
    work = bins.bin_ptr, bins.entries, runs, signatures, numbers
    run_pieces(sample_all_bins, work, len(numbers), threads)
    sample = [signatures[first : first + number] for first, number in zip(runs, numbers, strict=False)]
    return share_of_equals(np.concatenate([np.empty(0, np.uint64), *sample]))


def _filled(
    popular: Popular, rest: Rest, diagonal: NDArray[np.float64], length: int, n_jobs: int
) -> NDArray[np.float64]:
    """Return the matrix: products of popular bins, the other bins pair by pair, and the diagonal.

    Threads are those of this package, since BLAS threads spin for a while after a product and delay the next
    computation.
    """
    n, dtype = len(diagonal), popular.counts.dtype
    gram = np.empty((n, n))
    if n_jobs > 1:  # one number per page: threads that share new pages would clear them twice
        runs = row_runs(gram.shape, n_jobs)
        run_pieces(touch_all_rows, (gram, runs), len(runs) - 1, n_jobs)
    tiles = np.empty((n_jobs, length * n), dtype=dtype)
    is_weighted = len(popular.multiplicity) > 0
    rooms = np.empty((n_jobs, len(popular.counts) if is_weighted else 0, length), dtype=dtype)
    work = gemm_address(dtype), popular, rest, diagonal, length, tiles, rooms, gram
    with one_blas_thread():
        run_pieces(fill_tiles, work, -(-n // length), n_jobs)
    return gram


def _rows_of_a_tile(n: int, threads: int) -> int:
    """Return a power of two: several tiles for each thread, and no tile beyond a few megabytes."""
    most = ROWS_OF_A_TILE if threads == 1 else min(ROWS_OF_A_TILE, max(n // (4 * threads), LEAST_ROWS))
    length = min(most, MATRIX_IN_CACHE // max(n, 1))
    return max(power_of_two(length + 1) // 2, 8)


def _rest(bins: Bins, n: int, length: int, n_jobs: int) -> tuple[Rest, Any]:
    """Return the products of bins, or what blocks of rows need to add them; and what must stay alive.

    If the whole matrix fits the cache, bins are added in order, by each thread to a matrix of its own.
    Otherwise, blocks of rows visit the bins that they have entries in.
    """
    if n * n <= MATRIX_IN_CACHE or not len(bins.multiplicity):
        sums = _sums(bins, n, n_jobs)
        return _only_sums(sums, bins.multiplicity.dtype), sums
    shift = _shift(n, length)
    visits, bounds = _visits(bins, n, shift, n_jobs)
    weights = bins.multiplicity[:0]
    if (bins.multiplicity != 1).any():
        weights = np.repeat(bins.multiplicity, np.diff(bins.bin_ptr))
    return Rest(Arrays.of([], weights.dtype), visits, bounds, shift, weights, bins.entries), None


def _sums(bins: Bins, n: int, n_jobs: int) -> list[NDArray[Any]]:
    """Return flat matrices whose sum has the products of bins below its diagonal, for runs of bins."""
    n_entries = len(bins.entries)
    n_runs = min(threads_for(n_entries, n_jobs), MOST_MATRICES)
    runs = whole_runs(bins.bin_ptr, n_entries / n_runs)
    sums = np.zeros((len(runs) - 1, n, n), dtype=bins.multiplicity.dtype)
    if len(sums) == 1:  # the first kernel of a new installation does not wait for the compiler of stages
        add_bins(*bins, 0, len(bins.multiplicity), sums[0])
    else:
        run_pieces(add_all_bins, (*bins, runs, sums), len(sums), n_jobs)
    return list(sums.reshape(len(sums), n * n))


def _shift(n: int, length: int) -> int:
    """Return the binary logarithm of the rows of a block, a part of a tile that fits the cache."""
    return max(min(ENTRIES_IN_CACHE // n, length).bit_length() - 1, 3)


def _bin_runs(bins: Bins, n_jobs: int | None) -> NDArray[np.int64]:
    """Return bounds of runs of bins with about equal numbers of entries."""
    n_entries = len(bins.entries)
    return whole_runs(bins.bin_ptr, n_entries / pieces_for(n_entries, threads_for(n_entries, n_jobs)))


def _visits(bins: Bins, n: int, shift: int, n_jobs: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """For each block of rows, the bins with entries in it; and where the visits of each block begin."""
    runs = _bin_runs(bins, n_jobs)
    numbers = np.zeros((len(runs) - 1, ((n - 1) >> shift) + 1), dtype=np.int64)
    visits = np.empty(0, dtype=VISIT if bins.bin_ptr.dtype == np.int32 else LONG_VISIT)
    work = bins.bin_ptr, bins.entries, runs, shift
    run_pieces(list_all_visits, (*work, numbers, visits), len(numbers), n_jobs)
    bounds = offsets(numbers.sum(axis=0))
    numbers = bounds[:-1] + np.cumsum(numbers, axis=0) - numbers  # where the visits of a run in a block begin
    visits = np.empty(bounds[-1], dtype=visits.dtype)
    run_pieces(list_all_visits, (*work, numbers, visits), len(numbers), n_jobs)
    return visits, bounds


def share_of_equals(sample: NDArray[np.uint64]) -> float:
    """Return the share of duplicates among a sample of the signatures, an estimate of that of all bins."""
    return (len(sample) - len(np.unique(sample))) / max(len(sample), 1)


def _merged(bins: Bins, n_jobs: int) -> Bins:
    """Return the distinct bins in order, with multiplicities; threads take groups of signatures."""
    bin_ptr, entries, multiplicity = bins
    threads = threads_for(len(entries), n_jobs)
    signatures, is_kept = np.empty(len(multiplicity), np.uint64), np.empty(len(multiplicity), bool)
    runs = whole_runs(bin_ptr, len(entries) / stage_pieces(threads))
    run_pieces(sign_all_bins, (bin_ptr, entries, runs, signatures), len(runs) - 1, threads)
    n_groups = power_of_two(threads)
    work = bin_ptr, entries, signatures, n_groups, multiplicity, is_kept
    run_pieces(find_all_equals, work, n_groups, threads)
    kept = np.flatnonzero(is_kept)
    new_ptr = offsets(np.diff(bin_ptr)[kept]).astype(bin_ptr.dtype)
    copied = np.empty(new_ptr[-1], dtype=entries.dtype)
    runs = equal_work(new_ptr, stage_pieces(threads))
    run_pieces(copy_all_bins, (bin_ptr, entries, kept, runs, new_ptr, copied), len(runs) - 1, threads)
    return Bins(new_ptr, copied, multiplicity[kept])


def rectangular_gram(left: csr_array, right: csr_array, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return X Y^T for counts with the same columns, exact."""
    gram = np.zeros((left.shape[0], right.shape[0]))
    add_sparse(left, csc_array(right), False, False, gram, n_jobs)
    return gram


def add_sparse(
    left: csr_array, right: csc_array, lower: bool, minimum: bool, gram: Any, n_jobs: int | None
) -> None:
    """Add X Y^T (or the sums of smaller counts) to ``gram``, over runs of rows, in threads."""
    right.sort_indices()
    arrays = [array for m in (left, right) for array in (m.indptr, m.indices, m.data)]
    threads = thread_count(n_jobs)
    runs = np.linspace(0, left.shape[0], stage_pieces(threads) + 1).astype(np.int64)
    run_pieces(add_all_products, (*arrays, lower, minimum, runs, gram), len(runs) - 1, threads)


def self_products(counts: csr_array) -> NDArray[np.float64]:
    """Return <phi, phi> of each graph."""
    products = np.empty(counts.shape[0])
    sum_rows(counts.indptr, counts.data, True, products)
    return products


def sums_of_counts(counts: csr_array) -> NDArray[np.float64]:
    """Return the number of counted items of each graph."""
    sums = np.empty(counts.shape[0])
    sum_rows(counts.indptr, counts.data, False, sums)
    return sums


def normalized(
    kernel: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the kernel divided by the square roots of the self-similarities; 0 for graphs without nodes.

    The result is written into ``kernel``.
    """
    factors = inverse_length(left), inverse_length(right)
    runs = row_runs(kernel.shape, n_jobs)
    run_pieces(scale_all_rows, (kernel, *factors, runs), len(runs) - 1, n_jobs)
    return kernel


def add_matrix(total: NDArray[np.float64], matrix: NDArray[np.float64], n_jobs: int | None) -> None:
    """Add a matrix to ``total`` in place, in threads."""
    by_rows(lambda rows: np.add(total[rows], matrix[rows], out=total[rows]), total.shape, n_jobs)


def inverse_length(self_similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / sqrt(k(x, x)); 0 where k(x, x) is 0 or, by rounding, negative."""
    length = np.sqrt(np.maximum(self_similarity, 0.0))
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
