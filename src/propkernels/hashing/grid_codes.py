"""Codes of pixels: the loop over t of Algorithm 5, on projected images."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propkernels.hashing.codes import floor_codes
from propkernels.propagation.grids.operator import GridOperator
from propkernels.propagation.initial import InitialDistributions
from propkernels.utils.parallel import run_threads, thread_count, whole_runs

PIXELS_OF_A_RUN = 2**18


def grid_codes(
    operator: GridOperator,
    initial: InitialDistributions,
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Return the codes of all counted pixels, (streams, N)."""
    projected = np.asarray(initial.table @ vectors)
    codes = np.empty((len(offsets), operator.grids.n_nodes), dtype=np.int64)
    if operator.path == "fourier":
        _by_fourier(operator, initial, projected, offsets, n_hashes, codes)
    else:
        _by_sums(operator, initial, projected, offsets, n_hashes, n_jobs, codes)
    return codes


def _by_sums(
    operator: GridOperator,
    initial: InitialDistributions,
    projected: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
    n_jobs: int | None,
    codes: NDArray[np.int64],
) -> None:
    """Run the compiled loop on runs of images of one shape, a few for each thread."""
    from propkernels.hashing.compiled import Start
    from propkernels.hashing.grid_compiled import convolve_and_hash

    grids, images, start = operator.grids, operator.images, Start(initial.rows, projected)
    share = grids.n_nodes / (4 * thread_count(n_jobs))
    runs = whole_runs(grids.graph_ptr, min(max(share, 1024), PIXELS_OF_A_RUN))
    changes = np.flatnonzero((grids.shapes[1:] != grids.shapes[:-1]).any(axis=1)) + 1
    runs = np.union1d(runs, changes)

    def one_run(run: int) -> None:
        convolve_and_hash(images, operator.taps, start, offsets, n_hashes, runs[run], runs[run + 1], codes)

    run_threads(one_run, range(len(runs) - 1), n_jobs)


def _by_fourier(
    operator: GridOperator,
    initial: InitialDistributions,
    projected: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
    codes: NDArray[np.int64],
) -> None:
    """Step all columns that are still needed, one column less after each step; a run of images at a time."""
    graph_ptr = operator.grids.graph_ptr
    runs = whole_runs(graph_ptr, PIXELS_OF_A_RUN)
    for first, last in pairwise(runs.tolist()):
        part, nodes = operator.block(first, last), slice(graph_ptr[first], graph_ptr[last])
        start = current = projected[initial.rows[nodes]]
        for stream in range(0, len(offsets), n_hashes):
            if stream > 0:
                current = part.step(current[:, n_hashes:], start[:, stream:])
            values = current[:, :n_hashes] + offsets[stream : stream + n_hashes]
            codes[stream : stream + n_hashes, nodes] = floor_codes(values).T
