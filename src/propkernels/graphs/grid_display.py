"""Text and HTML representations of grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.container import count

if TYPE_CHECKING:
    from propkernels.graphs.grid_database import GridDatabase

SIDE = 96
COLORS = np.array(
    [[31, 119, 180], [255, 187, 120], [44, 160, 44], [214, 39, 40], [148, 103, 189], [140, 86, 75],
     [227, 119, 194], [127, 127, 127], [188, 189, 34], [23, 190, 207]], dtype=np.uint8,
)  # fmt: skip
BLANK = np.array([255, 255, 255], dtype=np.uint8)


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


def thumbnail(grids: GridDatabase, i: int) -> str:
    """Return an HTML image of a picture's labels or of a volume's middle slice; empty for 1-d grids."""
    from propkernels.plotting.pages.svg import pixels

    if grids.dimension < 2:
        return ""
    picture = colored(grids, i)
    while picture.ndim > 3:
        picture = picture[len(picture) // 2]
    return pixels(picture, f"image {i}", SIDE)


def colored(grids: GridDatabase, i: int) -> NDArray[np.uint8]:
    """Return an RGB image with one color per (most likely) label, white for unobserved and masked pixels."""
    single = grids[[i]]
    column: Any = single.label_column
    likeliest = column.ids if hasattr(column, "ids") else column.probabilities.toarray().argmax(axis=1)
    known = column.observed if hasattr(column, "ids") else column.known
    colors = np.where(known[:, None], COLORS[likeliest % len(COLORS)], BLANK)
    shape, inside = tuple(single.shapes[0]), single.inside_of(0)
    picture = np.tile(BLANK, (int(np.prod(shape)), 1))
    picture[slice(None) if inside is None else inside] = colors
    return picture.reshape(*shape, 3)
