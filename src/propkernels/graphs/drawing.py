"""A graph as a small SVG: for notebooks and pages, without matplotlib and without scripts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from propkernels.graphs.container import Graph
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.layout import node_positions

MOST_DRAWN = 400  # nodes; larger graphs would be a blot
SMALLEST_LABELED = 4.0  # pixels of a node's radius, below which no letter fits
LONGEST_EDGE = 40.0
SMALLEST, LARGEST = 2.0, 11.0  # radius of a node
MARGIN = 16
N_COLORS = 8  # of the shared style, --class-0 to --class-7
FOR, AGAINST, NEUTRAL = np.array([178, 24, 43]), np.array([33, 102, 172]), np.array([242, 242, 242])
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
    """Draw a graph: nodes colored by label or, red for and blue against, by value.

    Parameters
    ----------
    graph : Graph
    positions : ndarray of shape (nodes, 2), optional
        Where nodes are; by default by the number of edges between them.
    values : sequence of float, optional
        One number per node, which colors stand for.
    marked : collection of int, optional
        Nodes with a ring.
    size : pair of int, default=(240, 170)
        Largest width and height in pixels.
    names : mapping, optional
        What labels are called, such as ``{0: "C", 1: "N"}``.
    title : str, optional
        What screen readers say, and pointers show.

    Returns
    -------
    str
        An ``svg`` element with all texts escaped; a graph of too many nodes gives an empty one.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> graph = pk.check_graphs([(np.array([[0, 1], [1, 0]]), ["C", "<b>"])])[0]
    >>> svg = graph_svg(graph)
    >>> svg.count("<circle"), svg.count("<line"), "<b>" in svg
    (2, 1, False)
    """
    points, content = np.zeros((0, 2)), ""
    if 0 < graph.n_nodes <= MOST_DRAWN:
        points = _placed(node_positions(graph) if positions is None else positions, size)
        radius = _radius(points)
        content = _edges(_pairs(graph), points) + _nodes(graph, points, radius, values, marked, names or {})
    width, height = np.ceil(points.max(axis=0, initial=0) + MARGIN).astype(int).tolist()
    head = f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    return f"{head}<title>{escape(title or repr(graph))}</title>{content}</svg>"


def _placed(positions: Positions, size: tuple[int, int]) -> Positions:
    """Positions in pixels, at one scale in both directions, from the top left."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scale = min(((np.array(size) - 2 * MARGIN) / np.maximum(high - low, 1e-9)).min(), LONGEST_EDGE)
    return np.asarray(
        np.stack([positions[:, 0] - low[0], high[1] - positions[:, 1]], axis=1) * scale + MARGIN
    )


def _radius(points: Positions) -> float:
    """A radius at which most nodes do not overlap, however many edges there are."""
    if len(points) < 2:
        return LARGEST
    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(np.clip(0.42 * np.median(nearest), SMALLEST, LARGEST))


def _pairs(graph: Graph) -> NDArray[np.int64]:
    """Ends of the edges, each once, without loops."""
    ends = np.stack(graph.adjacency.tocoo().coords, axis=1)
    return np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0).astype(np.int64)


def _edges(pairs: NDArray[np.int64], points: Positions) -> str:
    line = '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'
    lines = "".join(line.format(*points[a], *points[b]) for a, b in pairs)
    return f'<g stroke="var(--soft, #888)" stroke-width="1.4">{lines}</g>'


def _nodes(
    graph: Graph,
    points: Positions,
    radius: float,
    values: Any,
    marked: Collection[int],
    names: Mapping[Any, str],
) -> str:
    labels = _labels(graph, names)
    colors = _by_value(values) if values is not None else _by_label(graph)
    parts = []
    for i, (x, y) in enumerate(points):
        fill, ink = colors[i]
        ring = ' stroke="var(--ink, #000)" stroke-width="2.5"' if i in marked else ""
        ring = ring or ' stroke="var(--soft, #666)" stroke-width="0.8"'
        value = "" if values is None else f": {values[i]:+.4g}"
        tip = escape(f"node {i} {labels[i]}{value}".rstrip())
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" style="fill: {fill}"{ring}>'
            f"<title>{tip}</title></circle>"
        )
        if radius >= SMALLEST_LABELED and 0 < len(labels[i]) <= 3:
            place = f'x="{x:.1f}" y="{y:.1f}" font-size="{min(11.0, 1.15 * radius):.1f}"'
            style = f"fill: {ink}; pointer-events: none; text-anchor: middle; dominant-baseline: central"
            parts.append(f'<text {place} style="{style}">{escape(labels[i])}</text>')
    return f'<g font-family="sans-serif">{"".join(parts)}</g>'


def _labels(graph: Graph, names: Mapping[Any, str]) -> list[str]:
    column = graph.database.label_column
    if not isinstance(column, LabelColumn):
        return [""] * graph.n_nodes
    return ["?" if i < 0 else str(names.get(column.values[i], column.values[i])) for i in column.ids]


def _by_label(graph: Graph) -> list[tuple[str, str]]:
    """Colors of the shared style, the same for a label in every graph of a database; and those of texts."""
    column = graph.database.label_column
    if not isinstance(column, LabelColumn):
        return [("var(--panel, #eee)", "var(--ink, #222)")] * graph.n_nodes
    return [
        ("var(--panel, #eee)", "var(--ink, #222)")
        if i < 0
        else (f"var(--class-{i % N_COLORS}, #9ecae1)", "var(--ground, #fff)")
        for i in column.ids.tolist()
    ]


def _by_value(values: Any) -> list[tuple[str, str]]:
    """Red for, blue against, the strongest in full color."""
    numbers = np.asarray(values, dtype=np.float64)
    strength = np.abs(numbers) / max(float(np.abs(numbers).max(initial=0.0)), 1e-300)
    ends = np.where((numbers > 0)[:, None], FOR, AGAINST)
    shades = np.round(NEUTRAL + strength[:, None] * (ends - NEUTRAL)).astype(int)
    inks = np.where(shades @ [0.299, 0.587, 0.114] < 140, "#ffffff", "#1b1f24")
    return [(f"rgb({r}, {g}, {b})", str(ink)) for (r, g, b), ink in zip(shades.tolist(), inks, strict=True)]
