"""plot_alignment: two graphs side by side, with the pairs of nodes that align returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels.convert.check import check_edges
from propkernels.graphs.accepted import OneGraph
from propkernels.plotting.canvas import several_axes
from propkernels.plotting.panels import draw_pair
from propkernels.sets.alignment import Alignment, align

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNPAIRED = -2.0  # value of nodes without a partner; -1: pairs with different labels


def plot_alignment(
    g: OneGraph,
    h: OneGraph,
    alignment: Alignment | None = None,
    *,
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw two graphs side by side, nodes colored by how much their neighborhoods agree with their partner's.

    The second graph is turned so that partners, which are joined by lines, are in similar places.

    Parameters
    ----------
    g, h : graph
        As for :func:`propkernels.align`.
    alignment : Alignment, optional
        Result of :func:`propkernels.align` for these graphs, which is called by default.
    ax : sequence of two Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    list of two Axes

    See Also
    --------
    propkernels.align : The pairs of nodes.
    propkernels.plotting.plot_similarity : Contributions of nodes to a kernel value.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import networkx as nx, propkernels as pk
    >>> left, right = pk.plotting.plot_alignment(nx.path_graph(5), nx.cycle_graph(5))
    >>> left.get_title(), right.get_title()
    ('g: 5 of 5 nodes paired', 'h: 5 of 5 nodes paired; 1 edit')
    """
    from matplotlib.colors import Normalize
    from matplotlib.patches import ConnectionPatch

    graphs = check_edges([g, h])
    found = align(graphs[0], graphs[1]) if alignment is None else alignment
    axes = several_axes(ax, 2)
    values = [np.full(n_nodes, UNPAIRED) for n_nodes in graphs.graph_sizes.tolist()]
    for i, steps in enumerate(values):
        steps[found.pairs[:, i]] = found.steps
        axes[i].set_title(f"{'gh'[i]}: {len(found.pairs)} of {len(steps)} nodes paired", fontsize=10)
    edits = "1 edit" if found.cost == 1 else f"{found.cost} edits"
    axes[1].set_title(f"{axes[1].get_title()}; {edits}", fontsize=10)
    norm = Normalize(UNPAIRED, max(int(found.steps.max(initial=0)), 1))
    shared: dict[str, Any] = {"pairs": found.pairs, "as_formulas": False, "meaning": "steps that agree"}
    places = draw_pair(axes, graphs, values, norm, "Greens", **shared)
    for a, b in found.pairs.tolist():
        ends = tuple(places[0][a]), tuple(places[1][b])
        line = ConnectionPatch(*ends, "data", "data", axesA=axes[0], axesB=axes[1])
        line.set(color="0.6", linewidth=0.6, linestyle=":", zorder=0)
        axes[1].figure.add_artist(line)
    return axes
