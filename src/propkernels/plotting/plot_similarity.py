"""plot_similarity: two graphs side by side, nodes colored by their contribution to the kernel value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.checks import shown
from propkernels._utils.typing import Estimator, LabelNames
from propkernels.convert.check import check_graphs
from propkernels.convert.graph_molecules import placed_molecule
from propkernels.explain.shared_bins import Similarity, similar_because
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid
from propkernels.graphs.layout import node_positions
from propkernels.plotting.canvas import several_axes
from propkernels.plotting.draw_graph import draw_graph
from propkernels.plotting.draw_grid import draw_grid
from propkernels.plotting.plot_alignment import matched_positions
from propkernels.plotting.plot_explanation import draw_formula, molecule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

Values = NDArray[np.float64]
NO_LAYOUTS = (None, None)


def plot_similarity(
    kernel: Estimator | Similarity,
    g: OneGraph,
    h: OneGraph,
    *,
    t: int | None = None,
    labels: bool | LabelNames | Sequence[object] = True,
    layouts: Sequence[str | ArrayLike | None] = NO_LAYOUTS,
    cmap: str | Colormap | None = "Reds",
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw two graphs with nodes colored by their contribution to k(g, h).

    The contribution of a shared bin is divided among its nodes, in each of the two graphs.

    Parameters
    ----------
    kernel : estimator or Similarity
        A kernel, as for :func:`similar_because`, or the result of that function for these graphs.
    g, h : graph
        As for :func:`similar_because`.
    t : int, optional
        Iteration to show; by default the sum over all iterations.
    labels : bool or mapping, default=True
        Texts in the nodes; see :func:`~propkernels.plotting.plot_explanation`.
    layouts : pair, default=(None, None)
        Node positions of g and of h; see :func:`~propkernels.plotting.plot_explanation`. By default, h is
        turned so that nodes with equal surroundings are in similar places (:func:`propkernels.align`).
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
    >>> left, right = pk.plotting.plot_similarity(pk.WeisfeilerLehman(t_max=2), graphs[0], graphs[1])
    >>> left.get_title().startswith("g: ")
    True
    """
    from matplotlib.colors import Normalize

    axes = several_axes(ax, 2)
    graphs = check_graphs([g, h])
    similarity = kernel if isinstance(kernel, Similarity) else similar_because(kernel, g, h)
    if similarity.sizes != tuple(graphs.graph_sizes.tolist()):
        raise ValueError("the similarity is of other graphs: numbers of nodes differ")
    if t is not None and not 0 <= t < similarity.n_steps:
        raise ValueError(f"t must be between 0 and {similarity.n_steps - 1}; got {shown(t)}")
    values = [_chosen(similarity.node_contributions(side), t) for side in ("g", "h")]
    norm = Normalize(0.0, max(float(v.max(initial=0.0)) for v in values) or 1.0)
    is_plain = layouts is NO_LAYOUTS and labels is True
    molecules = [molecule_of(graphs, i) if is_plain else None for i in (0, 1)]
    if layouts is NO_LAYOUTS and isinstance(graphs, GraphDatabase):
        layouts = matched_positions(graphs[0], graphs[1])
    for i, where in enumerate(axes):
        if any(molecule is None for molecule in molecules):
            mappable = _draw(where, graphs[i], values[i], labels, layouts[i], norm, cmap)
        else:
            mappable = _draw_molecule(where, molecules[i], values[i], layouts[i], norm, cmap)
        where.set_title(f"{'gh'[i]}: {np.count_nonzero(values[i])} of {len(values[i])} nodes", fontsize=10)
    bar = axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25)
    bar.set_label(f"part of k(g, h) = {similarity.value:.4g}{'' if t is None else f', t = {t}'}")
    return axes


def _chosen(contributions: Values, t: int | None) -> Values:
    return contributions.sum(axis=1) if t is None else contributions[:, t]


def _draw_molecule(ax: Any, molecule: Any, values: Values, layout: Any, norm: Any, cmap: Any) -> Any:
    """Draw a skeletal formula at given positions, and return the mappable for a color bar."""
    from propkernels.molecules.depiction import Panel

    return draw_formula(ax, Panel(placed_molecule(molecule, layout), values), norm, cmap, 1.0)


def _draw(
    ax: Any, graph: Graph | Grid, values: Values, labels: Any, layout: Any, norm: Any, cmap: Any
) -> Any:
    """Draw a graph or a grid, and return the mappable for a color bar."""
    if not isinstance(graph, Grid):
        return draw_graph(ax, graph, values, node_positions(graph, layout), labels, norm, cmap)
    image = np.full(graph.shape, np.nan)
    image[np.ones(graph.shape, dtype=bool) if graph.mask is None else graph.mask] = values
    return draw_grid(ax, graph, image, None, norm, cmap)
