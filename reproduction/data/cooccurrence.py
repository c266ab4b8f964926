"""Co-occurrence matrices: the baselines GLCM-gray and GLCM-quant of the paper's table on grid graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.graphs import GridDatabase
from propkernels.images import GrayLevels
from propkernels.images.quantizers import Scale

ANGLES = (0.0, np.pi / 4, np.pi / 2, 3 * np.pi / 4)


def gray_cooccurrence(images: Sequence[Any], n_levels: int = 8, scale: Scale = "full") -> NDArray[np.float64]:
    """Return co-occurrences of gray levels of neighboring pixels (Haralick, 1973), one row per image.

    Examples
    --------
    >>> board = (np.indices((4, 4)).sum(axis=0) % 2).astype(float)
    >>> gray_cooccurrence([board], n_levels=2)  # dark-dark, dark-bright, bright-bright
    array([[0.21428571, 0.57142857, 0.21428571]])
    """
    return label_cooccurrence(GrayLevels(n_levels, scale=scale).fit_transform(images), n_levels)


def label_cooccurrence(
    grids: GridDatabase, n_levels: int | None = None, distance: int = 1
) -> NDArray[np.float64]:
    """Return co-occurrences of labels 0, 1, 2, ... of neighboring pixels, one row per grid.

    A row is the upper triangle of the symmetric matrix of pairs of labels in four directions, as frequencies.
    Unobserved and masked pixels do not count; diagonal distances are as scikit-image rounds them.
    """
    graycomatrix = import_optional(
        "skimage.feature", extra="images", purpose="co-occurrence matrices need"
    ).graycomatrix
    labels: Any = grids.label_values
    size = max(labels) + 1 if n_levels is None else n_levels
    rows = []
    for grid in grids:
        image = np.where(grid.image < 0, size, grid.image).astype(np.uint16)
        pairs = graycomatrix(image, [distance], ANGLES, levels=size + 1, symmetric=True)[:size, :size]
        counts = pairs.sum(axis=(2, 3)).astype(np.float64)
        counts = counts + counts.T - np.diag(counts.diagonal())  # (i, j) and (j, i), the diagonal once
        upper = counts[np.triu_indices(size)]
        rows.append(upper / max(upper.sum(), 1.0))
    return np.stack(rows)
