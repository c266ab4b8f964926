"""plot_contacts: a graph in time, one line per vertex, with contacts and nodes colored by contributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.explain.explanation import Explanation
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.moments import CONTACT, RECEIVED, edges_of
from propkernels.plotting.panels import one_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = NDArray[np.float64]
COLORS = "RdBu_r"  # of contributions, from negative to positive
MOST_NAMES = 40  # vertices whose names are written


def plot_contacts(
    graphs: Graphs | Explanation,
    graph: int = 0,
    *,
    ax: Axes | None = None,
) -> Axes | Any:
    """Draw a graph in time: time from left to right, one line per vertex, one upright line per contact.

    Parameters
    ----------
    graphs : Explanation, or graphs in time
        With an explanation (``model.explain(graphs)``), contacts and nodes are colored by their contribution
        to the decision; without, nodes are colored by their labels.
    graph : int, default=0
        Which of the graphs.
    ax : Axes, optional
        Axes to draw on.

    Returns
    -------
    Axes

    See Also
    --------
    from_contacts : Graphs in time from a table of contacts.
    propkernels.explain.Explanation.contacts : The contributions of contacts as a table.

    Examples
    --------
    >>> import pandas as pd, propkernels as pk
    >>> met = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cy"], "time": [1, 2]})
    >>> ax = pk.plotting.plot_contacts(pk.from_contacts(met, graph=None))
    >>> ax.get_xlabel(), len(ax.get_yticks())
    ('time', 3)
    """
    explanation = graphs if isinstance(graphs, Explanation) else None
    database: Any = graphs if explanation is None else explanation.graphs
    if getattr(database, "moments", None) is None:
        raise TypeError("plot_contacts needs graphs in time, or an explanation of them: use from_contacts")
    one = database[[graph]]
    rows, names = _lines(one)
    axes = one_axes(ax, (7.0, 0.6 + 0.32 * min(len(names), MOST_NAMES)))
    for line in range(len(names)):
        own = one.moments.times[rows == line]
        axes.plot([own.min(), own.max()], [line, line], color="0.8", linewidth=1, zorder=1)
    if explanation is None:
        _draw_labels(axes, one, rows)
    else:
        _draw_contributions(axes, one, rows, explanation, graph)
    axes.set_xlabel("time")
    axes.set_ylabel("vertex")
    axes.set_yticks(range(len(names)), names if len(names) <= MOST_NAMES else [""] * len(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.03)
    axes.autoscale_view(scaley=False)
    return axes


def _lines(one: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Return the line of each node, vertices by their first time, and the names of the vertices."""
    vertices, times = one.moments.vertices, one.moments.times
    used, line = np.unique(vertices.ids, return_inverse=True)
    first = np.full(len(used), np.inf)
    np.minimum.at(first, line, times)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[line], [str(vertices.values[used[i]]) for i in order]


def _segments(one: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Values]]:
    """Return the ends of each contact, smaller node first, and its line in the picture."""
    places = np.flatnonzero(edges_of(one, (CONTACT, RECEIVED)))
    first = np.repeat(np.arange(one.n_nodes), np.diff(one.adjacency.indptr))[places]
    ends = np.unique(np.sort(np.column_stack([first, one.adjacency.indices[places]]), axis=1), axis=0)
    points = np.stack([one.moments.times[ends], rows[ends].astype(float)], axis=-1)
    return ends, list(points)


def _draw_labels(axes: Any, one: Any, rows: NDArray[np.int64]) -> None:
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(_segments(one, rows)[1], colors="0.5", linewidths=1.2, zorder=2))
    column = one.label_column
    if column is None:
        axes.scatter(one.moments.times, rows, s=28, color="0.3", zorder=3)
        return
    for number, value in enumerate((*column.values, None)):
        chosen = column.ids == (number if number < len(column.values) else -1)
        if chosen.any():
            text = "not observed" if value is None else one.names.label(value)
            axes.scatter(one.moments.times[chosen], rows[chosen], s=28, label=text, zorder=3)
    axes.legend(title="label", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _draw_contributions(
    axes: Any, one: Any, rows: NDArray[np.int64], explanation: Explanation, graph: int
) -> None:
    from matplotlib.collections import LineCollection

    ends, points = _segments(one, rows)
    listed, values = explanation.edge_contributions(graph)
    number = {(int(a), int(b)): k for k, (a, b) in enumerate(listed)}
    shares = np.array([values[number[int(a), int(b)]] for a, b in ends])
    nodes = explanation.of_graph(explanation.position(graph)).sum(axis=1)
    limit = max(float(np.abs(shares).max(initial=0.0)), 1e-12)
    lines = LineCollection(points, cmap=COLORS, linewidths=2.2, zorder=2, array=shares, clim=(-limit, limit))
    axes.add_collection(lines)
    limit = max(float(np.abs(nodes).max(initial=0.0)), 1e-12)
    axes.scatter(
        one.moments.times, rows, s=34, c=nodes, cmap=COLORS, vmin=-limit, vmax=limit, edgecolors="0.4",
        linewidths=0.5, zorder=3,
    )  # fmt: skip
    axes.set_title(f"{explanation.subject}: contacts", fontsize="medium")
    axes.figure.colorbar(lines, ax=axes, label="contribution of a contact")
