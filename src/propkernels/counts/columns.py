"""Feature columns: one per bin of a vocabulary, or hashed to a fixed width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import index_dtype, offsets, rows_of
from propkernels._utils.parallel import run_threads, stage_pieces, threads_for, whole_runs
from propkernels._utils.randomness import mix
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.counts.counters import StreamCounts

ITEMS_OF_A_PIECE = 2**18  # entries of a piece of work


def join_streams(
    streams: Sequence[StreamCounts],
    n_bins: Sequence[int] | None = None,
    scales: Sequence[float] | None = None,
) -> csr_array:
    """Return the count matrices of streams side by side, every row sorted by column.

    Parameters
    ----------
    streams : sequence of StreamCounts
    n_bins : sequence of int, optional
        Number of bins of each stream to keep; drops bins not seen in fit.
    scales : sequence of float, optional
        Factor of the counts of each stream.
    """
    widths = [stream.counts.shape[1] for stream in streams] if n_bins is None else n_bins
    ends, n_entries = offsets(widths).tolist(), sum(stream.counts.nnz for stream in streams)
    index = index_dtype(n_entries, ends[-1])

    def entries(number: int) -> Entries:
        counts, width, first = streams[number].counts, widths[number], ends[number]
        columns = counts.indices.astype(index) + index(first)
        if width < counts.shape[1]:
            columns[counts.indices >= width] = -1
        values = counts.data if scales is None else counts.data * scales[number]
        return Entries(counts.indptr, columns[None, :], values)

    return sum_rows(run_threads(entries, range(len(streams)), work=n_entries), ends[-1], 1.0)


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


def hashed_columns(streams: Sequence[StreamCounts], n_features: int) -> csr_array:
    """Return features of a fixed width: (iteration, stream, code) of a bin hashes to its column.

    Counts of bins in the same column are summed, so dot products can only grow; with many more columns
    than bins, collisions are rare.
    """

    def entries(number: int) -> Entries:
        (t, h), stream = numbers[number], streams[number]
        column = hashed_column(t, h, stream.codes, n_features).astype(index_dtype(n_features))
        return Entries(stream.counts.indptr, column[stream.counts.indices][None, :], stream.counts.data)

    numbers = numbered(streams)
    return sum_rows(run_threads(entries, range(len(streams))), n_features, 1.0)


def hashed_codes(blocks: Iterable[CodeStreams], ptr: NDArray[np.int64], n_features: int) -> csr_array:
    """Return the ``hashed_columns`` of the counts of codes, without numbering bins.

    Parameters
    ----------
    blocks : iterable of CodeStreams
        Streams, block by block; counts are multiplied by the square root of their weight.
    ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' items.
    n_features : int
    """
    columns: list[NDArray[Any]] = []
    scales: list[float] = []
    seen: dict[int, int] = {}
    for block in blocks:
        made = _block_columns(block, n_features, seen)
        for scale, run in groupby(range(len(made)), np.sqrt(block.weights).__getitem__):
            some = list(run)
            columns.append(made[some[0] : some[-1] + 1])
            scales.append(float(scale))
    if len(set(scales)) == 1:  # counts are summed as integers
        entries = [Entries(ptr, some, np.empty(0)) for some in columns]
        return sum_rows(entries, n_features, scales[0])
    values = {scale: np.full(ptr[-1], scale) for scale in set(scales)}
    entries = [Entries(ptr, some, values[scale]) for some, scale in zip(columns, scales, strict=True)]
    return sum_rows(entries, n_features, 1.0)


def _block_columns(block: CodeStreams, n_features: int, seen: dict[int, int]) -> NDArray[Any]:
    """Return the columns of all items of a block, one row per stream; ``seen`` as in ``number_within``."""
    n_streams, n = len(block.iterations), block.codes.shape[1]
    columns = np.empty((n_streams, n), dtype=index_dtype(n_features))
    words = mix(block.iterations, np.array(number_within(block.iterations, seen), dtype=np.int64))
    cuts = np.linspace(0, n, max(1, -(-n // ITEMS_OF_A_PIECE)) + 1).astype(np.int64)
    salts = np.full(n_streams, NO_BIN) if block.salts is None else block.salts
    threads = threads_for(columns.size)
    codes = np.ascontiguousarray(block.codes)
    _core.hash_to_columns(codes, block.rows, salts, cuts, words, n_features, columns, threads)
    return columns


def sum_rows(entries: Sequence[Entries], n_features: int, factor: float) -> csr_array:
    """Return the sum of all entries, times a factor, as one matrix with sorted rows."""
    n = len(entries[0].indptr) - 1
    ptr = np.zeros(n + 1, dtype=np.int64)
    for one in entries:
        ptr += one.indptr.astype(np.int64) * len(one.columns)
    threads, longest = threads_for(int(ptr[-1])), int(np.diff(ptr).max(initial=0))
    bounds = whole_runs(ptr, max(min(int(ptr[-1]) // stage_pieces(threads), ITEMS_OF_A_PIECE), 2**14))
    sources = tuple(  # of the same types; copies only where they are not
        [np.ascontiguousarray(array, dtype=np.result_type(*arrays)) for array in arrays]
        for arrays in zip(*entries, strict=True)
    )
    # one array for all runs, whose pages are fewer than those of many
    columns, sums = np.empty(ptr[-1], dtype=entries[0].columns.dtype), np.empty(ptr[-1])
    lengths, places = np.empty(n, dtype=np.int64), ptr[bounds]
    n_bits = max((n_features - 1).bit_length(), 1)
    _core.sum_rows_of(sources, bounds, places, longest, n_bits, columns, sums, lengths, threads)
    ends, index = offsets(lengths), index_dtype(int(lengths.sum()), n_features)
    indices, data = np.empty(ends[-1], dtype=index), np.empty(ends[-1])

    def place(run: tuple[int, int, int]) -> None:
        """Move the entries of a run to those of all rows, without gaps."""
        first, last, at = run
        indices[first:last] = columns[at : at + last - first]
        np.multiply(sums[at : at + last - first], factor, out=data[first:last])

    run_threads(
        place, [(*run, at) for run, at in zip(pairwise(ends[bounds].tolist()), places.tolist(), strict=False)]
    )
    return rows_of(data, indices, ends.astype(index), (n, n_features))


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
