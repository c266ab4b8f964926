"""plot_similarity: two graphs side by side, whose nodes show what makes them similar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels.convert.check import check_graphs
from propkernels.explain.shared_bins import similar_because
from propkernels.explain.similarity import Similarity
from propkernels.graphs.grid_database import Grid
from propkernels.plotting.canvas import several_axes
from propkernels.plotting.draw_graph import draw_graph
from propkernels.plotting.draw_grid import draw_grid
from propkernels.plotting.graph_layout import node_positions

Values = NDArray[np.float64]
NO_LAYOUTS = (None, None)


def plot_similarity(
    kernel: Any,
    g: Any,
    h: Any,
    *,
    t: int | None = None,
    labels: Any = True,
    layouts: Sequence[Any] = NO_LAYOUTS,
    cmap: Any = "Reds",
    ax: Any = None,
) -> list[Any]:
    """Draw two graphs, nodes colored by their part in k(g, h).

    Each shared bin's contribution is shared out among its nodes, on either side.

    Parameters
    ----------
    kernel : estimator or Similarity
        A kernel, as for :func:`similar_because`; or what that returned for these graphs.
    g, h : graph
        As for :func:`similar_because`.
    t : int, optional
        One iteration; by default all together.
    labels : bool or mapping, default=True
        What is written into nodes; see :func:`plot_explanation`.
    layouts : pair, default=(None, None)
        Where the nodes of either graph are drawn; see :func:`plot_explanation`.
    cmap : str or Colormap, default="Reds"
    ax : sequence of two Axes, optional
        Where to draw; by default in a new figure.

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
    >>> left, right = pk.plot_similarity(pk.WeisfeilerLehman(n_iter=2), graphs[0], graphs[1])
    >>> left.get_title().startswith("g: ")
    True
    """
    from matplotlib.colors import Normalize

    axes = several_axes(ax, 2)
    graphs = check_graphs([g, h])
    found = kernel if isinstance(kernel, Similarity) else similar_because(kernel, g, h)
    if found.sizes != tuple(graphs.graph_sizes.tolist()):
        raise ValueError("the similarity is not one of these graphs: their numbers of nodes differ")
    if t is not None and not 0 <= t < found.n_steps:
        raise ValueError(f"t must be between 0 and {found.n_steps - 1}; got {shown(t)}")
    values = [_chosen(found.node_contributions(side), t) for side in ("g", "h")]
    norm = Normalize(0.0, max(float(v.max(initial=0.0)) for v in values) or 1.0)
    for i, where in enumerate(axes):
        mappable = _draw(where, graphs[i], values[i], labels, layouts[i], norm, cmap)
        where.set_title(f"{'gh'[i]}: {np.count_nonzero(values[i])} of {len(values[i])} nodes", fontsize=10)
    bar = axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25)
    bar.set_label(f"part of k(g, h) = {found.value:.4g}{'' if t is None else f', t = {t}'}")
    return axes


def _chosen(contributions: Values, t: int | None) -> Values:
    return contributions.sum(axis=1) if t is None else contributions[:, t]


def _draw(ax: Any, one: Any, values: Values, labels: Any, layout: Any, norm: Any, cmap: Any) -> Any:
    if not isinstance(one, Grid):
        return draw_graph(ax, one, values, node_positions(one, layout), labels, norm, cmap)
    image = np.full(one.shape, np.nan)
    image[np.ones(one.shape, dtype=bool) if one.mask is None else one.mask] = values
    return draw_grid(ax, one, image, None, norm, cmap)
