"""Small SVG drawings of graphs and images, and HTML for notebooks: tables of databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.container import Graph, count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.layout import edge_ends, node_positions
from propkernels.graphs.names import label_text
from propkernels.plotting.pages import svg

MOST_LABELS = 12  # in the table of a graph
MOST_DRAWN = 400  # nodes; drawings of larger graphs are illegible
SIDE = 96
DARKEST, BRIGHTEST = 0.2, 0.95  # gray levels of the smallest and of the largest label
MOST_SQUARES = 1024  # pixels of an image whose values are drawn as squares
SMALLEST, LARGEST, LEAST_SHOWN = 0.15, 0.75, 0.04  # sides of squares, and the smallest share that is drawn
STRONGEST = 80  # percent of the color of the largest value, on which labels are legible
Positions = NDArray[np.float64]


def graph_svg(
    graph: Graph,
    *,
    positions: Positions | None = None,
    values: Sequence[float] | NDArray[np.float64] | None = None,
    marked: Collection[int] = (),
    size: tuple[int, int] = (240, 170),
    names: Mapping[Any, str] | None = None,
    title: str = "",
) -> str:
    """Return an SVG drawing of a graph, nodes colored by label or value (red: positive, blue: negative).

    Molecules are drawn as skeletal formulas, if RDKit is installed.

    Parameters
    ----------
    graph : Graph
    positions : ndarray of shape (nodes, 2), optional
        Positions of the nodes of graphs that are no molecules; by default those of ``node_positions``.
    values : sequence of float, optional
        One number per node, shown as its color.
    marked : collection of int, optional
        Nodes to mark with a ring.
    size : pair of int, default=(240, 170)
        Maximum width and height in pixels.
    names : mapping, optional
        Names of labels, such as ``{0: "C", 1: "N"}``.
    title : str, optional
        Text for screen readers and tooltips.

    Returns
    -------
    str
        An ``svg`` element with all texts escaped; empty for a graph of too many nodes.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> graph = pk.check_graphs([(np.array([[0, 1], [1, 0]]), ["C", "<b>"])])[0]
    >>> drawing = graph_svg(graph)
    >>> drawing.count("<circle"), drawing.count("<line"), "<b>" in drawing
    (2, 1, False)
    """
    if not 0 < graph.n_nodes <= MOST_DRAWN:
        return svg.drawing("", (svg.MARGIN, svg.MARGIN), title or repr(graph))
    formula = _formula(graph, values, marked, size, title)
    if formula is not None:
        return formula
    labels = _labels(graph, names or graph.database.names.labels)
    colors = _by_value(values) if values is not None else _by_label(graph)
    numbers = [""] * graph.n_nodes if values is None else [f": {value:+.4g}" for value in values]
    nodes = [
        svg.Node(label, f"node {i} {label}{number}".rstrip(), *color, i in marked)
        for i, (label, number, color) in enumerate(zip(labels, numbers, colors, strict=True))
    ]
    places = node_positions(graph) if positions is None else positions
    return svg.node_link(places, edge_ends(graph.adjacency), nodes, size, title or repr(graph))


def _formula(
    graph: Graph, values: Any, marked: Collection[int], size: tuple[int, int], title: str
) -> str | None:
    """Return the skeletal formula of a molecule; None for other graphs."""
    import propkernels  # drawings of molecules are in a later package: use their public name

    return propkernels.molecules.formula_svg(
        graph, values=values, marked=marked, size=size, title=title or repr(graph)
    )


def _labels(graph: Graph, names: Mapping[Any, str]) -> list[str]:
    column = graph.database.label_column
    if not isinstance(column, LabelColumn):
        return [""] * graph.n_nodes
    return ["?" if i < 0 else label_text(column.values[i], names) for i in column.ids]


def _by_label(graph: Graph) -> list[tuple[str, str]]:
    """Return fill and text colors per node; a label has the same color in all graphs of a database."""
    column = graph.database.label_column
    if not isinstance(column, LabelColumn):
        return [("var(--panel, #eee)", "var(--ink, #222)")] * graph.n_nodes
    return [
        ("var(--panel, #eee)", "var(--ink, #222)")
        if i < 0
        else (f"var(--class-{i % svg.N_COLORS}, #9ecae1)", "var(--ground, #fff)")
        for i in column.ids.tolist()
    ]


def _by_value(values: Any) -> list[tuple[str, str]]:
    """Return fill and text colors: red for positive, blue for negative values, scaled to the largest."""
    numbers = np.asarray(values, dtype=np.float64)
    shares = STRONGEST * np.abs(numbers) / max(float(np.abs(numbers).max(initial=0.0)), 1e-300)
    ends = np.where(numbers > 0, "var(--for, #b2182b)", "var(--against, #2166ac)")
    return [
        (f"color-mix(in srgb, {end} {share:.0f}%, var(--canvas, #fff))", "var(--ink, #222)")
        for end, share in zip(ends, shares, strict=True)
    ]


def show_database(database: GraphDatabase | GridDatabase, most_rows: int = 5) -> str:
    """Return HTML for a database: a summary and drawings of the first graphs or images."""
    from propkernels.plotting.pages.fragments import Drawing, Table, show_result

    noun = "image" if isinstance(database, GridDatabase) else "graph"
    ids = getattr(database, "ids", None)
    rows: list[list[Any]] = [
        [i if ids is None else str(ids[i]), Drawing(plain_drawing(database, i, (120, 84))), inside(repr(one))]
        for i, one in enumerate(database[:most_rows])
    ]
    rest = len(database) - most_rows
    if rest > 0:
        rows.append(["\N{HORIZONTAL ELLIPSIS}", "", count(rest, f"more {noun}")])
    return show_result(repr(database), Table([noun, "", "contents"], rows))


def inside(text: str) -> str:
    """Return the contents of a repr."""
    return text.partition("(")[2].removesuffix(")")


def show_graph(graph: Graph) -> str:
    """Return HTML for a graph: a drawing and the number of nodes per label."""
    from propkernels.plotting.pages.fragments import Drawing, Remark, Table, show_result

    title = repr(graph) if graph.id is None else f"{graph.id}: {graph!r}"
    if graph.n_nodes > MOST_DRAWN:
        return show_result(title, Remark(f"Graphs of more than {MOST_DRAWN} nodes are not drawn here."))
    rows = [list(pair) for pair in label_numbers(graph)[:MOST_LABELS]]
    table = [Table(["label", "nodes"], rows)] if rows else []
    return show_result(title, Drawing(graph_svg(graph, size=(420, 280))), *table)


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


def plain_drawing(database: Any, i: int, size: tuple[int, int] = (200, 140)) -> str:
    """Return a drawing of one graph, or of one image."""
    if hasattr(database, "adjacency"):
        return graph_svg(database[i], size=size)
    return thumbnail(database, i, side=size[1])


def drawn(
    database: Any, i: int, values: NDArray[np.float64], edges: Any = None, size: tuple[int, int] = (240, 170)
) -> tuple[str, str]:
    """Return a drawing of one graph or image with values of its nodes, and what these are called."""
    import propkernels  # drawings of molecules are in a later package: use their public name

    if not hasattr(database, "adjacency"):
        return thumbnail(database, i, values, size[1]), "pixels"
    graph, title = database[i], repr(database[i])
    formula = propkernels.molecules.formula_svg(graph, values=values, edges=edges, size=size, title=title)
    return (graph_svg(graph, values=values, size=size), "nodes") if formula is None else (formula, "atoms")


def label_numbers(graph: Graph) -> list[tuple[str, int]]:
    """Return labels and their numbers of nodes, most frequent first."""
    column = graph.database.label_column
    if column is None or not hasattr(column, "ids"):
        return []
    numbers: Counter[str] = Counter()
    for i, number in enumerate(np.bincount(column.ids[column.observed], minlength=len(column.values))):
        numbers[graph.database.names.label(column.values[i])] += int(number)
    return [pair for pair in numbers.most_common() if pair[1]]
