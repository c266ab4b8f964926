"""Counts of attributes whose columns spread along edges, each independent of the others (P2K)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import aligned_empty
from propkernels._utils.parallel import run_threads, threads_for
from propkernels.codes.attribute_codes import MISSING, SpreadStreams
from propkernels.codes.codes import NO_BIN, joined_with
from propkernels.counts.counters import CODES_IN_MEMORY, StreamCounts, after_known, counts_of_rows, unpacked

STEPS_OF_A_CODE = 8  # to compute and count it


def count_spread(
    streams: SpreadStreams,
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
    n_jobs: int | None = None,
) -> list[StreamCounts]:
    """Return the counts of all streams; threads take columns, and all iterations of them.

    The values, codes and bins of a few columns stay in the cache, and threads wait for each other once.
    Streams of a hash function that gives all nodes one code share the counts of their label hash.
    """
    n_codes = streams.vectors.size * len(streams.spread.start)
    threads = threads_for(STEPS_OF_A_CODE * n_codes, n_jobs)
    runs = list(pairwise(_column_bounds(streams.vectors.shape[2], threads)))
    rooms = _rooms(len(streams.spread.start), min(threads, len(runs)))
    parts = run_threads(lambda run: _count_columns(streams, run, graph_ptr, rooms), runs, threads)
    single = np.concatenate([part.single for part in parts], axis=2)
    labels, (n_steps, n_functions, _) = streams.labels, single.shape
    rows = np.arange(len(labels.codes)).reshape(n_steps, -1)[:, np.arange(n_functions) % streams.n_hashes]
    needed = np.unique(rows[(single != NO_BIN).any(axis=2)])
    shared = dict(zip(needed.tolist(), counts_of_rows(labels.codes, needed, graph_ptr, n_jobs), strict=True))
    result: list[StreamCounts] = []
    for t, f in np.ndindex(n_steps, n_functions):
        row = int(rows[t, f])
        own = [pair for part in parts for pair in part.of_function(t, f)]
        settings = int(labels.iterations[row]), float(labels.weights[row])
        for code, pair in zip(single[t, f].tolist(), own, strict=True):
            counts, bins = pair if code == NO_BIN else shared[row]
            bins = bins if code == NO_BIN else joined_with(bins, code)
            result.append(StreamCounts(counts, bins, *settings))
    return result if known is None else list(map(after_known, result, known))


class _Part(NamedTuple):
    """Counts of some columns: the one code of a column, and counts and codes of bins, row by row."""

    single: NDArray[np.int64]
    counted: list[Any]

    def of_function(self, t: int, f: int) -> list[Any]:
        """Return the counts of the columns at one iteration, for one hash function."""
        _, n_functions, width = self.single.shape
        first = (t * n_functions + f) * width
        return self.counted[first : first + width]


def _column_bounds(n_columns: int, threads: int) -> list[int]:
    """Return bounds of runs of columns: at most LANES, and as many runs for each thread as for the others."""
    from propkernels.codes.codes_compiled import LANES

    n_runs = min(threads * -(-n_columns // (LANES * threads)), n_columns)
    return [n_columns * run // n_runs for run in range(n_runs + 1)]


def _rooms(n: int, number: int) -> deque[tuple[Any, ...]]:
    """Return a workspace for each thread: two matrices of values, codes, and a room to count n codes."""
    from propkernels.codes.codes_compiled import LANES
    from propkernels.counts.counts_compiled import Room

    values = aligned_empty((number, 2, n, LANES))  # pages of a few large arrays are fewer than those of many
    codes = np.empty((number, LANES, n), dtype=np.int64)
    return deque(zip(values, codes, starmap(Room, zip(*Room.make(n, number), strict=True)), strict=True))


def _count_columns(
    streams: SpreadStreams,
    columns: tuple[int, int],
    graph_ptr: NDArray[np.int64],
    rooms: deque[tuple[Any, ...]],
) -> _Part:
    """Return the counts of a run of columns, computed by one compiled call or few."""
    from propkernels.codes.codes_compiled import Step, slp_vectorization
    from propkernels.counts.counts_compiled import Counted
    from propkernels.counts.spread_compiled import spread_and_count

    n, (first, last), step = len(streams.spread.start), columns, Step.of(streams.spread.walk)
    width = last - first
    workspace = rooms.pop()
    (now, then), codes, room = workspace
    now[:, :width], now[:, width:] = streams.spread.start[:, first:last], 0.0
    vectors, offsets, scales = (
        np.ascontiguousarray(values[..., first:last])
        for values in (streams.vectors, streams.offsets, streams.scales)
    )
    n_steps, n_functions, _ = vectors.shape
    single, counted = np.empty(vectors.shape, dtype=np.int64), []
    at_once = max(CODES_IN_MEMORY // max(n_functions * width * n, 1), 1)
    for t in range(0, n_steps, at_once):
        some = slice(t, min(t + at_once, n_steps))
        labels = streams.labels.codes[some.start * streams.n_hashes : some.stop * streams.n_hashes]
        found = Counted.make((some.stop - t) * n_functions * width, n, len(graph_ptr) - 1)
        hashed = scales[some], vectors[some], offsets[some], MISSING, labels
        counting = graph_ptr, NO_BIN, room, codes[:width], found, single[some]
        n_walks = some.stop - t - (some.stop == n_steps)
        with slp_vectorization():
            spread_and_count(step, n_walks, now, then, *hashed, *counting)
        counted += unpacked(len(graph_ptr) - 1, *found)
        now, then = (then, now) if n_walks % 2 else (now, then)
    rooms.append(workspace)
    return _Part(single, counted)
