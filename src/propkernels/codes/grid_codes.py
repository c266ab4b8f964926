"""Codes of pixels: the loop over t of Algorithm 5 on projected images, by sums or Fourier transforms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.parallel import stage_pieces, thread_count, whole_runs
from propkernels.codes.codes import floor_codes
from propkernels.propagation.convolution import GridOperator
from propkernels.propagation.initial import InitialDistributions

PIXELS_OF_A_RUN = 2**18


def grid_codes(
    operator: GridOperator,
    initial: InitialDistributions,
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
) -> NDArray[np.int64]:
    """Return the codes of all counted pixels, (streams, N)."""
    projected = np.asarray(initial.table @ vectors)
    codes = np.empty((len(offsets), operator.grids.n_nodes), dtype=np.int64)
    if operator.path == "fourier":
        _by_fourier(operator, initial, projected, offsets, n_hashes, codes)
    else:
        grids, threads = operator.grids, thread_count()
        share = max(grids.n_nodes / stage_pieces(threads), 1024)
        bounds = np.union1d(whole_runs(grids.graph_ptr, min(share, PIXELS_OF_A_RUN)), operator.changes)
        start = initial.rows, projected
        images = operator.images, operator.taps
        _core.convolve_and_hash(*images, *start, offsets, n_hashes, bounds, codes, threads)
    return codes


def _by_fourier(
    operator: GridOperator,
    initial: InitialDistributions,
    projected: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
    codes: NDArray[np.int64],
) -> None:
    """Write the codes by Fourier transforms, run by run; each step drops the columns already hashed."""
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
