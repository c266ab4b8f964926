"""Draw a graph into matplotlib axes: nodes colored by value, edges as lines or arrows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu

from propkernels.graphs.container import Graph
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import label_text
from propkernels.plotting.canvas import text_color

MOST_LABELED = 150  # graphs with more nodes are drawn without labels
MOST_ARROWS = 400  # directed graphs with more edges are drawn with lines
LARGE = 30  # marker size above which nodes have a dark outline
EDGE_COLOR = "0.45"
BOND_ORDERS = {"single": 1.0, "aromatic": 1.5, "double": 2.0, "triple": 3.0}
BOND_LINES = {  # distance of each line from the middle, and its style
    1.0: ((0.0, "-"),),
    1.5: ((-0.5, "-"), (0.5, "--")),
    2.0: ((-0.5, "-"), (0.5, "-")),
    3.0: ((-1.0, "-"), (0.0, "-"), (1.0, "-")),
}
BOND_GAP = 0.12  # distance of parallel lines, in lengths of an edge
LEAST_EXTENT = 0.4  # least height of a drawing in units of its width, and the other way round


def draw_graph(
    ax: Any,
    graph: Graph,
    values: NDArray[np.float64],
    positions: NDArray[np.float64],
    labels: Any,
    norm: Any,
    cmap: Any,
) -> Any:
    """Draw a graph with colored nodes, and return the mappable for a color bar.

    Parameters
    ----------
    ax : Axes
    graph : Graph
    values : ndarray of shape (nodes,)
        Values that the colors show.
    positions : ndarray of shape (nodes, 2)
    labels : bool, mapping, or sequence
        See :func:`propkernels.plotting.plot_explanation`.
    norm, cmap
        Normalization and color map of matplotlib.
    """
    size = float(np.clip(7000 / max(graph.n_nodes, 1), 6, 330))
    large = size > LARGE
    _draw_edges(ax, graph, positions, size)
    nodes = ax.scatter(
        *positions.T,
        s=size,
        c=values,
        norm=norm,
        cmap=cmap,
        zorder=2,
        clip_on=False,
        edgecolors="0.25" if large else "0.7",
        linewidths=0.9 if large else 0.2,
    )
    for node, text in enumerate(node_texts(graph, labels)):
        color = text_color(nodes.to_rgba(values[node]))
        font = min(10.0, 0.55 * np.sqrt(size))
        ax.text(*positions[node], text, ha="center", va="center", fontsize=font, color=color, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.1)
    _widen(ax, positions)
    ax.set_axis_off()
    return nodes


def _widen(ax: Any, positions: NDArray[np.float64]) -> None:
    """Give nodes on a line, or a single node, an area to be drawn in."""
    if not len(positions):
        return
    low, high = positions.min(axis=0), positions.max(axis=0)
    least = LEAST_EXTENT * (float((high - low).max()) or 1.0)
    for axis, set_limits in enumerate((ax.set_xlim, ax.set_ylim)):
        if high[axis] - low[axis] < least:
            middle = (low[axis] + high[axis]) / 2
            set_limits(middle - least / 2, middle + least / 2)


def node_texts(graph: Graph, labels: Any) -> list[str]:
    """Return one text per node; an empty list if the graph has no labels or more than 150 nodes."""
    if isinstance(labels, (bool, np.bool_, Mapping)):
        column = graph.database.label_column
        if labels is False or not isinstance(column, LabelColumn) or graph.n_nodes > MOST_LABELED:
            return []
        names = labels if isinstance(labels, Mapping) else graph.database.names.labels
        return ["?" if i < 0 else label_text(column.values[i], names) for i in column.ids]
    texts = [str(text) for text in labels]
    if len(texts) != graph.n_nodes:
        raise ValueError(f"labels must hold a text for each of {graph.n_nodes} nodes, got {len(texts)}")
    return texts


def _draw_edges(ax: Any, graph: Graph, positions: NDArray[np.float64], size: float) -> None:
    from matplotlib.collections import LineCollection

    adjacency = graph.adjacency.tocoo()
    if graph.database.is_directed and adjacency.nnz <= MOST_ARROWS:
        _draw_arrows(ax, adjacency, positions, size)
        return
    widest = 1.6 if size > LARGE else 0.4
    bonds = bond_orders(graph)
    if bonds is not None:
        draw_bonds(ax, bonds, positions, widest)
        return
    upper = triu(adjacency.maximum(adjacency.T), k=1).tocoo()
    widths = widest * upper.data / upper.data.max() if upper.nnz else []
    lines: Any = np.stack([positions[upper.row], positions[upper.col]], axis=1)
    ax.add_collection(LineCollection(lines, linewidths=widths, colors=EDGE_COLOR, zorder=1))


def bond_orders(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return the ends and orders of the bonds of a graph; None if its edge labels are not called bonds."""
    column, names = graph.database.edge_label_column, graph.database.names
    if column is None or graph.database.is_directed or not column.observed.all():
        return None
    orders = [BOND_ORDERS.get(names.edge_label(value)) for value in column.values]
    if not orders or None in orders:
        return None
    ends = np.stack(graph.adjacency.tocoo().coords, axis=1)
    once = ends[:, 0] < ends[:, 1]
    return ends[once], np.array(orders, dtype=np.float64)[column.ids[once]]


def draw_bonds(
    ax: Any,
    bonds: tuple[NDArray[np.int64], NDArray[np.float64]],
    positions: NDArray[np.float64],
    width: float,
) -> None:
    """Draw single, double and triple bonds as parallel lines, aromatic ones with a dashed line."""
    from matplotlib.collections import LineCollection

    ends, orders = bonds
    lines = positions[ends]
    along = lines[:, 1] - lines[:, 0]
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    unit = np.median(lengths) if len(lengths) else 1.0
    across = BOND_GAP * unit * np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(lengths, 1e-9)
    across *= _inner_sides(ends, lines, across, orders == BOND_ORDERS["aromatic"])[:, None]
    for order, shifts in BOND_LINES.items():
        chosen = orders == order
        for shift, style in shifts:
            moved: Any = lines[chosen] + (shift * across[chosen])[:, None]
            ax.add_collection(
                LineCollection(moved, linewidths=width, colors=EDGE_COLOR, linestyles=style, zorder=1)
            )


def _inner_sides(
    ends: NDArray[np.int64], lines: NDArray[np.float64], across: Any, in_ring: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return 1 per bond if the ring that it belongs to lies where ``across`` points; otherwise -1."""
    sums = np.zeros((int(ends.max(initial=-1)) + 1, 2))
    for here, there in ((0, 1), (1, 0)):
        np.add.at(sums, ends[in_ring, here], (lines[:, there] - lines[:, here])[in_ring])
    toward = sums[ends[:, 0]] + sums[ends[:, 1]]  # steps along the bond itself cancel
    return np.where((toward * across).sum(axis=1) < 0, -1.0, 1.0)


def _draw_arrows(ax: Any, adjacency: Any, positions: NDArray[np.float64], size: float) -> None:
    style = {"arrowstyle": "-|>", "color": EDGE_COLOR, "shrinkA": 0, "shrinkB": np.sqrt(size) / 2}
    for row, column in zip(adjacency.row, adjacency.col, strict=True):
        if row != column:
            ax.annotate("", positions[column], positions[row], arrowprops=style, zorder=1)
