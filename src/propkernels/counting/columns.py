"""Feature columns: one per bin of a vocabulary, or hashed to a fixed width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import index_dtype, offsets
from propkernels._utils.parallel import run_threads, threads_for
from propkernels._utils.randomness import mix
from propkernels.counting.counters import StreamCounts


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
    from propkernels.counting.counts_compiled import count_kept, place_stream

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
    return csr_array((data, indices, ends.astype(index)), shape=(n, int(firsts[-1])))


def hashed_columns(streams: Sequence[StreamCounts], n_features: int) -> csr_array:
    """Return features of a fixed width: (iteration, stream, code) of a bin hashes to its column.

    Counts of bins in the same column are summed, so dot products can only grow; with many more columns
    than bins, collisions are rare.
    """
    n = streams[0].counts.shape[0]
    index = index_dtype(n_features)  # scikit-learn's linear models want 32 bits
    rows, columns, values = [], [], []
    for number, stream in enumerate(numbered(streams)):
        t, h = stream
        counts = streams[number].counts
        column = hashed_column(t, h, streams[number].codes, n_features).astype(index)
        rows.append(np.repeat(np.arange(n, dtype=index), np.diff(counts.indptr)))
        columns.append(column[counts.indices])
        values.append(counts.data)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    matrix = csr_array(entries, shape=(n, n_features))
    matrix.sum_duplicates()  # the constructor of SciPy 1.13 leaves some
    return matrix


def hashed_column(t: int, h: int, codes: NDArray[np.int64], n_features: int) -> NDArray[np.uint64]:
    """Return the column of each code of stream h of iteration t."""
    return np.asarray(mix(t, h, codes.view(np.uint64)) % np.uint64(n_features))


def numbered(streams: Sequence[StreamCounts]) -> list[tuple[int, int]]:
    """Return the iteration of each stream and its number within the iteration, independent of t_max."""
    seen: dict[int, int] = {}
    numbers = []
    for stream in streams:
        h = seen.get(stream.iteration, 0)
        seen[stream.iteration] = h + 1
        numbers.append((stream.iteration, h))
    return numbers
