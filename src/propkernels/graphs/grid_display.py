"""Text and HTML representations of grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.container import count

if TYPE_CHECKING:
    from propkernels.graphs.grid_database import Grid, GridDatabase

SIDE = 96
DARKEST, BRIGHTEST = 0.2, 0.95  # gray levels of the smallest and of the largest label
MOST_SQUARES = 1024  # pixels of an image whose values are drawn as squares
SMALLEST, LARGEST, LEAST_SHOWN = 0.15, 0.75, 0.04  # sides of squares, and the smallest share that is drawn


def sizes(grids: GridDatabase) -> str:
    """Return the size of the images, " of 64 x 64", or a range of sizes per axis, " of 3-4 x 3-6"."""
    if len(grids) == 0:
        return ""
    low, high = grids.shapes.min(axis=0), grids.shapes.max(axis=0)
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return " of " + " x ".join(str(a) if a == b else f"{a}-{b}" for a, b in pairs)


def describe(grids: GridDatabase) -> str:
    """Return the numbers of pixels, labels, masked and unobserved pixels as text."""
    parts = [count(grids.n_nodes, "pixel"), count(len(grids.label_values), "label")]
    if grids.node_attributes is not None:
        parts.append(count(grids.node_attributes.shape[1], "attribute"))
    outside = int(grids.pixel_ptr[-1]) - grids.n_nodes
    if outside:
        parts.append(f"{outside} masked out")
    missing = int(np.count_nonzero(~grids.label_column.observed))
    if missing:
        parts.append(f"{missing} unobserved")
    return ", ".join(parts)


def one_line(grids: GridDatabase) -> str:
    """Return the repr of a database of grids."""
    return f"GridDatabase({count(len(grids), 'image')}{sizes(grids)}, {describe(grids)})"


def html_table(grids: GridDatabase, most_rows: int = 5) -> str:
    """Return an HTML table for notebooks: a summary and the first images."""
    from propkernels.plotting.pages.fragments import Drawing, Table, show_result

    rows: list[list[Any]] = []
    for i in range(min(len(grids), most_rows)):
        image = grids[[i]]
        contents = f"{sizes(image).removeprefix(' of ')}: {describe(image)}"
        rows.append([i, Drawing(thumbnail(grids, i)), contents])
    rest = len(grids) - most_rows
    if rest > 0:
        rows.append(["\N{HORIZONTAL ELLIPSIS}", "", count(rest, "more image")])
    return show_result(one_line(grids), Table(["image", "", "contents"], rows))


def thumbnail(grids: GridDatabase, i: int, values: Any = None, side: int = SIDE) -> str:
    """Return a picture of an image's labels in gray, or of a volume's middle slice; empty for 1-d grids.

    Parameters
    ----------
    grids : GridDatabase
    i : int
    values : ndarray, optional
        One number per pixel, drawn as squares, red for positive and blue for negative values, in images of up
        to 1,024 pixels.
    side : int, default=96
        Largest width and height in pixels.
    """
    from propkernels.plotting.pages import svg

    if grids.dimension < 2:
        return ""
    shades = np.round(255 * gray_labels(grids[i])).astype(np.uint8)
    while shades.ndim > 2:
        shades, values = shades[len(shades) // 2], None
    if values is None or shades.size > MOST_SQUARES:
        return svg.pixels(np.repeat(shades[..., None], 3, axis=-1), f"image {i}", side)
    heat = np.full(shades.shape, 0.0)
    inside = grids.inside_of(i)
    heat.ravel()[slice(None) if inside is None else inside] = values
    strength = np.abs(heat) / max(float(np.abs(heat).max()), 1e-300)
    unit = side / max(shades.shape)
    parts = [
        svg.element(
            "rect", x=x * unit, y=y * unit, width=unit + 0.5, height=unit + 0.5, fill=f"rgb({g}, {g}, {g})"
        )
        for (y, x), g in np.ndenumerate(shades)
    ]
    for y, x in np.argwhere(strength > LEAST_SHOWN).tolist():
        own = unit * (SMALLEST + (LARGEST - SMALLEST) * strength[y, x])
        color = "var(--for, #b2182b)" if heat[y, x] > 0 else "var(--against, #2166ac)"
        place = {
            "x": (x + 0.5) * unit - own / 2,
            "y": (y + 0.5) * unit - own / 2,
            "width": own,
            "height": own,
        }
        parts.append(svg.element("rect", **place, style=f"fill: {color}", stroke="#fff", stroke_width=0.5))
    return svg.drawing("".join(parts), (unit * shades.shape[1], unit * shades.shape[0]), f"image {i}")


def gray_labels(grid: Grid) -> NDArray[np.float64]:
    """Return one gray level per pixel: its label, or its most probable one; white if unobserved."""
    column: Any = grid.database.label_column
    if hasattr(column, "ids"):
        ranks, k = grid._spread(np.where(column.observed, column.ids, -1), -1), len(column.values)
    else:
        likeliest = column.probabilities.toarray().argmax(axis=1)
        ranks, k = grid._spread(np.where(column.known, likeliest, -1), -1), column.probabilities.shape[1]
    return np.where(ranks >= 0, DARKEST + (BRIGHTEST - DARKEST) * ranks / max(k - 1, 1), 1.0)
