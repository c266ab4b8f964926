"""Products of counts, <Phi, Phi>, by bin popularity; and normalization by self-similarities."""

from __future__ import annotations

from collections.abc import Sequence
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
from propkernels.gram.products_compiled import (
    ENTRY,
    LONG_VISIT,
    VISIT,
    add_bin_squares,
    add_pairs,
    add_products,
    add_squares,
    copy_bins,
    fill_dense,
    find_equals,
    list_visits,
    mirror,
    scale_block,
    sign_bins,
    split_bins,
)

Piece = tuple[NDArray[Any], NDArray[Any], int]  # bin_ptr, entries, number of popular bins
POPULAR = 1 / 6  # share of graphs above which a bin is cheaper in a dense product: an estimate
EXACT_FLOAT32 = 2**24
ROWS_OF_A_PRODUCT = 256
ROWS_OF_A_TILE = 64  # of products and copies by several threads, whose rows differ in length
WORTH_MERGING = 0.3  # share of duplicate bins above which merging is faster (measured)
ROWS_IN_CACHE = 2**18  # entries of the rows of a block, which then fit the L2 cache (measured)
BLOCKS = 16  # smallest number of blocks, for the threads
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
    lengths = offsets([part.nnz for part in parts])
    total: NDArray[np.float64] | None = None
    for a, b in pairwise(whole_runs(lengths, ENTRIES_IN_MEMORY).tolist()):
        n, batch, times = parts[0].shape[0], parts[a:b], copies[a:b]
        threads = threads_for(n * n // 4 + int(lengths[b] - lengths[a]), n_jobs)
        pieces, squares = _by_bin(batch, threads)
        popular, rest = _stack(pieces, times, True, threads), _stack(pieces, times, False, threads)
        gram = dense_product(popular, n, _largest_square(popular, n, threads) < EXACT_FLOAT32, threads)
        if len(rest.multiplicity):
            signatures, share = _signed(rest, threads)
            rest = _merged(rest, signatures, threads) if share > WORTH_MERGING else rest
            _add_pairs(rest, *_visits(rest, n, threads), gram, threads)
        gram.flat[:: n + 1] += times @ squares
        mirrored(gram, threads)
        if total is None:
            total = gram
        else:
            add_matrix(total, gram, n_jobs)
    assert total is not None
    return total


def fits_one_product(parts: Sequence[csr_array]) -> bool:
    """Whether ``square_gram`` needs a single batch, and so no second matrix."""
    return sum(part.nnz for part in {id(part): part for part in parts}.values()) <= ENTRIES_IN_MEMORY


def _by_bin(parts: Sequence[csr_array], n_jobs: int) -> tuple[list[Piece], NDArray[np.float64]]:
    """Return the counts of each stream by bin, popular bins first, and squares of bins of one graph."""
    n = parts[0].shape[0]
    popular_from = max(int(POPULAR * n), 1) + 1
    squares = np.zeros((len(parts), n))
    sizes, widths = offsets([part.nnz for part in parts]), offsets([part.shape[1] + 1 for part in parts])
    all_entries = np.empty(sizes[-1], dtype=ENTRY)  # one large array for all streams has fewer pages
    all_fill, all_ptr = np.zeros(widths[-1], dtype=np.int32), np.zeros(widths[-1], dtype=np.int64)

    def split(k: int) -> Piece:
        part, bins = parts[k], slice(widths[k], widths[k + 1])
        bin_ptr, entries = all_ptr[bins], all_entries[sizes[k] : sizes[k + 1]]
        rows = (part.indptr, part.indices, part.data)
        kept, popular = split_bins(*rows, popular_from, squares[k], all_fill[bins][:-1], bin_ptr, entries)
        return bin_ptr[: kept + 1], entries[: bin_ptr[kept]], popular

    return run_threads(split, range(len(parts)), n_jobs), squares


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
    multiplicity: NDArray[np.int64]


def _stack(pieces: Sequence[Piece], copies: NDArray[np.int64], popular: bool, n_jobs: int | None) -> Bins:
    """Return the popular (or other) bins of all streams side by side."""
    chosen = [_some_bins(piece, popular) for piece in pieces]
    firsts, places = (offsets([len(some) for some in part]) for part in zip(*chosen, strict=True))
    entries = np.empty(places[-1], dtype=ENTRY)
    bin_ptr = np.zeros(firsts[-1] + 1, dtype=index_dtype(len(entries)))

    def place(k: int) -> None:
        ends, some = chosen[k]
        bin_ptr[firsts[k] + 1 : firsts[k + 1] + 1] = ends + places[k]
        entries[places[k] : places[k + 1]] = some

    run_threads(place, range(len(pieces)), n_jobs)
    return Bins(bin_ptr, entries, np.repeat(copies, np.diff(firsts)))


def _some_bins(piece: Piece, popular: bool) -> tuple[Any, Any]:
    """Return the ends and entries of the popular (or other) bins of a stream."""
    bin_ptr, entries, n_popular = piece
    chosen = bin_ptr[: n_popular + 1] if popular else bin_ptr[n_popular:]
    return chosen[1:] - chosen[0], entries[chosen[0] : chosen[-1]]


def _signed(bins: Bins, n_jobs: int | None) -> tuple[NDArray[np.uint64], float]:
    """Return signatures of the contents of bins, and an estimate of the share of equal bins."""
    signatures = np.empty(len(bins.multiplicity), dtype=np.uint64)
    runs = _bin_runs(bins, n_jobs)

    def sign(run: int) -> NDArray[np.uint64]:
        """Return those signatures of a run that are divisible by 64."""
        sign_bins(bins.bin_ptr, bins.entries, runs[run], runs[run + 1], signatures)
        some = signatures[runs[run] : runs[run + 1]]
        return some[some % np.uint64(64) == 0]

    return signatures, share_of_equals(np.concatenate(run_threads(sign, range(len(runs) - 1), n_jobs)))


def _add_pairs(
    bins: Bins,
    visits: NDArray[Any],
    bounds: NDArray[np.int64],
    gram: NDArray[np.float64],
    n_jobs: int | None,
) -> None:
    """Add the products of bins that few graphs have, pair by pair, over blocks of rows, in threads."""
    weights = np.empty(0)
    if (bins.multiplicity != 1).any():
        weights = np.repeat(bins.multiplicity, np.diff(bins.bin_ptr)).astype(np.float64)

    def one_block(block: int) -> None:
        add_pairs(visits, bounds[block], bounds[block + 1], weights, bins.entries, gram)

    run_threads(one_block, range(len(bounds) - 1)[::-1], n_jobs)  # longest rows first


def _bin_runs(bins: Bins, n_jobs: int | None) -> NDArray[np.int64]:
    """Return bounds of runs of bins with about equal numbers of entries."""
    n_entries = len(bins.entries)
    return whole_runs(bins.bin_ptr, n_entries / pieces_for(n_entries, threads_for(n_entries, n_jobs)))


def _visits(bins: Bins, n: int, n_jobs: int | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """For each block of rows, the bins with entries in it; and where the visits of each block begin."""
    block = max(min(ROWS_IN_CACHE // n, n // max(BLOCKS, 4 * thread_count(n_jobs))), 1)
    runs = _bin_runs(bins, n_jobs)
    numbers = np.zeros((len(runs) - 1, -(-n // block)), dtype=np.int64)
    visit = VISIT if bins.bin_ptr.dtype == np.int32 else LONG_VISIT

    def one_run(run: int) -> None:
        list_visits(bins.bin_ptr, bins.entries, runs[run], runs[run + 1], block, numbers[run], visits)

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


def _merged(bins: Bins, signatures: NDArray[np.uint64], n_jobs: int | None) -> Bins:
    """Return the distinct bins in order, with multiplicities; threads take groups of signatures."""
    bin_ptr, entries, multiplicity = bins
    is_kept = np.empty(len(signatures), dtype=bool)
    threads = threads_for(len(entries), n_jobs)
    n_groups = power_of_two(threads)

    def one_group(group: int) -> None:
        find_equals(bin_ptr, entries, signatures, group, n_groups, multiplicity, is_kept)

    run_threads(one_group, range(n_groups), threads)
    kept = np.flatnonzero(is_kept)
    new_ptr = offsets(np.diff(bin_ptr)[kept]).astype(bin_ptr.dtype)
    copied = np.empty(new_ptr[-1], dtype=ENTRY)

    def one_run(run: tuple[int, int]) -> None:
        copy_bins(bin_ptr, entries, kept, *run, new_ptr, copied)

    bounds = [0, len(kept)] if threads == 1 else equal_work(new_ptr, 4 * threads).tolist()
    run_threads(one_run, list(pairwise(bounds)), threads)
    return Bins(new_ptr, copied, multiplicity[kept])


def dense_product(bins: Bins, n: int, is_exact: bool, n_jobs: int = 1) -> NDArray[np.float64]:
    """Return X diag(m) X^T with a valid lower triangle; in float32 if every sum ``is_exact``.

    Each product is a run of rows, converted to float64 while it is in the cache. Threads are those of this
    package, since BLAS threads spin for a while after a product and delay the next computation.
    """
    if not len(bins.multiplicity):
        return np.zeros((n, n))
    runs = list(pairwise(_bin_runs(bins, n_jobs).tolist()))
    right = np.zeros((n, len(bins.multiplicity)), np.float32 if is_exact else np.float64)
    run_threads(lambda run: fill_dense(bins.bin_ptr, bins.entries, *run, right), runs, n_jobs)
    left = right if (bins.multiplicity == 1).all() else right * bins.multiplicity.astype(right.dtype)
    gram = np.empty((n, n))
    length = ROWS_OF_A_PRODUCT if n_jobs == 1 else ROWS_OF_A_TILE

    def one_run(start: int) -> None:
        rows = slice(start, start + length)
        gram[rows, : rows.stop] = left[rows] @ right[: rows.stop].T

    with one_blas_thread():
        run_threads(one_run, range(0, n, length)[::-1], n_jobs)  # longest rows first
    return gram


def _largest_square(bins: Bins, n: int, n_jobs: int) -> float:
    """Return the largest sum of squared counts of a graph: sums of whole numbers, exact in any order."""
    runs = list(pairwise(_bin_runs(bins, n_jobs).tolist()))
    squares = np.zeros((len(runs), n))

    def add(run: int) -> None:
        add_bin_squares(bins.bin_ptr, bins.entries, bins.multiplicity, *runs[run], squares[run])

    run_threads(add, range(len(runs)), n_jobs)
    return float(squares.sum(axis=0).max(initial=0))


def mirrored(gram: NDArray[np.float64], n_jobs: int | None) -> NDArray[np.float64]:
    """Copy the lower triangle to the upper one in place, in threads; return the matrix."""
    n = len(gram)

    def one_run(first: int) -> None:
        mirror(gram, first, min(first + ROWS_OF_A_TILE, n))

    run_threads(one_run, range(0, n, ROWS_OF_A_TILE)[::-1], n_jobs)  # longest rows first
    return gram


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
    products = np.zeros(counts.shape[0])
    add_squares(counts.indptr, counts.data, products)
    return products


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
