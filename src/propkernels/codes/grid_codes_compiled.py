"""Codes of pixels: the loop over t of Algorithm 5 on projected images, by sums or Fourier transforms."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.jit import compiled
from propkernels._utils.parallel import run_threads, thread_count, whole_runs
from propkernels.codes.codes import floor_codes
from propkernels.codes.codes_compiled import Start, floor_code
from propkernels.propagation.convolution import GridOperator
from propkernels.propagation.grid_steps_compiled import (
    buffers_for,
    counted_places,
    lay_out,
    pixel_places,
    step_weights,
    stepped,
)
from propkernels.propagation.initial import InitialDistributions

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
    """Write the codes by the compiled loop, on runs of images of one shape, several per thread."""
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


@compiled(cache=False)
def _load(x: Any, places: Any, start: Any, first: int, stream: int) -> None:
    """Write the initial values of a stream to a buffer: node first + k to x[places[k]]."""
    for k in range(len(places)):
        x[places[k]] = start.projected[start.rows[first + k], stream]


@compiled(cache=False)
def _push_back(x: Any, places: Any, pushed_back: Any, start: Any, first: int, stream: int) -> None:
    """Reset the pushed-back nodes of an image to their initial values; arguments as in ``_load``."""
    for k in range(len(places)):
        if pushed_back[first + k]:
            x[places[k]] = start.projected[start.rows[first + k], stream]


@compiled
def convolve_and_hash(
    images: Any,
    taps: Any,
    start: Any,
    offsets: Any,
    n_hashes: int,
    first_image: int,
    last_image: int,
    codes: Any,
) -> None:
    """Compute the codes of the images first_image .. last_image - 1, which have the same shape.

    All streams of an image are computed while it is in the cache. A stream of iteration t is a scalar image,
    P_0 v, convolved t times and then hashed.

    Parameters
    ----------
    images : Images
    taps : Taps
    start : Start
        Without unused columns.
    offsets : ndarray of float64, (streams,)
    n_hashes : int
        Streams per iteration.
    first_image, last_image : int
        Range of images.
    codes : ndarray of int64, (streams, N)
        Output.
    """
    shape = images.shapes[first_image]
    layout = lay_out(shape, taps, images.boundary)
    everywhere = pixel_places(shape, taps.radius, layout)
    buffers = buffers_for(layout)
    x, y = buffers.x, buffers.y
    keeps = False
    for image in range(first_image, last_image):
        first = images.graph_ptr[image]
        places = counted_places(everywhere, images.inside, images.pixel_ptr[image])
        # Without masks and held pixels, images of one shape have equal weights, computed once.
        if image == first_image or len(images.inside) > 0 or len(images.held) > 0:
            keeps = step_weights(places, first, images, layout, taps, buffers)
        for stream in range(len(offsets)):
            # Clear x: the border and pixels outside the mask must not contain values of an earlier stream.
            x[:] = 0.0
            _load(x, places, start, first, stream)
            for step in range(stream // n_hashes):
                if step > 0 and len(images.pushed_back) > 0:
                    _push_back(x, places, images.pushed_back, start, first, stream)
                stepped(x, y, buffers, layout, taps, keeps)
                x, y = y, x
            for k in range(len(places)):
                codes[stream, first + k] = floor_code(x[places[k]] + offsets[stream])
