"""Draw a graph into matplotlib axes: nodes with colors and texts, edges as lines, arcs or arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.convert.edges import Listing, list_edges
from propkernels.graphs.container import Graph
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import label_text

Points = NDArray[np.float64]
Styles = list[tuple[Any, str]]  # color and line style of each edge
MOST_LABELED = 150  # graphs with more nodes are drawn without labels
LETTERS = 3  # of a label in a node; longer ones are cut, as on pages
MOST_CURVED = 2000  # graphs with more edges are drawn without arcs and arrows
LARGE = 30  # marker size above which nodes have a dark outline
EDGE_COLOR = "0.45"
LEAST_EXTENT = 0.4  # least height of a drawing in units of its width, and the other way round


def draw_graph(
    ax: Any,
    graph: Graph,
    positions: Points,
    texts: Sequence[str] | None = None,
    styles: Styles | None = None,
    **colors: Any,
) -> Any:
    """Draw a graph with colored nodes, and return the mappable for a color bar.

    Parameters
    ----------
    ax : Axes
    graph : Graph
    positions : ndarray of shape (nodes, 2)
    texts : sequence of str, optional
        One per node; by default the labels, of graphs of up to 150 nodes.
    styles : list of (color, line style), optional
        One per edge, in the order of ``list_edges``.
    **colors
        Colors of nodes: arguments ``c``, ``norm`` and ``cmap`` of matplotlib's ``scatter``.
    """
    size = float(np.clip(7000 / max(graph.n_nodes, 1), 6, 330))
    large = size > LARGE
    _draw_edges(ax, graph, positions, size, styles)
    nodes = ax.scatter(
        *positions.T,
        s=size,
        zorder=2,
        clip_on=False,
        edgecolors="0.25" if large else "0.7",
        linewidths=0.9 if large else 0.2,
        **colors,
    )
    nodes.update_scalarmappable()
    faces = nodes.get_facecolors()
    font = min(10.0, 0.55 * np.sqrt(size))
    for node, text in enumerate(node_texts(graph) if texts is None else texts):
        ink = text_color(faces[node])
        ax.text(*positions[node], text, ha="center", va="center", fontsize=font, color=ink, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.1)
    _widen(ax, positions)
    ax.set_axis_off()
    return nodes


def _widen(ax: Any, positions: Points) -> None:
    """Give nodes on a line, or a single node, an area to be drawn in."""
    if not len(positions):
        return
    low, high = positions.min(axis=0), positions.max(axis=0)
    least = LEAST_EXTENT * (float((high - low).max()) or 1.0)
    for axis, set_limits in enumerate((ax.set_xlim, ax.set_ylim)):
        if high[axis] - low[axis] < least:
            middle = (low[axis] + high[axis]) / 2
            set_limits(middle - least / 2, middle + least / 2)


def node_texts(graph: Graph) -> list[str]:
    """Return the label of each node; an empty list if the graph has no labels or more than 150 nodes."""
    column = graph.database.label_column
    if not isinstance(column, LabelColumn) or graph.n_nodes > MOST_LABELED:
        return []
    names = graph.database.names.labels
    texts = ["?" if i < 0 else label_text(column.values[i], names) for i in column.ids]
    return [text[: LETTERS - 1] if len(text) > LETTERS else text for text in texts]


def _draw_edges(ax: Any, graph: Graph, positions: Points, size: float, styles: Styles | None) -> None:
    edges = list_edges(graph)
    styles = [(EDGE_COLOR, "-")] * len(edges.source) if styles is None else styles
    widths = 1.5 * edges.weights / edges.weights.max() if len(edges.weights) else edges.weights
    bends = _bends(edges)
    if len(widths) > MOST_CURVED or (not edges.directed and not bends.any()):
        _draw_straight(ax, edges, positions, widths if size > LARGE else widths / 3, styles)
    else:
        _draw_curved(ax, edges, positions, widths, bends, styles, np.sqrt(size) / 2)
    loops = edges.source == edges.target
    if loops.any():
        points = positions[np.unique(edges.source[loops])]
        ax.scatter(
            *points.T, s=2.6 * size, facecolors="none", edgecolors=EDGE_COLOR, linewidths=1.2, zorder=1
        )


def _bends(edges: Listing) -> Points:
    """Return the curvature of each edge, so that parallel edges and opposite directions do not overlap."""
    bends = np.zeros(len(edges.source))
    low, high = np.minimum(edges.source, edges.target), np.maximum(edges.source, edges.target)
    width = int(high.max(initial=0)) + 1
    _, pair, number = np.unique(low * width + high, return_inverse=True, return_counts=True)
    order = np.argsort(pair, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(number) - number, number)
    several = number[pair] > 1
    centered = rank - (number[pair] - 1) / 2
    turned = np.where(edges.source > edges.target, -1.0, 1.0)
    bends[several] = (0.28 * centered * turned)[several]
    return bends


def _draw_straight(ax: Any, edges: Listing, positions: Points, widths: Points, styles: Styles) -> None:
    from matplotlib.collections import LineCollection

    lines: Any = np.stack([positions[edges.source], positions[edges.target]], axis=1)
    colors, dashes = [style[0] for style in styles], [style[1] for style in styles]
    ax.add_collection(LineCollection(lines, linewidths=widths, colors=colors, linestyles=dashes, zorder=1))


def _draw_curved(
    ax: Any, edges: Listing, positions: Points, widths: Points, bends: Points, styles: Styles, shrink: float
) -> None:
    from matplotlib.patches import FancyArrowPatch

    arrow = "-|>" if edges.directed else "-"
    for i, (source, target) in enumerate(zip(edges.source, edges.target, strict=True)):
        if source != target:
            patch = FancyArrowPatch(
                positions[source],
                positions[target],
                arrowstyle=arrow,
                mutation_scale=10,
                connectionstyle=f"arc3,rad={bends[i]}",
                color=styles[i][0],
                linestyle=styles[i][1],
                linewidth=max(float(widths[i]), 0.4),
                shrinkA=0,
                shrinkB=shrink if edges.directed else 0,
                zorder=1,
            )
            ax.add_patch(patch)


def text_color(background: Sequence[float]) -> str:
    """Return "black" or "white", whichever is easier to read on a background color.

    Examples
    --------
    >>> text_color((1.0, 1.0, 0.9)), text_color((0.1, 0.1, 0.4))
    ('black', 'white')
    """
    red, green, blue = background[:3]
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
