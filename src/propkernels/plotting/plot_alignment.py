"""plot_alignment: two graphs side by side, with the pairs of nodes that align returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import has_package
from propkernels._utils.typing import LabelNames
from propkernels.convert.check import check_edges
from propkernels.convert.graph_molecules import BOND_LENGTH, atom_positions
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.container import Graph
from propkernels.graphs.layout import node_positions
from propkernels.plotting.canvas import several_axes
from propkernels.plotting.draw_graph import draw_graph
from propkernels.sets.alignment import Alignment, align

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = NDArray[np.float64]
UNPAIRED = -2.0  # value of nodes without a partner; -1: pairs with different labels


def plot_alignment(
    g: OneGraph,
    h: OneGraph,
    alignment: Alignment | None = None,
    *,
    labels: bool | LabelNames | Sequence[object] = True,
    lines: bool = True,
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw two graphs side by side, nodes colored by how much their surroundings agree with their partner's.

    The second graph is turned so that partners are in similar places.

    Parameters
    ----------
    g, h : graph
        As for :func:`propkernels.align`.
    alignment : Alignment, optional
        Result of :func:`propkernels.align` for these graphs, which is called by default.
    labels : bool, mapping or sequence, default=True
        Texts in the nodes; see :func:`~propkernels.plotting.plot_explanation`.
    lines : bool, default=True
        Whether lines join partners.
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
    first, second = graphs[0], graphs[1]
    places = [node_positions(first), turned(node_positions(second), node_positions(first), found.pairs)]
    most = max(int(found.steps.max(initial=0)), 1)
    for i, (where, graph) in enumerate(zip(axes, (first, second), strict=True)):
        values = np.full(graph.n_nodes, UNPAIRED)
        values[found.pairs[:, i]] = found.steps
        mappable = draw_graph(where, graph, values, places[i], labels, Normalize(UNPAIRED, most), "Greens")
        where.set_title(f"{'gh'[i]}: {len(found.pairs)} of {graph.n_nodes} nodes paired", fontsize=10)
    edits = "1 edit" if found.cost == 1 else f"{found.cost} edits"
    axes[1].set_title(f"{axes[1].get_title()}; {edits}", fontsize=10)
    if lines:
        for a, b in found.pairs.tolist():
            line = ConnectionPatch(
                tuple(places[0][a]), tuple(places[1][b]), "data", "data", axesA=axes[0], axesB=axes[1]
            )
            line.set(color="0.6", linewidth=0.6, linestyle=":", zorder=0)
            axes[1].figure.add_artist(line)
    bar = axes[0].figure.colorbar(mappable, ax=axes, shrink=0.85, aspect=25)
    bar.set_label("steps that agree")
    return axes


def turned(points: Points, reference: Points, pairs: NDArray[np.int64]) -> Points:
    """Return points that are moved, turned or mirrored so that pairs of nodes come close to each other.

    The orthogonal Procrustes problem: of the pairs (i, j), point j goes near reference point i.
    """
    if len(pairs) < 2:
        return points
    wanted, given = reference[pairs[:, 0]], points[pairs[:, 1]]
    left, _, right = np.linalg.svd((given - given.mean(axis=0)).T @ (wanted - wanted.mean(axis=0)))
    moved: Points = (points - given.mean(axis=0)) @ (left @ right) + wanted.mean(axis=0)
    return moved


def matched_positions(g: Graph, h: Graph) -> list[Any]:
    """Return positions of the nodes of two graphs, those of the second turned towards their partners."""
    first, second = (_usual_positions(graph) for graph in (g, h))
    return [first, turned(second, first, align(g, h).pairs)]


def _usual_positions(graph: Graph) -> Any:
    """Return where RDKit draws the atoms of a molecule, with edges about 1 long; else the usual layout."""
    atoms = atom_positions(graph.database) if has_package("rdkit") else None
    return node_positions(graph) if atoms is None else atoms / BOND_LENGTH
