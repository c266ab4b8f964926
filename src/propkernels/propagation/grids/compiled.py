"""Compiled loops of convolution: images as flat arrays with a border, any number of dimensions.

An image lies row-major inside a border as wide as the filter's radius, so a tap of the filter is one
constant shift in memory, and a step is a few passes over contiguous numbers. Pixels of the border and outside
the mask hold zeros; for "wrap" and "reflect" the border is copied from inside before each step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

RENORMALIZE, ZERO, WRAP, REFLECT = 0, 1, 2, 3


@njit(nogil=True)
def _add_group(y: Any, weight: float, x: Any, shifts: Any, first: int, size: int, span: Any) -> None:
    """Add weight * (sum of x over the 1, 2, 4 or 8 taps of a group) to y, all over the span.

    Unsigned positions spare the test for negative ones, which would keep the loops from being vectorised.
    """
    begin, n = np.uint64(span[0]), span[1] - span[0]
    a = np.uint64(span[0] + shifts[first])
    if size == 1:
        for k in range(n):
            i = np.uint64(k)
            y[begin + i] += weight * x[a + i]
        return
    b = np.uint64(span[0] + shifts[first + 1])
    if size == 2:
        for k in range(n):
            i = np.uint64(k)
            y[begin + i] += weight * (x[a + i] + x[b + i])
        return
    c, d = np.uint64(span[0] + shifts[first + 2]), np.uint64(span[0] + shifts[first + 3])
    if size == 4:
        for k in range(n):
            i = np.uint64(k)
            y[begin + i] += weight * ((x[a + i] + x[b + i]) + (x[c + i] + x[d + i]))
        return
    e, f = np.uint64(span[0] + shifts[first + 4]), np.uint64(span[0] + shifts[first + 5])
    g, h = np.uint64(span[0] + shifts[first + 6]), np.uint64(span[0] + shifts[first + 7])
    for k in range(n):
        i = np.uint64(k)
        near = (x[a + i] + x[b + i]) + (x[c + i] + x[d + i])
        y[begin + i] += weight * (near + ((x[e + i] + x[f + i]) + (x[g + i] + x[h + i])))


@njit(nogil=True)
def _weigh(y: Any, spread: Any) -> None:
    for i in range(len(y)):
        y[i] *= spread[i]


@njit(nogil=True)
def _weigh_and_keep(y: Any, spread: Any, keep: Any, x: Any) -> None:
    for i in range(len(y)):
        y[i] = y[i] * spread[i] + keep[i] * x[i]


@njit(nogil=True)
def filtered(
    x: Any, y: Any, spare: Any, shifts: Any, group_ptr: Any, weights: Any, stage_ptr: Any, span: Any
) -> None:
    """Fill y with B x, each stage of B after the other, over the span of the buffers that holds the image."""
    begin, end = span
    n_stages = len(stage_ptr) - 1
    source = x
    for stage in range(n_stages):
        target = y if (n_stages - stage) % 2 == 1 else spare
        target[begin:end] = 0.0
        for group in range(stage_ptr[stage], stage_ptr[stage + 1]):
            first = group_ptr[group]
            size = group_ptr[group + 1] - first
            _add_group(target, weights[group], source, shifts, first, size, span)
        source = target


@njit(nogil=True)
def stepped(
    x: Any,
    y: Any,
    spare: Any,
    border: Any,
    shifts: Any,
    group_ptr: Any,
    weights: Any,
    stage_ptr: Any,
    span: Any,
    spread: Any,
    keep: Any,
    keeps: bool,
) -> None:
    """One step of one scalar image: y = spread * (B x) + keep * x."""
    for copy in range(border.shape[1]):
        x[border[0, copy]] = x[border[1, copy]]
    filtered(x, y, spare, shifts, group_ptr, weights, stage_ptr, span)
    begin, end = span
    if keeps:
        _weigh_and_keep(y[begin:end], spread[begin:end], keep[begin:end], x[begin:end])
    else:
        _weigh(y[begin:end], spread[begin:end])


@njit(nogil=True)
def lay_out(shape: Any, radius: Any, offsets: Any) -> Any:
    """Return the strides of the bordered image, the buffer's margin and size, its span, and tap shifts.

    The span leaves out the border along the first axis. The margin at both ends lets taps of border pixels
    read without leaving the buffer; what is computed there is never used.
    """
    d = len(shape)
    strides = np.ones(d, dtype=np.int64)
    for axis in range(d - 2, -1, -1):
        strides[axis] = strides[axis + 1] * (shape[axis + 1] + 2 * radius[axis + 1])
    padded = strides[0] * (shape[0] + 2 * radius[0])
    shifts = np.zeros(len(offsets), dtype=np.int64)
    margin = 0
    for tap in range(len(offsets)):
        for axis in range(d):
            shifts[tap] += offsets[tap, axis] * strides[axis]
        margin = max(margin, abs(shifts[tap]))
    span = (margin + radius[0] * strides[0], margin + padded - radius[0] * strides[0])
    return strides, margin, padded + 2 * margin, span, shifts


@njit(nogil=True)
def pixel_places(shape: Any, radius: Any, strides: Any, margin: int) -> Any:
    """Where each pixel, in row-major order, lies in the buffer."""
    d = len(shape)
    n = 1
    for axis in range(d):
        n *= shape[axis]
    places = np.empty(n, dtype=np.int64)
    index = np.zeros(d, dtype=np.int64)
    for pixel in range(n):
        place = margin
        for axis in range(d):
            place += (index[axis] + radius[axis]) * strides[axis]
        places[pixel] = place
        for axis in range(d - 1, -1, -1):
            index[axis] += 1
            if index[axis] < shape[axis]:
                break
            index[axis] = 0
    return places


@njit(nogil=True)
def _source(position: int, length: int, boundary: int) -> int:
    """Position inside an axis that a position beyond its ends stands for."""
    if boundary == WRAP:
        return position % length
    folded = position % (2 * length)
    return min(folded, 2 * length - 1 - folded)


@njit(nogil=True)
def border_copies(shape: Any, radius: Any, strides: Any, margin: int, boundary: int) -> Any:
    """Pairs (border pixel, pixel it is a copy of); none where the border is zero."""
    if boundary in (RENORMALIZE, ZERO):
        return np.empty((2, 0), dtype=np.int64)
    d, cells, pixels = len(shape), 1, 1
    for axis in range(d):
        cells *= shape[axis] + 2 * radius[axis]
        pixels *= shape[axis]
    copies = np.empty((2, cells - pixels), dtype=np.int64)
    index, found = np.zeros(d, dtype=np.int64), 0
    for _ in range(cells):
        place, origin, outside = margin, margin, False
        for axis in range(d):
            position = index[axis] - radius[axis]
            inside = _source(position, shape[axis], boundary)
            outside = outside or inside != position
            place += index[axis] * strides[axis]
            origin += (inside + radius[axis]) * strides[axis]
        if outside:
            copies[0, found], copies[1, found] = place, origin
            found += 1
        for axis in range(d - 1, -1, -1):
            index[axis] += 1
            if index[axis] < shape[axis] + 2 * radius[axis]:
                break
            index[axis] = 0
    return copies


@njit(nogil=True)
def counted_places(places: Any, inside: Any, first_pixel: int) -> Any:
    """The places of the pixels that count."""
    if len(inside) == 0:
        return places
    return places[inside[first_pixel : first_pixel + len(places)]]


@njit(nogil=True)
def step_weights(
    places: Any,
    held: Any,
    first_node: int,
    boundary: int,
    border: Any,
    shifts: Any,
    group_ptr: Any,
    weights: Any,
    stage_ptr: Any,
    span: Any,
    x: Any,
    mass: Any,
    spare: Any,
    spread: Any,
    keep: Any,
) -> bool:
    """Fill ``spread`` and ``keep``; return whether any pixel keeps what it has.

    With "renormalize", spread is 1 / the filter's mass that falls on counted pixels; a pixel that hears
    nothing keeps its own. ``x``, ``mass`` and ``spare`` are buffers that are left dirty.
    """
    keeps = False
    spread[:] = 0.0
    keep[:] = 0.0
    if boundary == RENORMALIZE:
        x[:] = 0.0
        x[places] = 1.0
        filtered(x, mass, spare, shifts, group_ptr, weights, stage_ptr, span)
    for k in range(len(places)):
        place = places[k]
        alone = boundary == RENORMALIZE and mass[place] == 0.0
        if alone or (len(held) > 0 and held[first_node + k]):
            keep[place] = 1.0
            keeps = True
        else:
            spread[place] = 1.0 / mass[place] if boundary == RENORMALIZE else 1.0
    return keeps


@njit(cache=True, nogil=True)
def step_grids(
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
    current: Any,
    following: Any,
) -> None:
    """One step of all images, every column of ``current`` a scalar image."""
    for image in range(len(shapes)):
        shape, first = shapes[image], graph_ptr[image]
        strides, margin, size, span, shifts = lay_out(shape, radius, offsets)
        border = border_copies(shape, radius, strides, margin, boundary)
        places = counted_places(pixel_places(shape, radius, strides, margin), inside, pixel_ptr[image])
        x, y, spare = np.zeros(size), np.zeros(size), np.zeros(size)
        spread, keep = np.zeros(size), np.zeros(size)
        arguments = (shifts, group_ptr, weights, stage_ptr, span)
        keeps = step_weights(places, held, first, boundary, border, *arguments, x, y, spare, spread, keep)
        for column in range(current.shape[1]):
            x[:] = 0.0
            for k in range(len(places)):
                x[places[k]] = current[first + k, column]
            stepped(x, y, spare, border, *arguments, spread, keep, keeps)
            for k in range(len(places)):
                following[first + k, column] = y[places[k]]
