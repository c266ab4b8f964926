"""Convolution with large filters by fast Fourier transforms, as the paper suggests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.grid_database import GridDatabase

PADDING = {"renormalize": "constant", "zero": "constant", "wrap": "wrap", "reflect": "symmetric"}
Array = NDArray[np.float64]


def fourier_step(grids: GridDatabase, weights: Array, boundary: str, current: Array) -> Array:
    """Convolve every column of every image; images have no masks."""
    following = np.empty_like(current, dtype=np.float64)
    mass: dict[tuple[int, ...], Array] = {}
    for i, shape in enumerate(map(tuple, grids.shapes.tolist())):
        nodes = slice(grids.graph_ptr[i], grids.graph_ptr[i + 1])
        image = np.asarray(current[nodes], dtype=np.float64).reshape(*shape, -1)
        result = correlated(image, weights, boundary)
        if boundary == "renormalize":
            if shape not in mass:
                mass[shape] = mass_inside(shape, weights)[..., None]
            heard = mass[shape]
            result = np.where(heard > 0, result / np.where(heard > 0, heard, 1.0), image)
        following[nodes] = result.reshape(len(following[nodes]), -1)
    return following


def correlated(image: Array, weights: Array, boundary: str) -> Array:
    """Sum over taps o of B[o] * image[x + o], for all columns of (..., columns)."""
    from scipy.signal import oaconvolve

    border = [(length // 2, length // 2) for length in weights.shape]
    mode: Any = PADDING[boundary]
    padded = np.pad(image, [*border, (0, 0)], mode=mode)
    mirrored = weights[(slice(None, None, -1),) * weights.ndim][..., None]
    return np.asarray(oaconvolve(padded, mirrored, mode="valid", axes=range(weights.ndim)))


def mass_inside(shape: tuple[int, ...], weights: Array) -> Array:
    """The filter's mass that falls inside an image, for each pixel; no cancellation, so zeros are exact.

    Examples
    --------
    >>> mass_inside((3,), np.array([1.0, 0.0, 1.0]))
    array([1., 2., 1.])
    """
    mass = weights
    for length in shape:  # each turn sums the first axis away and appends the pixels' axis
        reach = mass.shape[0] // 2
        position = np.arange(length)[:, None] + np.arange(-reach, reach + 1)
        inside = ((position >= 0) & (position < length)).astype(np.float64)
        mass = np.tensordot(mass, inside, axes=([0], [1]))
    return np.asarray(mass)
