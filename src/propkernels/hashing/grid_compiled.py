"""Compiled loop that convolves projected images and hashes them."""

from __future__ import annotations

from typing import Any

from propkernels.hashing.compiled import _code
from propkernels.propagation.grids.compiled import (
    buffers_for,
    counted_places,
    lay_out,
    pixel_places,
    step_weights,
    stepped,
)
from propkernels.utils.jit import compiled


@compiled(cache=False)
def _load(x: Any, places: Any, start: Any, first: int, stream: int) -> None:
    """Put the start of a stream into a buffer: node first + k lies at places[k]."""
    for k in range(len(places)):
        x[places[k]] = start.projected[start.rows[first + k], stream]


@compiled(cache=False)
def _push_back(x: Any, places: Any, pushed_back: Any, start: Any, first: int, stream: int) -> None:
    """Reset the nodes that are pushed back to their start."""
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
    """Codes of the images first_image .. last_image - 1, which have one shape.

    All streams of an image are made while it is in the cache. A stream of iteration t is one scalar image,
    P_0 v, that is convolved t times and then hashed. ``start`` is a ``Start`` without unused columns.
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
        # Without masks and held pixels, images of one shape have the same weights: the first one's are kept.
        if image == first_image or len(images.inside) > 0 or len(images.held) > 0:
            keeps = step_weights(places, first, images, layout, taps, buffers)
        for stream in range(len(offsets)):
            # Zeros first: the border and pixels outside the mask must not hold an earlier stream.
            x[:] = 0.0
            _load(x, places, start, first, stream)
            for step in range(stream // n_hashes):
                if step > 0 and len(images.pushed_back) > 0:
                    _push_back(x, places, images.pushed_back, start, first, stream)
                stepped(x, y, buffers, layout, taps, keeps)
                x, y = y, x
            for k in range(len(places)):
                codes[stream, first + k] = _code(x[places[k]] + offsets[stream])
