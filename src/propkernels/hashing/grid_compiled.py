"""Compiled loop that convolves projected images and hashes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from propkernels.hashing.compiled import _code
from propkernels.propagation.grids.compiled import (
    border_copies,
    counted_places,
    lay_out,
    pixel_places,
    step_weights,
    stepped,
)


@njit(nogil=True)
def _load(x: Any, places: Any, rows: Any, first: int, projected: Any, stream: int) -> None:
    for k in range(len(places)):
        x[places[k]] = projected[rows[first + k], stream]


@njit(nogil=True)
def _push_back(x: Any, places: Any, pushed: Any, rows: Any, first: int, projected: Any, stream: int) -> None:
    for k in range(len(places)):
        if pushed[first + k]:
            x[places[k]] = projected[rows[first + k], stream]


@njit(cache=True, nogil=True)
def convolve_and_hash(
    shapes: Any,
    pixel_ptr: Any,
    graph_ptr: Any,
    inside: Any,
    offsets: Any,
    group_ptr: Any,
    weights: Any,
    stage_ptr: Any,
    radius: Any,
    boundary: int,
    held: Any,
    pushed: Any,
    rows: Any,
    projected: Any,
    shift: Any,
    n_hashes: int,
    first_image: int,
    last_image: int,
    codes: Any,
) -> None:
    """Codes of the images first_image .. last_image - 1, which have one shape.

    All streams of an image are made while it is in the cache. A stream of iteration t is one scalar image,
    P_0 v, that is convolved t times and then hashed.
    """
    shape = shapes[first_image]
    strides, margin, size, span, shifts = lay_out(shape, radius, offsets)
    border = border_copies(shape, radius, strides, margin, boundary)
    everywhere = pixel_places(shape, radius, strides, margin)
    x, y, spare = np.zeros(size), np.zeros(size), np.zeros(size)
    spread, keep = np.zeros(size), np.zeros(size)
    keeps = False
    for image in range(first_image, last_image):
        first = graph_ptr[image]
        places = counted_places(everywhere, inside, pixel_ptr[image])
        if image == first_image or len(inside) > 0 or len(held) > 0:
            keeps = step_weights(
                places, held, first, boundary, border, shifts, group_ptr, weights, stage_ptr, span,
                x, y, spare, spread, keep,
            )  # fmt: skip
        for stream in range(len(shift)):
            x[:] = 0.0
            _load(x, places, rows, first, projected, stream)
            for step in range(stream // n_hashes):
                if step > 0 and len(pushed) > 0:
                    _push_back(x, places, pushed, rows, first, projected, stream)
                stepped(x, y, spare, border, shifts, group_ptr, weights, stage_ptr, span, spread, keep, keeps)
                x, y = y, x
            for k in range(len(places)):
                codes[stream, first + k] = _code(x[places[k]] + shift[stream])
