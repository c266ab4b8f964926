"""Products of counts, <Phi, Phi>, by bin popularity; and normalization by self-similarities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from propkernels._utils.arrays import index_dtype, offsets, power_of_two
from propkernels._utils.parallel import (
    active_device,
    by_rows,
    equal_work,
    one_blas_thread,
    pieces_for,
    run_threads,
    thread_count,
    threads_for,
    whole_runs,
)
from propkernels.gram.many_streams import EXACT_FLOAT32, MANY_STREAMS, sum_streams
from propkernels.gram.products_compiled import (
    ENTRY,
    LONG_VISIT,
    VISIT,
    WIDE_ENTRY,
    add_bins,
    add_products,
    add_visits,
    copy_bins,
    count_bins,
    find_equals,
    list_visits,
    place_bins,
    sample_bins,
    scale_block,
    sign_bins,
    sum_rows,
    touch_rows,
    write_rows,
)

POPULAR = 1 / 8  # share of graphs above which a bin is cheaper in a dense product (measured)
WORTH_MERGING = 0.3  # share of duplicate bins above which merging is faster (measured)
ENTRIES_IN_CACHE = 2**19  # of the rows of a block, which then fit the L2 cache
MATRIX_IN_CACHE = 2**21  # entries of a matrix to which bins are added in any order (measured)
ROWS_OF_A_TILE = 256  # most rows of a product, fewer where threads share them
LEAST_ROWS = 32  # of a product that threads share: BLAS copies the other factor for every product
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
        shares, times = _shares(batch, times, threads)
        sizes, squares, numbers = _sizes(shares, threads)
        diagonal = times @ squares
        popular, rest = _by_bin(shares, times, sizes, numbers, diagonal, threads)
        if _share_of_copies(rest, threads) > WORTH_MERGING:
            rest = _merged(rest, threads)
        threads = max(threads, threads_for(popular.counts.size * n // PRODUCTS_OF_A_STEP, n_jobs))
        length = _rows_of_a_tile(n, threads)
        gram = _filled(popular, _adder(rest, n, length, threads), diagonal, length, threads)
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
    nothing = Popular(np.empty((0, n), dtype=np.result_type(*sums)), None)
    return _filled(nothing, _sum_adder(sums), diagonal, _rows_of_a_tile(n, threads), threads)


def fits_one_product(parts: Sequence[csr_array]) -> bool:
    """Whether ``square_gram`` needs a single batch, and so no second matrix."""
    return sum(part.nnz for part in {id(part): part for part in parts}.values()) <= ENTRIES_IN_MEMORY


def _distinct(parts: Sequence[csr_array]) -> tuple[list[csr_array], NDArray[np.int64]]:
    """Return the distinct count matrices and their multiplicities."""
    shared: dict[int, list[csr_array]] = {}
    for part in parts:
        shared.setdefault(id(part), []).append(part)
    return [same[0] for same in shared.values()], np.array([len(same) for same in shared.values()])


Adder = Callable[[int, int, NDArray[Any]], None]


class Bins(NamedTuple):
    """Counts by bin: bin b has the entries bin_ptr[b] .. bin_ptr[b + 1] - 1 and a multiplicity."""

    bin_ptr: NDArray[Any]
    entries: NDArray[Any]
    multiplicity: NDArray[Any]


class Popular(NamedTuple):
    """Counts of popular bins, (bins, graphs), and their multiplicities; None: all 1.

    Bins are rows, so that threads that write the bins of different streams share no cache lines.
    """

    counts: NDArray[Any]
    multiplicity: NDArray[Any] | None

    def product(self, first: int, last: int) -> NDArray[Any]:
        """Return the products of the graphs first .. last - 1 with all graphs up to the last one."""
        left = self.counts[:, first:last]
        if self.multiplicity is not None:
            left = left * self.multiplicity[:, None]
        return left.T @ self.counts[:, :last]


def _popular_from(n: int) -> int:
    """Return the number of graphs from which a bin is popular."""
    return max(int(POPULAR * n), 1) + 1


class Share(NamedTuple):
    """One of 2^shift bins of a stream: those whose remainder is ``share``."""

    counts: csr_array
    share: int
    shift: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arguments of compiled functions."""
        rows = self.counts.indptr, self.counts.indices, self.counts.data
        return *rows, _popular_from(self.counts.shape[0]), self.share, self.shift

    @property
    def n_bins(self) -> int:
        """Number of its bins."""
        return int((self.counts.shape[1] - 1 - self.share) >> self.shift) + 1


def _shares(
    parts: Sequence[csr_array], copies: NDArray[np.int64], threads: int
) -> tuple[list[Share], NDArray[np.int64]]:
    """Return the bins of streams, and how often they count; threads share those of a large stream."""
    most = max(sum(part.nnz for part in parts) // threads, ENTRIES_OF_A_SHARE) if threads > 1 else np.inf
    shifts = [max(int(part.nnz // most) - 1, 0).bit_length() for part in parts]
    shares = [
        Share(part, share, shift)
        for part, shift in zip(parts, shifts, strict=True)
        for share in range(1 << shift)
    ]
    return shares, np.repeat(copies, [1 << shift for shift in shifts])


def _sizes(parts: Sequence[Share], n_jobs: int) -> tuple[list[Any], NDArray[Any], NDArray[np.int64]]:
    """Return the numbers of graphs of the bins of each share, squared counts, and numbers of bins."""
    n, n_entries = parts[0].counts.shape[0], sum(part.counts.nnz for part in parts if part.share == 0)
    widths = offsets([part.n_bins for part in parts])
    all_sizes = np.zeros(widths[-1], dtype=index_dtype(n_entries + APART * len(parts)))
    sizes = [all_sizes[a:b] for a, b in pairwise(widths)]  # one large array has fewer pages
    squares, numbers = np.empty((len(parts), n)), np.empty((len(parts), 3), dtype=np.int64)

    def count(k: int) -> None:
        count_bins(*parts[k].arrays, sizes[k], squares[k], numbers[k])

    run_threads(count, range(len(parts)), n_jobs)
    return sizes, squares, numbers


def _by_bin(
    parts: Sequence[Share],
    copies: NDArray[np.int64],
    sizes: Sequence[Any],
    numbers: NDArray[np.int64],
    diagonal: NDArray[np.float64],
    n_jobs: int,
) -> tuple[Popular, Bins]:
    """Return the bins of all streams side by side: popular ones, and others of at least two graphs.

    Counts are float32 if no sum exceeds its exact range: none exceeds the largest entry of the diagonal.
    """
    n, columns, firsts, places = parts[0].counts.shape[0], *map(offsets, numbers.T)
    entry = ENTRY if diagonal.max(initial=0.0) < EXACT_FLOAT32 else WIDE_ENTRY
    counts = np.zeros((columns[-1], n), dtype=entry["count"])
    nowhere = places[-1] + APART * np.arange(len(parts))  # places for entries of bins of one graph
    entries = np.empty(places[-1] + APART * len(parts), dtype=entry)
    bin_ptr = np.zeros(firsts[-1] + 1, dtype=sizes[0].dtype)

    def place(k: int) -> None:
        ends = bin_ptr[firsts[k] + 1 :]
        to = counts, places[k], ends[: numbers[k, 1]], entries, nowhere[k]
        place_bins(*parts[k].arrays, sizes[k], columns[k], *to)

    run_threads(place, range(len(parts)), n_jobs)
    times = copies.astype(counts.dtype)
    popular = Popular(counts, None if (copies == 1).all() else np.repeat(times, numbers[:, 0]))
    return popular, Bins(bin_ptr, entries[: places[-1]], np.repeat(times, numbers[:, 1]))


def _share_of_copies(bins: Bins, n_jobs: int) -> float:
    """Return an estimate of the share of bins whose contents another bin has."""
    threads = threads_for(len(bins.entries) // ENTRIES_OF_A_STEP, n_jobs)
    runs = list(pairwise(whole_runs(bins.bin_ptr, len(bins.entries) / threads).tolist()))

    def sample(run: tuple[int, int]) -> NDArray[np.uint64]:
        signatures = np.empty(run[1] - run[0], dtype=np.uint64)
        return signatures[: sample_bins(bins.bin_ptr, bins.entries, *run, signatures)]

    return share_of_equals(np.concatenate([np.empty(0, np.uint64), *run_threads(sample, runs, threads)]))


def _filled(
    popular: Popular, add_rest: Adder, diagonal: NDArray[np.float64], length: int, n_jobs: int
) -> NDArray[np.float64]:
    """Return the matrix: products of popular bins, the other bins pair by pair, and the diagonal.

    A tile of ``length`` rows is computed and written to its rows and columns while it is in the cache.
    Threads are those of this package, since BLAS threads spin for a while after a product and delay the next
    computation.
    """
    n = len(diagonal)
    gram = np.empty((n, n))
    if n_jobs > 1:  # one number per page: threads that share new pages would clear them twice
        by_rows(lambda rows: touch_rows(gram, rows.start, rows.stop), gram.shape, n_jobs)

    def one_tile(first: int) -> None:
        last = min(first + length, n)
        tile = popular.product(first, last)
        add_rest(first, last, tile)
        write_rows(tile, first, diagonal, gram)

    with one_blas_thread():
        run_threads(one_tile, range(0, n, length)[::-1], n_jobs)  # longest rows first
    return gram


def _rows_of_a_tile(n: int, threads: int) -> int:
    """Return a power of two: several tiles for each thread, and no tile beyond a few megabytes."""
    most = ROWS_OF_A_TILE if threads == 1 else min(ROWS_OF_A_TILE, max(n // (4 * threads), LEAST_ROWS))
    length = min(most, MATRIX_IN_CACHE // max(n, 1))
    return max(power_of_two(length + 1) // 2, 8)


def _adder(bins: Bins, n: int, length: int, n_jobs: int) -> Adder:
    """Return a function that adds the products of bins to a tile, the rows first .. last - 1 of a matrix.

    If the whole matrix fits the cache, bins are added in order, by each thread to a matrix of its own.
    Otherwise, blocks of rows visit the bins that they have entries in.
    """
    if not len(bins.multiplicity):
        return lambda first, last, tile: None
    if n * n <= MATRIX_IN_CACHE:
        return _sum_adder(list(_sums(bins, n, n_jobs)))
    shift = _shift(n, length)
    visits, bounds = _visits(bins, n, shift, n_jobs)
    weights = np.empty(0, dtype=bins.multiplicity.dtype)
    if (bins.multiplicity != 1).any():
        weights = np.repeat(bins.multiplicity, np.diff(bins.bin_ptr))

    def add(first: int, last: int, tile: NDArray[Any]) -> None:
        blocks = bounds[first >> shift], bounds[((last - 1) >> shift) + 1]
        add_visits(visits, *blocks, weights, bins.entries, first, tile)

    return add


def _sum_adder(sums: Sequence[NDArray[Any]]) -> Adder:
    """Return a function that adds several matrices to a tile."""

    def add_sums(first: int, last: int, tile: NDArray[Any]) -> None:
        for matrix in sums:
            tile += matrix[first:last, :last]

    return add_sums


def _sums(bins: Bins, n: int, n_jobs: int) -> NDArray[Any]:
    """Return matrices whose sum has the products of bins below its diagonal, one per thread."""
    n_entries = len(bins.entries)
    runs = whole_runs(bins.bin_ptr, n_entries / threads_for(n_entries, n_jobs)).tolist()
    sums = np.zeros((len(runs) - 1, n, n), dtype=bins.multiplicity.dtype)

    def add(k: int) -> None:
        add_bins(*bins, runs[k], runs[k + 1], sums[k])

    run_threads(add, range(len(sums)), n_jobs)
    return sums


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
    visit = VISIT if bins.bin_ptr.dtype == np.int32 else LONG_VISIT

    def one_run(run: int) -> None:
        list_visits(bins.bin_ptr, bins.entries, runs[run], runs[run + 1], shift, numbers[run], visits)

    visits = np.empty(0, dtype=visit)
    run_threads(one_run, range(len(runs) - 1), n_jobs)
    bounds = offsets(numbers.sum(axis=0))
    numbers = bounds[:-1] + np.cumsum(numbers, axis=0) - numbers  # where the visits of a run in a block begin
    visits = np.empty(bounds[-1], dtype=visit)
    run_threads(one_run, range(len(runs) - 1), n_jobs)
    return visits, bounds


def _row_runs(n: int, n_jobs: int | None) -> NDArray[np.int64]:
    """Return bounds of runs of rows, 16 per thread, since their cost differs."""
    return np.linspace(0, n, 16 * thread_count(n_jobs) + 1).astype(np.int64)


def share_of_equals(sample: NDArray[np.uint64]) -> float:
    """Return the share of duplicates among a sample of the signatures, an estimate of that of all bins."""
    return (len(sample) - len(np.unique(sample))) / max(len(sample), 1)


def _merged(bins: Bins, n_jobs: int) -> Bins:
    """Return the distinct bins in order, with multiplicities; threads take groups of signatures."""
    bin_ptr, entries, multiplicity = bins
    threads = threads_for(len(entries), n_jobs)
    signatures, is_kept = np.empty(len(multiplicity), np.uint64), np.empty(len(multiplicity), bool)
    runs = list(pairwise(_bin_runs(bins, n_jobs).tolist()))
    run_threads(lambda run: sign_bins(bin_ptr, entries, *run, signatures), runs, threads)
    n_groups = power_of_two(threads)

    def one_group(group: int) -> None:
        find_equals(bin_ptr, entries, signatures, group, n_groups, multiplicity, is_kept)

    run_threads(one_group, range(n_groups), threads)
    kept = np.flatnonzero(is_kept)
    new_ptr = offsets(np.diff(bin_ptr)[kept]).astype(bin_ptr.dtype)
    copied = np.empty(new_ptr[-1], dtype=entries.dtype)

    def one_run(run: tuple[int, int]) -> None:
        copy_bins(bin_ptr, entries, kept, *run, new_ptr, copied)

    bounds = [0, len(kept)] if threads == 1 else equal_work(new_ptr, 4 * threads).tolist()
    run_threads(one_run, list(pairwise(bounds)), threads)
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
    bounds = _row_runs(left.shape[0], n_jobs)

    def one_run(run: int) -> None:
        add_products(*arrays, lower, minimum, bounds[run], bounds[run + 1], gram)

    run_threads(one_run, range(len(bounds) - 1), n_jobs)


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
    by_rows(lambda rows: scale_block(kernel, *factors, rows.start, rows.stop), kernel.shape, n_jobs)
    return kernel


def add_matrix(total: NDArray[np.float64], matrix: NDArray[np.float64], n_jobs: int | None) -> None:
    """Add a matrix to ``total`` in place, in threads."""
    by_rows(lambda rows: np.add(total[rows], matrix[rows], out=total[rows]), total.shape, n_jobs)


def inverse_length(self_similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / sqrt(k(x, x)); 0 where k(x, x) is 0 or, by rounding, negative."""
    length = np.sqrt(np.maximum(self_similarity, 0.0))
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
