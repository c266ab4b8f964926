"""plot_graph: one graph, with nodes and edges colored by label or attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.checks import shown
from propkernels.convert.check import check_graphs
from propkernels.convert.edges import Listing, list_edges
from propkernels.convert.graph_molecules import atom_positions
from propkernels.graphs.container import Graph, count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.drawing import gray_labels
from propkernels.graphs.grid_database import Graphs, Grid, GridDatabase, OneGraph
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.layout import node_positions
from propkernels.graphs.names import Names
from propkernels.plotting.draw_graph import EDGE_COLOR, draw_graph
from propkernels.plotting.panels import draw_formula, molecule_of, one_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_IN_LEGEND = 20  # node labels
MOST_EDGE_LABELS = 10  # in the legend
UNKNOWN_COLOR = "0.85"
EDGE_STYLES = ("-", "--", ":", "-.")
UNSEEN = -1  # integer label of unobserved edges


def plot_graph(
    graphs: Graphs | OneGraph,
    graph: int = 0,
    *,
    color: str | ArrayLike | None = "auto",
    layout: str | ArrayLike | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw one graph with nodes colored by label or attribute, and edges by label.

    Parallel edges are drawn as arcs, edges of directed graphs as arrows, and molecules as skeletal formulas,
    unless a color or a layout is given.

    Parameters
    ----------
    graphs : GraphDatabase, GridDatabase, Graph, or sequence of graphs
        Any input of :func:`check_graphs`, or one graph of a database.
    graph : int, default=0
        Position of the graph to draw.
    color : {"auto", "attribute"}, array of shape (nodes,) or None, default="auto"
        Values that node colors show. "attribute": the first attribute; an array: one number per node; None: a
        single color. "auto": labels if the graph has any, else the first attribute, else None.
    layout : None, str or array of shape (nodes, 2 or more), default=None
        Node positions. None: those of RDKit for a molecule, otherwise distances close to the number of edges
        between nodes; a name: a layout of networkx, such as "spring"; an array: coordinates.
    legend : bool, default=True
        Whether to add a legend of node and edge labels, or a color bar for numbers.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    propkernels.plotting.plot_explanation : A graph with nodes colored by their contribution to a decision.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(3, random_state=0)
    >>> ax = pk.plotting.plot_graph(data.graphs, 1)
    >>> ax.get_title()
    'graph 1: 13 nodes, 12 edges'
    """
    drawn, name = _chosen(graphs, graph)
    ax = one_axes(ax, (5.6, 4.4))
    if isinstance(drawn, Grid):
        return _draw_grid(ax, drawn, name)
    from matplotlib.colors import Normalize

    is_plain = layout is None and isinstance(color, str) and color == "auto"
    molecule = molecule_of(drawn.database, 0) if is_plain else None
    node, edge = ("node", "edge") if molecule is None else ("atom", "bond")
    edge = f"directed {edge}" if drawn.database.is_directed else edge
    ax.set_title(f"{name}: {count(drawn.n_nodes, node)}, {count(drawn.n_edges, edge)}", fontsize=10)
    if molecule is not None:
        from propkernels.molecules.depiction import Panel

        draw_formula(ax, Panel(molecule, np.empty(0)), Normalize(0.0, 1.0), "Greys")
        return ax
    formula = atom_positions(drawn.database) if layout is None else None
    positions = node_positions(drawn, layout) if formula is None else formula
    styles, edge_handles = _styles(drawn, list_edges(drawn))
    node_handles, colors, mappable = _colors(drawn, color)
    draw_graph(ax, drawn, positions, styles=styles, c=colors)
    if legend and mappable is not None:
        ax.figure.colorbar(mappable, ax=ax, shrink=0.85, aspect=25).set_label(
            "attribute 0" if isinstance(color, str) else "value"
        )
    if legend and (node_handles or edge_handles):
        ax.legend(
            handles=[*node_handles, *edge_handles],
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize=9,
        )
    return ax


def _chosen(graphs: Any, graph: int) -> tuple[Any, str]:
    """Return the graph or grid to draw, and its name by id or position."""
    if isinstance(graphs, (Graph, Grid)):
        id_ = getattr(graphs, "id", None)
        return graphs, "graph" if id_ is None else f"graph {id_}"
    database = graphs if isinstance(graphs, (GraphDatabase, GridDatabase)) else check_graphs(graphs)
    chosen = database[graph]
    id_ = getattr(chosen, "id", None)
    return chosen, f"graph {graph if id_ is None else id_}"


def _colors(graph: Graph, color: Any) -> tuple[list[Any], Any, Any]:
    """Return legend handles, one color per node, and the mappable for a color bar (None with labels)."""
    column, attributes = graph.database.label_column, graph.node_attributes
    if isinstance(color, str) and color not in ("auto", "attribute"):
        raise ValueError(f"color must be 'auto', 'attribute', values or None, got {shown(color)}")
    if isinstance(color, str) and color == "auto" and isinstance(column, LabelColumn):
        return *_by_label(column, graph.database.names), None
    if color is None or (isinstance(color, str) and color == "auto" and attributes is None):
        return [], ["#9ecae1"] * graph.n_nodes, None
    if isinstance(color, str):
        if attributes is None:
            raise ValueError("the graph has no attributes to color by")
        color = attributes[:, 0]
    return [], *_by_number(np.asarray(color, dtype=np.float64), graph.n_nodes)


def _by_label(column: LabelColumn, names: Names) -> tuple[list[Any], list[Any]]:
    """Return legend handles and one color per node, the same for a label in all graphs of a database."""
    from matplotlib import colormaps
    from matplotlib.lines import Line2D

    palette, order = colormaps["tab20"], _label_order(column)
    shade = {label: palette(i % palette.N) for i, label in enumerate(order)}
    colors = [UNKNOWN_COLOR if i < 0 else shade[column.values[i]] for i in column.ids]
    known = set(column.present)
    by_name = {names.label(label): label for label in reversed(order) if label in known}
    present = list(by_name.values())[::-1]  # of labels with one name, the first
    handles = [
        Line2D([], [], ls="", marker="o", ms=8, mfc=shade[label], mec="0.25", label=names.label(label))
        for label in present[:MOST_IN_LEGEND]
    ]
    if len(present) > MOST_IN_LEGEND:
        handles.append(Line2D([], [], ls="", label=f"and {len(present) - MOST_IN_LEGEND} more"))
    if not column.observed.all():
        handles.append(
            Line2D([], [], ls="", marker="o", ms=8, mfc=UNKNOWN_COLOR, mec="0.25", label="unobserved")
        )
    return handles, colors


def _label_order(column: LabelColumn) -> list[Any]:
    """Return all labels of the database, sorted by type, then by value."""

    def key(label: Any) -> tuple[str, Any]:
        return type(label).__name__, label if isinstance(label, (int, float, str)) else str(label)

    return sorted(column.values, key=key)


def _by_number(values: NDArray[np.float64], n_nodes: int) -> tuple[list[Any], Any]:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    if values.shape != (n_nodes,):
        raise ValueError(f"color must hold a number for each of {n_nodes} nodes, got shape {values.shape}")
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    mappable = ScalarMappable(Normalize(low, high if high > low else low + 1.0), "viridis")
    colors = [mappable.to_rgba(value) if np.isfinite(value) else UNKNOWN_COLOR for value in values]
    return colors, mappable


def _styles(graph: Graph, edges: Listing) -> tuple[list[tuple[Any, str]], list[Any]]:
    """Return the color and line style of each edge, and legend handles."""
    from matplotlib import colormaps
    from matplotlib.lines import Line2D

    column = graph.database.edge_label_column
    if column is None or edges.labels is None:
        return [(EDGE_COLOR, "-")] * len(edges.source), []
    order = _label_order(column)
    palette = colormaps["Dark2"]
    # all graphs of a database list the same labels, so that a label has the same style in each of them
    style = {
        label: (palette(i % 8), EDGE_STYLES[i // 2 % len(EDGE_STYLES)] if len(order) > 2 else "-")
        for i, label in enumerate(order)
    }
    shown = [
        None if label is None or (label == UNSEEN and label not in style) else label
        for label in edges.labels.tolist()
    ]
    styles = [(EDGE_COLOR, "-") if label is None else style[label] for label in shown]
    present = [label for label in order if label in set(shown)]
    handles = [
        Line2D(
            [],
            [],
            color=style[label][0],
            ls=style[label][1],
            lw=1.8,
            label=graph.database.names.edge_label(label),
        )
        for label in present[:MOST_EDGE_LABELS]
    ]
    return styles, handles


def _draw_grid(ax: Any, grid: Grid, name: str) -> Any:
    """Draw the labels of an image, or of the middle slice of a volume."""
    image = gray_labels(grid)
    while image.ndim > 2:
        image = image[len(image) // 2]
    ax.imshow(np.atleast_2d(image), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"{name}: {' x '.join(map(str, grid.shape))} pixels", fontsize=10)
    return ax
