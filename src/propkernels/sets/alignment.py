"""align: pairs of nodes of two graphs by the hierarchy of their bins, and the edits that remain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.checks import check_integer
from propkernels._utils.randomness import mix
from propkernels.codes.contents import Contents, Words, contents_by_value
from propkernels.convert.check import check_edges
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.database import GraphDatabase
from propkernels.sets.isomorphism import MOST_CHOICES, first_ambiguous, stable_colors, told_apart


@dataclass(frozen=True, eq=False)
class Alignment:
    """Pairs of nodes of two graphs, returned by :func:`propkernels.align`.

    Attributes
    ----------
    pairs : ndarray of int64, (pairs, 2)
        A node of the first and a node of the second graph; as many as the smaller graph has nodes.
    steps : ndarray of int64, (pairs,)
        Largest t at which both nodes have the same code; -1: their labels differ.
    cost : int
        Number of edits that turn the first graph into the second along the pairs: changed labels of nodes
        and edges, and nodes and edges that are inserted or deleted. An upper bound of the graph edit
        distance.
    """

    pairs: NDArray[np.int64]
    steps: NDArray[np.int64]
    cost: int

    def __str__(self) -> str:
        kept = int((self.steps >= 0).sum())
        return f"{len(self.pairs)} pairs of nodes, {kept} with equal labels; {self.cost} edits"


def align(g: OneGraph, h: OneGraph, *, t_max: int = 10) -> Alignment:
    """Return pairs of nodes of two graphs: those with the most equal neighborhoods, step by step.

    Codes of color refinement form a hierarchy of bins, for which matching nodes bin by bin, from t_max down
    to 0, is an optimal assignment [1]_. Among equal choices, neighbors of matched nodes are matched first.
    Time is linear in the number of edges times t_max, up to the degrees.

    Parameters
    ----------
    g, h : graph
        An item of a database, a graph of another library, or a tuple; see :func:`propkernels.check_graphs`.
        Node and edge labels count, and weights and attributes do not.
    t_max : int, default=10
        Number of refinements.

    Returns
    -------
    Alignment
        With ``pairs`` and ``cost``, an upper bound of the graph edit distance with costs of 1.

    See Also
    --------
    edit_distance : A smaller number of edits.
    similar_because : Shared bins of two graphs.

    References
    ----------
    .. [1] N. M. Kriege, P.-L. Giscard and R. C. Wilson (2016). On valid optimal assignment kernels and
       applications to graph classification. Advances in Neural Information Processing Systems 29.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> found = pk.align(nx.path_graph(5), nx.cycle_graph(5))
    >>> found.pairs.shape, found.cost
    ((5, 2), 1)
    """
    t_max = check_integer(t_max, "t_max", 0)
    graphs = check_edges([g, h])
    if len(graphs) != 2:
        raise ValueError(f"align compares two graphs, got {len(graphs)}")
    pairs, steps, cost = aligned(graphs, t_max)
    return Alignment(pairs, steps, int(cost))


def aligned(
    graphs: GraphDatabase,
    t_max: int = 10,
    costs: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
    trials: int = 0,
    limit: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Return pairs of nodes of two graphs, the last iteration of their equal codes, and the cost of edits.

    Parameters
    ----------
    graphs : GraphDatabase
    t_max : int
    costs : tuple of float
        Of a new label of a node, a node, a new label of an edge, and an edge.
    trials : int
        Number of swaps of pairs that are tried, to lower the cost.
    limit : int
        With a limit, the smallest cost is searched in at most so many steps; -1 if they are too few.
    """
    contents = contents_by_value(graphs, ("weights", "attributes"))
    codes, middle = contents.refined(contents.node_keys, t_max), int(graphs.graph_ptr[1])
    if np.array_equal(np.sort(codes[-1, :middle]), np.sort(codes[-1, middle:])):
        codes = np.vstack([codes, _told_apart(contents).view(np.int64)])
    partner, steps = (np.full(graphs.n_nodes, -1, dtype=np.int64) for _ in range(2))
    adjacency, words = graphs.adjacency, (contents.nodes[:, 0].copy(), contents.edges[:, 0].copy())
    given = (adjacency.indptr, adjacency.indices, *words, codes, middle, costs, trials, limit)
    cost = _core.align_nodes(*given, partner, steps)
    nodes = np.flatnonzero(partner[:middle] >= 0)
    return np.column_stack([nodes, partner[nodes] - middle]), np.minimum(steps[nodes], t_max), cost


def _told_apart(contents: Contents) -> Words:
    """Return colors of two graphs that refinement does not distinguish, all different in each graph.

    If the graphs are isomorphic and any choice among nodes of one color is right, as in grids and cycles,
    equal colors are an isomorphism.
    """
    colors = told_apart(contents)
    for _ in range(MOST_CHOICES):
        colors = stable_colors(contents, colors)
        chosen = first_ambiguous(colors, contents.graphs.graph_ptr)
        if (chosen < 0).any():
            break
        colors = colors.copy()
        colors[chosen] = mix(colors[chosen], 1)
    return colors
