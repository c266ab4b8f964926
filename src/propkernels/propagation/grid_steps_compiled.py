"""Compiled loops of convolution: images as flat arrays with a border, any number of dimensions.

An image is stored row-major inside a border as wide as the filter's radius, so a tap of the filter is a
constant shift in memory, and a step is a few passes over contiguous numbers. Pixels of the border and outside
the mask hold zeros; for "wrap" and "reflect" the border is copied from inside before each step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled

RENORMALIZE, ZERO, WRAP, REFLECT = 0, 1, 2, 3


class Images(NamedTuple):
    """Images of a GridDatabase, with boundary, held and pushed-back pixels.

    Attributes
    ----------
    shapes : ndarray of int64, (images, d)
    pixel_ptr : ndarray of int64, (images + 1,)
        Image i has the pixels ``pixel_ptr[i] .. pixel_ptr[i + 1] - 1``, row-major.
    graph_ptr : ndarray of int64, (images + 1,)
        Image i has the nodes (counted pixels) ``graph_ptr[i] .. graph_ptr[i + 1] - 1``.
    inside : ndarray of bool, (pixels,)
        Counted pixels; empty: all.
    held, pushed_back : ndarray of bool, (N,)
        Nodes that never change; nodes that are reset before each step. Empty: none.
    boundary : int
        RENORMALIZE, ZERO, WRAP or REFLECT.
    """

    shapes: Any
    pixel_ptr: Any
    graph_ptr: Any
    inside: Any
    held: Any
    pushed_back: Any
    boundary: int


class Layout(NamedTuple):
    """Memory layout of images of one shape in a flat buffer of ``size`` numbers.

    An image of 2 x 3 pixels and a filter of radius 1 give 4 rows of 5 numbers, a border (.) around the pixels
    (P), with strides 5 and 1; the tap (1, -1) is the shift 5 - 1 = 4 for every pixel:

        . . . . .
        . P P P .      ``span`` covers these two rows, including the border pixels at their ends:
        . P P P .      a step computes them in one pass; the results of border pixels are not used
        . . . . .

    Attributes
    ----------
    strides : ndarray of int64, (d,)
        Distance in the buffer between neighbors along each axis.
    margin : int
        Largest shift; unused numbers at both ends, so that taps of border pixels stay inside the buffer.
    size : int
        Length of the buffer.
    span : tuple of two int
        First position and end of the computed part.
    shifts : ndarray of int64, (taps,)
        Distance in the buffer from a pixel to each tap.
    border : ndarray of int64, (2, copies)
        Positions of border pixels, and of the pixels they copy.
    """

    strides: Any
    margin: int
    size: int
    span: Any
    shifts: Any
    border: Any


class Buffers(NamedTuple):
    """Scalar images of a step, float64 arrays of length ``Layout.size``.

    ``x`` and ``y`` are the image before and after the step, ``spare`` holds intermediate stages, and
    ``spread`` and ``keep`` are the weights of the step.
    """

    x: Any
    y: Any
    spare: Any
    spread: Any
    keep: Any


@compiled(cache=False)
def _add_group(y: Any, weight: float, x: Any, shifts: Any, first: int, size: int, span: Any) -> None:
    """Add weight * (sum of x over the taps of a group) to y, at all positions of the span.

    Parameters
    ----------
    y, x : ndarray of float64, (size,)
        Output and input image.
    weight : float
    shifts : ndarray of int64, (taps,)
        See :class:`Layout`.
    first, size : int
        The group consists of the taps first .. first + size - 1; size is 1, 2, 4 or 8.
    span : tuple of two int
        First position and end.
    """
    # Taps that are mirror images of each other form a group: adding them in pairs first gives the same bits
    # when the image is rotated, since a + b = b + a, while (a + b) + c is not a + (b + c).
    # Unsigned positions avoid the test for negative ones, which would prevent vectorization.
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


@compiled(cache=False)
def _weigh(y: Any, spread: Any) -> None:
    """Multiply y by spread in place; both are float64 arrays of equal length."""
    for i in range(len(y)):
        y[i] *= spread[i]


@compiled(cache=False)
def _weigh_and_keep(y: Any, spread: Any, keep: Any, x: Any) -> None:
    """Replace y by y * spread + keep * x; all are float64 arrays of equal length."""
    for i in range(len(y)):
        y[i] = y[i] * spread[i] + keep[i] * x[i]


@compiled(cache=False)
def filtered(x: Any, y: Any, spare: Any, layout: Any, taps: Any) -> None:
    """Write B x to y, stage by stage, at the positions of the span.

    Parameters
    ----------
    x, y, spare : ndarray of float64, (size,)
        Input, output, and workspace for intermediate stages.
    layout : Layout
    taps : Taps
        Filter B.
    """
    begin, end = layout.span
    n_stages = len(taps.stage_ptr) - 1
    source = x
    for stage in range(n_stages):
        # Stages write alternately to y and spare, such that the last one writes to y.
        target = y if (n_stages - stage) % 2 == 1 else spare
        target[begin:end] = 0.0
        for group in range(taps.stage_ptr[stage], taps.stage_ptr[stage + 1]):
            first = taps.group_ptr[group]
            size = taps.group_ptr[group + 1] - first
            _add_group(target, taps.weights[group], source, layout.shifts, first, size, layout.span)
        source = target


@compiled(cache=False)
def stepped(x: Any, y: Any, buffers: Any, layout: Any, taps: Any, keeps: bool) -> None:
    """Compute one step of a scalar image: y = spread * (B x) + keep * x.

    Parameters
    ----------
    x, y : ndarray of float64, (size,)
        Input, whose border is updated, and output.
    buffers : Buffers
        ``spread`` and ``keep`` as filled by ``step_weights``; ``spare`` is workspace.
    layout : Layout
    taps : Taps
    keeps : bool
        Whether any ``keep`` is not 0.
    """
    border = layout.border
    for copy in range(border.shape[1]):
        x[border[0, copy]] = x[border[1, copy]]
    filtered(x, y, buffers.spare, layout, taps)
    begin, end = layout.span
    spread = buffers.spread[begin:end]
    if keeps:
        _weigh_and_keep(y[begin:end], spread, buffers.keep[begin:end], x[begin:end])
    else:
        _weigh(y[begin:end], spread)


@compiled(cache=False)
def lay_out(shape: Any, taps: Any, boundary: int) -> Any:
    """Return the :class:`Layout` of images of one shape.

    Parameters
    ----------
    shape : ndarray of int64, (d,)
    taps : Taps
    boundary : int
        RENORMALIZE, ZERO, WRAP or REFLECT.
    """
    # Strides of a C-ordered array of the padded shape; the shift of a tap is its offset times the strides.
    d, radius, offsets = len(shape), taps.radius, taps.offsets
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
    border = border_copies(shape, radius, strides, margin, boundary)
    return Layout(strides, margin, padded + 2 * margin, span, shifts, border)


@compiled(cache=False)
def buffers_for(layout: Any) -> Any:
    """Return :class:`Buffers` of zeros for a :class:`Layout`."""
    size = layout.size
    return Buffers(np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size))


@compiled(cache=False)
def pixel_places(shape: Any, radius: Any, layout: Any) -> Any:
    """Return the position in the buffer of each pixel, in row-major order.

    Parameters
    ----------
    shape, radius : ndarray of int64, (d,)
        Shape of the image; radius of the filter.
    layout : Layout
    """
    # ``index`` runs through the pixels like an odometer: the last axis varies fastest.
    d = len(shape)
    n = 1
    for axis in range(d):
        n *= shape[axis]
    places = np.empty(n, dtype=np.int64)
    index = np.zeros(d, dtype=np.int64)
    for pixel in range(n):
        place = layout.margin
        for axis in range(d):
            place += (index[axis] + radius[axis]) * layout.strides[axis]
        places[pixel] = place
        for axis in range(d - 1, -1, -1):
            index[axis] += 1
            if index[axis] < shape[axis]:
                break
            index[axis] = 0
    return places


@compiled(cache=False)
def _source(position: int, length: int, boundary: int) -> int:
    """Return the position in 0 .. length - 1 whose pixel a position beyond the ends copies."""
    # An axis of length 3 and the positions -2 .. 4:    wrap    1 2 | 0 1 2 | 0 1
    #                                                   reflect 1 0 | 0 1 2 | 2 1
    if boundary == WRAP:
        return position % length
    folded = position % (2 * length)
    return min(folded, 2 * length - 1 - folded)


@compiled(cache=False)
def border_copies(shape: Any, radius: Any, strides: Any, margin: int, boundary: int) -> Any:
    """Return the positions of border pixels and of the pixels they copy, (2, copies); empty for zero borders.

    Parameters
    ----------
    shape, radius, strides : ndarray of int64, (d,)
        Shape of the image, radius of the filter, strides of the padded image.
    margin : int
        Position of the first cell of the padded image.
    boundary : int
        RENORMALIZE, ZERO, WRAP or REFLECT.
    """
    if boundary in (RENORMALIZE, ZERO):
        return np.empty((2, 0), dtype=np.int64)
    d, cells, pixels = len(shape), 1, 1
    for axis in range(d):
        cells *= shape[axis] + 2 * radius[axis]
        pixels *= shape[axis]
    copies = np.empty((2, cells - pixels), dtype=np.int64)
    # ``index`` runs through all cells of the padded image, border included, the last axis fastest.
    index, n_copies = np.zeros(d, dtype=np.int64), 0
    for _ in range(cells):
        place, origin, outside = margin, margin, False
        for axis in range(d):
            position = index[axis] - radius[axis]
            inside = _source(position, shape[axis], boundary)
            outside = outside or inside != position
            place += index[axis] * strides[axis]
            origin += (inside + radius[axis]) * strides[axis]
        if outside:
            copies[0, n_copies], copies[1, n_copies] = place, origin
            n_copies += 1
        for axis in range(d - 1, -1, -1):
            index[axis] += 1
            if index[axis] < shape[axis] + 2 * radius[axis]:
                break
            index[axis] = 0
    return copies


@compiled(cache=False)
def counted_places(places: Any, inside: Any, first_pixel: int) -> Any:
    """Return the positions of the counted pixels of an image.

    Parameters
    ----------
    places : ndarray of int64, (pixels,)
        Positions of all pixels of the image.
    inside : ndarray of bool
        Counted pixels of the database; empty: all.
    first_pixel : int
        Index in ``inside`` of the first pixel of the image.
    """
    if len(inside) == 0:
        return places
    return places[inside[first_pixel : first_pixel + len(places)]]


@compiled(cache=False)
def step_weights(places: Any, first_node: int, images: Any, layout: Any, taps: Any, buffers: Any) -> bool:
    """Fill ``spread`` and ``keep`` of the buffers; return whether any pixel keeps its value.

    With "renormalize", spread is 1 / the filter mass on counted pixels; a pixel with mass 0 keeps its value.
    The other buffers are overwritten.

    Parameters
    ----------
    places : ndarray of int64, (nodes,)
        Positions of the counted pixels of an image.
    first_node : int
        Number of its first node in the database.
    images : Images
    layout : Layout
    taps : Taps
    buffers : Buffers
    """
    keeps, held, renormalize = False, images.held, images.boundary == RENORMALIZE
    x, mass, spread, keep = buffers.x, buffers.y, buffers.spread, buffers.keep
    spread[:] = 0.0
    keep[:] = 0.0
    if renormalize:  # the filtered indicator of the counted pixels is the mass on them
        x[:] = 0.0
        x[places] = 1.0
        filtered(x, mass, buffers.spare, layout, taps)
    for k in range(len(places)):
        place = places[k]
        alone = renormalize and mass[place] == 0.0
        if alone or (len(held) > 0 and held[first_node + k]):
            keep[place] = 1.0
            keeps = True
        else:
            spread[place] = 1.0 / mass[place] if renormalize else 1.0
    return keeps


@compiled
def step_grids(images: Any, taps: Any, current: Any, following: Any) -> None:
    """Compute one step of all images; every column is a scalar image.

    Parameters
    ----------
    images : Images
    taps : Taps
    current : ndarray of float64, (N, columns)
        Values before the step.
    following : ndarray of float64, (N, columns)
        Output: values after the step.
    """
    for image in range(len(images.shapes)):
        shape, first = images.shapes[image], images.graph_ptr[image]
        layout = lay_out(shape, taps, images.boundary)
        everywhere = pixel_places(shape, taps.radius, layout)
        places = counted_places(everywhere, images.inside, images.pixel_ptr[image])
        buffers = buffers_for(layout)
        x, y = buffers.x, buffers.y
        keeps = step_weights(places, first, images, layout, taps, buffers)
        for column in range(current.shape[1]):
            x[:] = 0.0
            for k in range(len(places)):
                x[places[k]] = current[first + k, column]
            stepped(x, y, buffers, layout, taps, keeps)
            for k in range(len(places)):
                following[first + k, column] = y[places[k]]
