"""Counts of attributes whose columns spread along edges, each independent of the others (P2K)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import rows_of
from propkernels._utils.parallel import threads_for
from propkernels.codes.attribute_codes import MISSING, SpreadStreams
from propkernels.codes.codes import NO_BIN, Step, join_codes
from propkernels.counts.counters import StreamCounts, after_known, counts_of_rows

STEPS_OF_A_CODE = 8  # to compute and count it


def count_spread(
    streams: SpreadStreams,
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
) -> list[StreamCounts]:
    """Return the counts of all streams; threads take columns, and all iterations of them.

    The values, codes and bins of a few columns stay in the cache, and threads wait for each other once.
    Streams of a hash function that gives all nodes one code share the counts of their label hash.
    """
    single, runs = _counted(streams, graph_ptr)
    labels, (n_steps, n_functions, _) = streams.labels, single.shape
    rows = np.arange(len(labels.codes)).reshape(n_steps, -1)[:, np.arange(n_functions) % streams.n_hashes]
    needed = np.unique(rows[(single != NO_BIN).any(axis=2)])
    shared = dict(zip(needed.tolist(), counts_of_rows(labels.codes, needed, graph_ptr), strict=True))
    result: list[StreamCounts] = []
    for t, f in np.ndindex(n_steps, n_functions):
        row = int(rows[t, f])
        settings = int(labels.iterations[row]), float(labels.weights[row])
        places = [(run, (t * n_functions + f) * run.width + c) for run in runs for c in range(run.width)]
        for code, (run, place) in zip(single[t, f].tolist(), places, strict=True):
            if code == NO_BIN:
                counts, bins = run.counts_of(place)
            else:
                counts, bins = shared[row][0], join_codes(shared[row][1], code)
            result.append(StreamCounts(counts, bins, *settings))
    return result if known is None else list(map(after_known, result, known))


class _Run(NamedTuple):
    """Counts of a run of columns: rows go through iterations, hash functions and columns.

    Row r has the CSR arrays ``indptr[r]``, ``indices[a:b]`` and ``counts[a:b]``, where a and b are
    ``ends[0, r : r + 2]``. Its bins have the codes ``codes[c:d]``, where c and d are ``ends[1, r : r + 2]``.
    """

    width: int
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    counts: NDArray[np.float64]
    codes: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def make(cls, width: int, n_rows: int, n: int, n_graphs: int) -> _Run:
        """Return arrays for the counts of rows of n codes; what is not written takes no memory."""
        indptr, indices = np.empty((n_rows, n_graphs + 1), dtype=np.int32), np.empty(n_rows * n, np.int32)
        counts, codes = np.empty(n_rows * n), np.empty(n_rows * n, dtype=np.int64)
        return cls(width, indptr, indices, counts, codes, np.zeros((2, n_rows + 1), dtype=np.int64))

    def counts_of(self, row: int) -> tuple[csr_array, NDArray[np.int64]]:
        """Return the count matrix of a row and the codes of its bins."""
        (a, b), (c, d) = self.ends[:, row : row + 2].tolist()
        shape = self.indptr.shape[1] - 1, d - c
        return rows_of(self.counts[a:b], self.indices[a:b], self.indptr[row], shape), self.codes[c:d]


def _counted(streams: SpreadStreams, graph_ptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[_Run]]:
    """Return the attribute codes of columns that have only one, and the counts of the others."""
    n, (n_steps, n_functions, n_columns) = len(streams.spread.start), streams.vectors.shape
    threads = threads_for(STEPS_OF_A_CODE * streams.vectors.size * n)
    bounds = _column_bounds(n_columns, threads)
    runs = [
        _Run.make(width, n_steps * n_functions * width, n, len(graph_ptr) - 1)
        for width in np.diff(bounds).tolist()
    ]
    single = np.empty(streams.vectors.shape, dtype=np.int64)
    values = streams.spread.start, streams.scales, streams.vectors, streams.offsets
    hashed = *map(np.ascontiguousarray, values), MISSING, np.ascontiguousarray(streams.labels.codes)
    outputs = (list(arrays) for arrays in zip(*(run[1:] for run in runs), strict=True))
    step = Step.of(streams.spread.walk)
    _core.spread_and_count(step, *hashed, graph_ptr, bounds, *outputs, single, threads)
    return single, runs


def _column_bounds(n_columns: int, threads: int) -> NDArray[np.int64]:
    """Return bounds of runs of columns: at most LANES, and as many runs for each thread as for the others."""
    n_runs = min(threads * -(-n_columns // (_core.LANES * threads)), n_columns)
    return n_columns * np.arange(n_runs + 1) // n_runs
