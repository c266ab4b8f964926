"""Hashed columns: features of a fixed width, without any fitted vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from propkernels.counting.counts import StreamCounts
from propkernels.randomness import mix


def hashed_columns(streams: Sequence[StreamCounts], n_features: int) -> csr_array:
    """Add each bin to the column that its (iteration, stream, code) hashes to.

    Bins that meet in one column add up, so dot products can only grow; with many more columns than
    bins, hardly any do.
    """
    n = streams[0].counts.shape[0]
    index = np.int32 if n_features < 2**31 else np.int64  # scikit-learn's linear models want 32 bits
    rows, columns, values = [], [], []
    for number, stream in enumerate(_numbered(streams)):
        t, h = stream
        counts = streams[number].counts
        column = (mix(t, h, streams[number].codes.view(np.uint64)) % np.uint64(n_features)).astype(index)
        rows.append(np.repeat(np.arange(n, dtype=index), np.diff(counts.indptr)))
        columns.append(column[counts.indices])
        values.append(counts.data)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return csr_array(entries, shape=(n, n_features))


def _numbered(streams: Sequence[StreamCounts]) -> list[tuple[int, int]]:
    """Iteration of each stream, and its number within the iteration: independent of t_max."""
    seen: dict[int, int] = {}
    numbers = []
    for stream in streams:
        h = seen.get(stream.iteration, 0)
        seen[stream.iteration] = h + 1
        numbers.append((stream.iteration, h))
    return numbers
