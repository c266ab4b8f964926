"""Graphs as SVG: labels by color and, in small graphs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu
from scipy.spatial import cKDTree

from propkernels.graphs.labels import LabelColumn
from propkernels.plotting.layout import node_positions

if TYPE_CHECKING:
    from markupsafe import Markup

    from propkernels.graphs.database import Graph, GraphDatabase

SIDE, MARGIN = 220, 14
MOST_STRETCHED = 60.0  # of an edge of length 1, in a drawing of few nodes
SMALLEST, LARGEST = 1.2, 9.0  # nodes
MOST_DRAWN = 1500  # nodes
MOST_NAMED = 60
N_COLORS = 8


def label_colors(graphs: GraphDatabase) -> dict[Any, int]:
    """The most frequent labels get a color each; all others share the last."""
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        return {}
    counts = np.bincount(column.ids[column.observed], minlength=len(column.values))
    order = np.argsort(-counts, kind="stable")
    return {column.values[i]: min(rank, N_COLORS - 1) for rank, i in enumerate(order.tolist())}


def draw_graph_svg(graph: Graph, colors: Mapping[Any, int], names: Mapping[Any, str], title: str) -> Markup:
    """Return one graph as an SVG element; very large ones as a sentence."""
    from markupsafe import Markup, escape

    if graph.n_nodes > MOST_DRAWN:
        return Markup('<p class="pk-soft">too large to be drawn: {} nodes</p>').format(f"{graph.n_nodes:,}")
    points = fitted(node_positions(graph))
    radius = node_radius(points)
    body = _edges(graph, points) + _nodes(graph, points, radius, colors, names)
    name = escape(title)
    height = float(np.ptp(points[:, 1])) + 2 * MARGIN if len(points) else 2 * MARGIN
    window = f"0 {(SIDE - height) / 2:.1f} {SIDE} {height:.1f}"
    head = f'<svg class="pk-graph" viewBox="{window}" role="img" aria-label="{name}">'
    return Markup(f"{head}<title>{name}</title>{body}</svg>")


def fitted(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points moved and scaled, equally in both directions, into the square of a drawing."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    scale = min((SIDE - 2 * MARGIN) / max(float((high - low).max()), 1e-9), MOST_STRETCHED)
    moved = (points - (low + high) / 2) * scale
    return np.asarray(moved * [1, -1] + SIDE / 2)


def node_radius(points: NDArray[np.float64]) -> float:
    """A radius at which most nodes do not overlap.

    Examples
    --------
    >>> node_radius(np.array([[0.0, 0.0], [10.0, 0.0]]))
    4.2
    """
    if len(points) < 2:
        return LARGEST
    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(np.clip(0.42 * np.median(nearest), SMALLEST, LARGEST))


def _edges(graph: Graph, points: NDArray[np.float64]) -> str:
    upper = triu(graph.adjacency + graph.adjacency.T, k=1).tocoo()
    width = 1.4 if graph.n_nodes <= MOST_NAMED else 0.5
    path = "".join(
        f"M{points[i, 0]:.1f} {points[i, 1]:.1f}L{points[j, 0]:.1f} {points[j, 1]:.1f}"
        for i, j in zip(upper.row, upper.col, strict=True)
    )
    return f'<path class="pk-edges" stroke-width="{width}" d="{path}"/>'


def _nodes(
    graph: Graph,
    points: NDArray[np.float64],
    radius: float,
    colors: Mapping[Any, int],
    names: Mapping[Any, str],
) -> str:
    from markupsafe import escape

    column, parts = graph.database.label_column, []
    is_named = isinstance(column, LabelColumn) and graph.n_nodes <= MOST_NAMED
    for node, (x, y) in enumerate(points):
        label = _label(column, node)
        color = colors.get(label, N_COLORS - 2) if colors else 0
        parts.append(f'<circle class="pk-node pk-c{color}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>')
        text = str(names.get(label, label)) if label is not None else "?"
        if is_named and len(text) <= 3:
            size = radius * (1.25 if len(text) == 1 else 1.0 if len(text) == 2 else 0.75)
            place = f'x="{x:.1f}" y="{y + 0.35 * size:.1f}" font-size="{size:.1f}"'
            parts.append(f'<text class="pk-in" {place}>{escape(text)}</text>')
    return "".join(parts)


def _label(column: Any, node: int) -> Any:
    if not isinstance(column, LabelColumn) or column.ids[node] < 0:
        return None
    return column.values[column.ids[node]]
