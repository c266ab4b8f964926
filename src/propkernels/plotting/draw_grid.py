"""Draw a grid into matplotlib axes: an image with a heat map over it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.grid_database import Grid
from propkernels.graphs.grid_display import LARGEST, LEAST_SHOWN, MOST_SQUARES, SMALLEST, gray_labels

Values = NDArray[np.float64]
FAINTEST = 0.15  # opacity of the heat map at value 0


def draw_grid(ax: Any, grid: Grid, values: Values, picture: Any, norm: Any, cmap: Any) -> Any:
    """Draw a heat map over an image, and return the mappable for a color bar.

    Parameters
    ----------
    ax : Axes
    grid : Grid
        An image, a line of pixels, or a volume. Of a volume, the slice along the first axis with the largest
        sum of absolute values is drawn.
    values : ndarray in the shape of the grid
        NaN outside the mask.
    picture : array of shape (h, w) or (h, w, 3), or None
        Image below the heat map; None: the labels in gray, in small images with a square per pixel.
    norm, cmap
        Normalization and color map of matplotlib.
    """
    from matplotlib.cm import ScalarMappable

    below = gray_labels(grid) if picture is None else _check_picture(picture, grid.shape)
    heat, below = _flat(values, below, values.ndim)
    mappable = ScalarMappable(norm=norm, cmap=cmap)
    colors = mappable.to_rgba(np.nan_to_num(heat))
    strength = np.minimum(np.abs(np.nan_to_num(heat)) / norm.vmax, 1.0)
    ax.imshow(below, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    if picture is None and heat.size <= MOST_SQUARES:
        _draw_squares(ax, heat, colors, strength)
    else:
        colors[..., 3] = np.where(np.isnan(heat), 0.0, FAINTEST + (1 - FAINTEST) * strength**0.6)
        ax.imshow(colors, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    return mappable


def _draw_squares(ax: Any, heat: Values, colors: Any, strength: Values) -> None:
    """Draw a colored square in each pixel, larger for larger values, so that the image stays visible."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    chosen = ~np.isnan(heat) & (strength > LEAST_SHOWN)
    sides = SMALLEST + (LARGEST - SMALLEST) * strength
    squares = [
        Rectangle((x - sides[y, x] / 2, y - sides[y, x] / 2), sides[y, x], sides[y, x])
        for y, x in np.argwhere(chosen).tolist()
    ]
    ax.add_collection(
        PatchCollection(squares, facecolors=colors[chosen], edgecolors="white", linewidths=0.5, zorder=3)
    )


def _check_picture(picture: Any, shape: tuple[int, ...]) -> Values:
    array = np.asarray(picture)
    if array.shape[: len(shape)] != shape:
        raise ValueError(f"picture has shape {array.shape}, the grid {shape}")
    return array / 255.0 if array.dtype.kind in "ui" else array.astype(np.float64)


def _flat(values: Values, below: Values, dimension: int) -> tuple[Values, Values]:
    """Return arrays with two axes: a line becomes one row, a volume its slice with the largest values."""
    while dimension > 2:
        strongest = int(np.nansum(np.abs(values), axis=tuple(range(1, dimension))).argmax())
        values, below, dimension = values[strongest], below[strongest], dimension - 1
    return (values[None], below[None]) if dimension == 1 else (values, below)
