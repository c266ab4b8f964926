"""plot_similarity: two graphs side by side, with what they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from propkernels._utils.checks import shown
from propkernels.explain.shared_bins import Similarity
from propkernels.graphs.database import GraphDatabase
from propkernels.plotting.panels import draw_pair, several_axes
from propkernels.sets.alignment import align

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_similarity(
    similarity: Similarity,
    *,
    t: int | None = None,
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
    draw_pair(axes, graphs, values, norm, pairs, meaning)
    for where, side, array in zip(axes, "gh", values, strict=True):
        where.set_title(f"{side}: {np.count_nonzero(array)} of {len(array)} nodes", fontsize=10)
    return axes
