"""Normalizing a kernel: k(x, y) / sqrt(k(x, x) k(y, y))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def normalized(
    kernel: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide by the square roots of the self-similarities; a graph with none (no nodes) stays at 0.

    The result is written into ``kernel``.
    """
    columns = inverse_length(right)
    for row, factor in zip(kernel, inverse_length(left), strict=True):
        row *= factor * columns  # the product of both factors first: rounding keeps the symmetry
    return kernel


def inverse_length(self_similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / sqrt(k(x, x)), and 0 where k(x, x) is 0."""
    length = np.sqrt(self_similarity)
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
