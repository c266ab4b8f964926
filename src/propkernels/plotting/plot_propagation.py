"""plot_propagation: the bins of a graph's nodes at each iteration, one drawing per iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer
from propkernels.convert.check import check_graph
from propkernels.counts.counters import numbered
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.graphs.layout import node_positions
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.propagation_kernel import PropagationFeatures
from propkernels.plotting.draw_graph import draw_graph
from propkernels.plotting.panels import several_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_propagation(
    graph: OneGraph,
    features: CountFeatures | None = None,
    *,
    t_max: int = 3,
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw a graph once per iteration; nodes in the same bin have the same color and number.

    Parameters
    ----------
    graph : graph of any kind, see :func:`propkernels.check_graphs`
    features : unfitted features estimator, optional
        Such as ``WeisfeilerLehmanFeatures(t_max=3)``; by default ``PropagationFeatures(t_max=t_max,
        random_state=0)``.
    t_max : int, default=3
        Number of steps of the default features.
    ax : sequence of Axes, optional
        Axes to draw into, one per iteration.

    Returns
    -------
    list of Axes

    See Also
    --------
    propkernels.plotting.plot_graph : One drawing of a graph.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102 (2), 209-245. doi:10.1007/s10994-015-5517-9.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import networkx as nx, propkernels as pk
    >>> axes = pk.plotting.plot_propagation(nx.path_graph(5), t_max=2)
    >>> [axis.get_title() for axis in axes]
    ['t = 0: 2 bins', 't = 1: 2 bins', 't = 2: 2 bins']
    """
    database = check_graph(graph)
    if len(database) != 1:
        raise ValueError(f"plot_propagation draws one graph, got {len(database)}: pass graphs[i]")
    if features is None:
        features = PropagationFeatures(t_max=check_integer(t_max, "t_max", 0), random_state=0)
    bins = node_bins(features, database)
    drawn: Any = database[0]
    positions = node_positions(drawn)
    axes = several_axes(ax, len(bins))
    from matplotlib.colors import Normalize

    for t, (panel, numbers) in enumerate(zip(axes, bins, strict=True)):
        norm = Normalize(0, max(19, int(numbers.max(initial=0))))
        draw_graph(panel, drawn, positions, list(map(str, numbers)), c=numbers, norm=norm, cmap="tab20")
        n_bins = len(np.unique(numbers))
        panel.set_title(f"t = {t}: {n_bins} bin" + ("" if n_bins == 1 else "s"), fontsize=10)
    return list(axes)


def node_bins(features: Any, graph: GraphDatabase) -> list[NDArray[np.int32]]:
    """Return the number of each node's bin at each iteration, bins numbered by first appearance."""
    counter: Any = getattr(features.fit(graph), "_counter", None) if hasattr(features, "fit") else None
    if not hasattr(counter, "codes"):
        raise TypeError(f"{type(features).__name__} does not count nodes: use PropagationFeatures or another")
    by_iteration: dict[int, NDArray[np.int32]] = {}
    for block in counter.codes(graph):
        for stream, iteration in enumerate(block.iterations.tolist()):
            row = stream if block.shared_rows is None else block.shared_rows[stream]
            by_iteration.setdefault(iteration, numbered(block.codes[row])[0])
    return [by_iteration[iteration] for iteration in sorted(by_iteration)]
