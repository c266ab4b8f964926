"""plot_similarity and plot_alignment: two graphs side by side, with what they share or pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels._utils.checks import shown
from propkernels.convert.check import check_edges
from propkernels.explain.shared_bins import Similarity
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.plotting.panels import draw_pair, several_axes
from propkernels.sets.alignment import Alignment, align

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


def plot_similarity(
    similarity: Similarity,
    *,
    t: int | None = None,
    cmap: str | Colormap | None = "Reds",
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw two graphs with nodes colored by their contribution to the similarity.

    The contribution of a shared bin is divided among its nodes, in each of the two graphs. The second graph
    is turned so that nodes with equal neighborhoods are in similar places (:func:`propkernels.align`).

    Parameters
    ----------
    similarity : Similarity
        Result of :func:`similar_because`.
    t : int, optional
        Iteration to show; by default the sum over all iterations.
    cmap : str or Colormap, default="Reds"
    ax : sequence of two Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    list of two Axes

    See Also
    --------
    similar_because : The shared bins.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(2, random_state=0).graphs
    >>> left, right = pk.plotting.plot_similarity(pk.similar_because(graphs[0], graphs[1]))
    >>> left.get_title().startswith("g: ")
    True
    """
    from matplotlib.colors import Normalize

    axes = several_axes(ax, 2)
    graphs = similarity.graphs
    if t is not None and not 0 <= t < similarity.n_steps:
        raise ValueError(f"t must be between 0 and {similarity.n_steps - 1}; got {shown(t)}")
    contributions = [similarity.node_contributions(side) for side in ("g", "h")]
    values = [array.sum(axis=1) if t is None else array[:, t] for array in contributions]
    norm = Normalize(0.0, max(float(array.max(initial=0.0)) for array in values) or 1.0)
    pairs = align(graphs[0], graphs[1]).pairs if isinstance(graphs, GraphDatabase) else None
    meaning = f"part of {similarity.noun} = {similarity.value:.4g}{'' if t is None else f', t = {t}'}"
    draw_pair(axes, graphs, values, norm, cmap, pairs=pairs, as_formulas=True, meaning=meaning)
    for where, side, array in zip(axes, "gh", values, strict=True):
        where.set_title(f"{side}: {np.count_nonzero(array)} of {len(array)} nodes", fontsize=10)
    return axes


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
