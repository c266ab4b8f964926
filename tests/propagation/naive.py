"""Convolution by loops over pixels and taps, written from the paper: the reference for all boundaries."""

import itertools
from typing import Any

import numpy as np


def source(position: int, length: int, boundary: str) -> int | None:
    """Index that a position along an axis stands for; None where there is nothing."""
    if 0 <= position < length:
        return position
    if boundary == "wrap":
        return position % length
    if boundary == "reflect":
        while not 0 <= position < length:
            position = -1 - position if position < 0 else 2 * length - 1 - position
        return position
    return None


def convolve(image: np.ndarray, weights: Any, boundary: str, mask: np.ndarray | None = None) -> np.ndarray:
    """One step of a scalar image."""
    weights = np.asarray(weights, dtype=float)
    inside = np.ones(image.shape, dtype=bool) if mask is None else mask
    result = np.zeros(image.shape)
    for pixel in itertools.product(*map(range, image.shape)):
        if not inside[pixel]:
            continue
        total = mass = 0.0
        for tap in itertools.product(*map(range, weights.shape)):
            place = tuple(
                source(p + t - n // 2, length, boundary)
                for p, t, n, length in zip(pixel, tap, weights.shape, image.shape, strict=True)
            )
            if None not in place and inside[place]:
                total += weights[tap] * image[place]
                mass += weights[tap]
        if boundary == "renormalize":
            result[pixel] = total / mass if mass else image[pixel]
        else:
            result[pixel] = total
    return result


def same_classes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays of codes tell the same nodes apart, in each row."""
    return all(
        len(np.unique(x)) == len(np.unique(y)) == len(np.unique(np.stack([x, y]), axis=1).T)
        for x, y in zip(a, b, strict=True)
    )
