"""Feature columns: one per bin of a vocabulary, or hashed to a fixed width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.addresses import Arrays, alike
from propkernels._utils.arrays import index_dtype, offsets, rows_of
from propkernels._utils.parallel import run_pieces, run_threads, stage_pieces, threads_for, whole_runs
from propkernels._utils.randomness import mix
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.counts.counters import StreamCounts

if TYPE_CHECKING:
    from propkernels.counts.counts_compiled import Summed

ITEMS_OF_A_PIECE = 2**18  # entries of a piece of work


def join_streams(
    streams: Sequence[StreamCounts],
    n_bins: Sequence[int] | None = None,
    scales: Sequence[float] | None = None,
    n_jobs: int | None = None,
) -> csr_array:
    """Return the count matrices of streams side by side, every row sorted by column.

    Parameters
    ----------
    streams : sequence of StreamCounts
    n_bins : sequence of int, optional
        Number of bins of each stream to keep; drops bins not seen in fit.
    scales : sequence of float, optional
        Factor of the counts of each stream.
    n_jobs : int or None
    """
    from propkernels.counts.counts_compiled import count_kept, place_stream

    n, parts = streams[0].counts.shape[0], [stream.counts for stream in streams]
    widths = [part.shape[1] for part in parts] if n_bins is None else [int(width) for width in n_bins]
    firsts, factors = offsets(widths), np.ones(len(parts)) if scales is None else scales
    lengths = np.zeros(n, dtype=np.int64)
    for part, width in zip(parts, widths, strict=True):
        count_kept(part.indptr, part.indices, width, lengths)
    ends = offsets(lengths)
    index = index_dtype(int(ends[-1]), int(firsts[-1]))
    indices, data = np.empty(ends[-1], dtype=index), np.empty(ends[-1])
    bounds = np.linspace(0, n, threads_for(int(ends[-1]), n_jobs) + 1).astype(np.int64)

    def one_run(run: int) -> None:
        fill = ends[:-1].copy()
        for part, width, first, factor in zip(parts, widths, firsts[:-1], factors, strict=True):
            arrays = (part.indptr, part.indices, part.data)
            place_stream(*arrays, width, first, factor, bounds[run], bounds[run + 1], fill, indices, data)

    run_threads(one_run, range(len(bounds) - 1), n_jobs)
    return rows_of(data, indices, ends.astype(index), (n, int(firsts[-1])))


class Entries(NamedTuple):
    """Entries of all rows in streams with the same offsets of rows.

    Attributes
    ----------
    indptr : ndarray, (rows + 1,)
    columns : ndarray, (streams, entries)
        Hashed columns; -1: none.
    values : ndarray, (entries,)
        Values in each of the streams; empty: all 1.
    """

    indptr: NDArray[Any]
    columns: NDArray[Any]
    values: NDArray[np.float64]


def hashed_columns(streams: Sequence[StreamCounts], n_features: int, n_jobs: int | None = None) -> csr_array:
    """Return features of a fixed width: (iteration, stream, code) of a bin hashes to its column.

    Counts of bins in the same column are summed, so dot products can only grow; with many more columns
    than bins, collisions are rare.
    """

    def entries(number: int) -> Entries:
        (t, h), stream = numbers[number], streams[number]
        column = hashed_column(t, h, stream.codes, n_features).astype(_column_dtype(n_features))
        return Entries(stream.counts.indptr, column[stream.counts.indices][None, :], stream.counts.data)

    numbers = numbered(streams)
    return sum_rows(run_threads(entries, range(len(streams)), n_jobs), n_features, 1.0, n_jobs)


def hashed_codes(
    blocks: Iterable[CodeStreams], ptr: NDArray[np.int64], n_features: int, n_jobs: int | None = None
) -> csr_array:
    """Return the ``hashed_columns`` of the counts of codes, without numbering bins.

    Parameters
    ----------
    blocks : iterable of CodeStreams
        Streams, block by block; counts are multiplied by the square root of their weight.
    ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' items.
    n_features : int
    n_jobs : int or None
    """
    columns: list[NDArray[Any]] = []
    scales: list[float] = []
    seen: dict[int, int] = {}
    for block in blocks:
        made = _block_columns(block, n_features, seen, n_jobs)
        for scale, run in groupby(range(len(made)), np.sqrt(block.weights).__getitem__):
            some = list(run)
            columns.append(made[some[0] : some[-1] + 1])
            scales.append(float(scale))
    if len(set(scales)) == 1:  # counts are summed as integers
        entries = [Entries(ptr, some, np.empty(0)) for some in columns]
        return sum_rows(entries, n_features, scales[0], n_jobs)
    values = {scale: np.full(ptr[-1], scale) for scale in set(scales)}
    entries = [Entries(ptr, some, values[scale]) for some, scale in zip(columns, scales, strict=True)]
    return sum_rows(entries, n_features, 1.0, n_jobs)


def _block_columns(
    block: CodeStreams, n_features: int, seen: dict[int, int], n_jobs: int | None
) -> NDArray[Any]:
    """Return the columns of all items of a block, one row per stream; ``seen`` as in ``number_within``."""
    from propkernels.counts.counts_compiled import hash_to_columns

    n_streams, n = len(block.iterations), block.codes.shape[1]
    columns = np.empty((n_streams, n), dtype=_column_dtype(n_features))
    words = mix(block.iterations, np.array(number_within(block.iterations, seen), dtype=np.int64))
    cuts = np.linspace(0, n, max(1, -(-n // ITEMS_OF_A_PIECE)) + 1).astype(np.int64)
    salts = np.full(n_streams, NO_BIN) if block.salts is None else block.salts
    work = block.codes, block.rows, salts, cuts, words, np.uint64(n_features), NO_BIN, columns
    run_pieces(hash_to_columns, work, n_streams * (len(cuts) - 1), threads_for(columns.size, n_jobs))
    return columns


def sum_rows(entries: Sequence[Entries], n_features: int, factor: float, n_jobs: int | None) -> csr_array:
    """Return the sum of all entries, times a factor, as one matrix with sorted rows.

    Work is cut into pieces of about equal numbers of entries: runs of rows, or ranges of columns of a long
    row. Concatenated in order, their entries are the matrix.
    """
    from propkernels.counts.counts_compiled import Sources, place_pieces, size_pieces, sum_pieces

    n = len(entries[0].indptr) - 1
    ptr = np.zeros(n + 1, dtype=np.int64)
    for one in entries:
        ptr += one.indptr.astype(np.int64) * len(one.columns)
    threads = threads_for(int(ptr[-1] - ptr[0]), n_jobs)
    pieces = _pieces(ptr, n_features, threads)
    flat = ((one.indptr, one.columns.ravel(), one.values) for one in entries)
    kept = [alike(arrays) for arrays in zip(*flat, strict=True)]
    indptr, columns, values = map(Arrays.of, kept)
    sources = Sources(indptr, columns, np.array([len(e.columns) for e in entries]), values)
    sizes, filled = np.zeros((2, len(pieces)), dtype=np.int64)
    run_pieces(size_pieces, (sources, pieces, ptr, n_features, sizes), len(pieces), threads)
    summed = _room(entries, pieces, sizes, ptr, threads)
    n_digits = -(-int(n_features - 1).bit_length() // 8)
    run_pieces(sum_pieces, (sources, pieces, ptr, n_digits, summed, filled), len(pieces), threads)
    lengths = np.zeros(n, dtype=np.int64)
    for (first, last, _, _), a, b in zip(pieces.tolist(), summed.rows, summed.rows[1:], strict=False):
        lengths[first:last] += summed.lengths[a:b]
    ends, index = offsets(lengths), index_dtype(int(lengths.sum()), n_features)
    indices, data = np.empty(ends[-1], dtype=index), np.empty(ends[-1])
    work = summed.places, summed.columns, summed.sums, offsets(filled), factor, indices, data
    run_pieces(place_pieces, work, len(pieces), threads)
    return rows_of(data, indices, ends.astype(index), (n, n_features))


def _pieces(ptr: NDArray[np.int64], n_features: int, threads: int) -> NDArray[np.int64]:
    """Return pieces in the order of their entries: rows first .. last - 1, columns low .. high - 1.

    A row that is longer than a piece is cut by columns.
    """
    n_items = int(ptr[-1])
    size = max(min(n_items // stage_pieces(threads), ITEMS_OF_A_PIECE), 2**14)
    pieces = []
    for first, last in pairwise(whole_runs(ptr, size).tolist()):
        n_ranges = 1
        if threads > 1 and last == first + 1:
            n_ranges = max(1, min(-(-int(ptr[last] - ptr[first]) // size), n_features, 4 * threads))
        cuts = [n_features * k // n_ranges for k in range(n_ranges + 1)]
        pieces += [(first, last, low, high) for low, high in pairwise(cuts)]
    return np.array(pieces, dtype=np.int64).reshape(-1, 4)


def _room(
    entries: Sequence[Entries],
    pieces: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ptr: NDArray[np.int64],
    threads: int,
) -> Summed:
    """Return room for the entries of all pieces: one array, whose pages are fewer than those of many."""
    from propkernels.counts.counts_compiled import APART, Summed

    kind, is_weighted = entries[0].columns.dtype, len(entries[0].values) > 0
    places, rows = offsets(sizes), offsets(pieces[:, 1] - pieces[:, 0])
    longest = int(np.diff(ptr).max(initial=0)) + APART
    lengths, starts, ends = np.zeros((3, rows[-1]), dtype=np.int64)
    others = np.empty((threads, longest), dtype=kind), np.empty((threads, longest * is_weighted))
    digits = np.empty((threads, 256 + APART), dtype=np.int64)
    room = np.empty(places[-1], dtype=kind), np.empty(places[-1])
    return Summed(places, rows, *room, lengths, starts, ends, *others, digits)


def _column_dtype(n_features: int) -> Any:
    return np.int32 if n_features < 2**31 else np.int64


def hashed_column(t: int, h: int, codes: NDArray[np.int64], n_features: int) -> NDArray[np.uint64]:
    """Return the column of each code of stream h of iteration t."""
    return np.asarray(mix(t, h, codes.view(np.uint64)) % np.uint64(n_features))


def numbered(streams: Sequence[StreamCounts]) -> list[tuple[int, int]]:
    """Return the iteration of each stream and its number within the iteration, independent of t_max."""
    iterations = [stream.iteration for stream in streams]
    return list(zip(iterations, number_within(iterations, {}), strict=True))


def number_within(iterations: Iterable[int], seen: dict[int, int]) -> list[int]:
    """Return the number of each stream within its iteration; ``seen`` holds those before, and is updated.

    Examples
    --------
    >>> number_within([0, 0, 1, 0], {})
    [0, 1, 0, 2]
    """
    numbers = []
    for t in iterations:
        numbers.append(seen.get(int(t), 0))
        seen[int(t)] = numbers[-1] + 1
    return numbers
