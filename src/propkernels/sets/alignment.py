"""align and edit_distance: pairs of nodes of two graphs, and the edits that turn one into the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.checks import check_choice, check_integer, shown
from propkernels._utils.randomness import mix
from propkernels.codes.contents import Contents, Words, contents_by_value
from propkernels.convert.check import check_edges
from propkernels.graphs.container import count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.sets.isomorphism import MOST_CHOICES, first_ambiguous, stable_colors, told_apart

COSTS = ("relabel_node", "node", "relabel_edge", "edge")
TRIALS = 8000  # swaps of pairs of nodes
TRIALS_OF_A_NODE = 64  # of large graphs
MOST_STEPS = 2_000_000  # of the exact search
Costs: TypeAlias = Mapping[str, float] | None  # of edits, by name
Pair: TypeAlias = tuple[int | None, int | None]
Ends: TypeAlias = tuple[int, int]
EdgePair: TypeAlias = tuple[Ends | None, Ends | None]


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
        pairs = count(len(self.pairs), "pair")
        return f"{pairs} of nodes, {kept} with equal labels; {count(self.cost, 'edit')}"


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
    pairs, steps, cost = aligned(_two(g, h), t_max)
    return Alignment(pairs, steps, int(cost))


def _two(g: OneGraph, h: OneGraph) -> GraphDatabase:
    """Return two graphs as a database."""
    graphs = check_edges([g, h])
    if len(graphs) != 2:
        raise ValueError(f"two graphs are compared, got {len(graphs)}")
    return graphs


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


@overload
def edit_distance(
    g: OneGraph, h: OneGraph, *, costs: Costs = None, exact: bool = False, return_path: Literal[False] = False
) -> int | float: ...


@overload
def edit_distance(
    g: OneGraph, h: OneGraph, *, costs: Costs = None, exact: bool = False, return_path: Literal[True]
) -> tuple[int | float, list[Pair], list[EdgePair]]: ...


def edit_distance(
    g: OneGraph, h: OneGraph, *, costs: Costs = None, exact: bool = False, return_path: bool = False
) -> int | float | tuple[int | float, list[Pair], list[EdgePair]]:
    """Return an upper bound of the graph edit distance: edits that turn one graph into the other.

    An edit inserts or deletes a node or an edge, or changes its label. Nodes are paired by their
    neighborhoods [1]_, also from single pairs outwards; then pairs are swapped as long as that saves edits,
    and those of graphs of up to 64 nodes follow a gradient [2]_. Time is linear in the size of the graphs, up
    to their degrees, and about a millisecond for two molecules.

    Parameters
    ----------
    g, h : graph
        As for :func:`similarity`. Node and edge labels and directions count; weights and attributes do not.
        If all edges of both graphs go in both directions, each pair counts as one edge.
    costs : mapping, optional
        Costs of edits other than 1: of "node" and "edge" (insertions and deletions), "relabel_node" and
        "relabel_edge".
    exact : bool, default=False
        Whether to search for the smallest number of edits, the graph edit distance. The time grows
        exponentially: graphs of up to about ten nodes.
    return_path : bool, default=False
        Whether to return the edits, too.

    Returns
    -------
    int, or float with ``costs``
        Never less than the graph edit distance, and 0 only if it is 0. Another order of graphs or nodes may
        give another bound.
    nodes : list of tuple
        Pairs of a node of ``g`` and one of ``h``, by position; None where a node is inserted or deleted. Only
        with ``return_path``.
    edges : list of tuple
        Pairs of edges, which are pairs of nodes; None where an edge is inserted or deleted.

    Raises
    ------
    ValueError
        If the search for the smallest number takes more than two million steps.

    See Also
    --------
    similarity : A number from 0 to 1.
    align : The pairs of nodes before they are improved.

    References
    ----------
    .. [1] N. M. Kriege, P.-L. Giscard, F. Bause and R. C. Wilson (2019). Computing optimal assignments in
       linear time for approximate graph matching. ICDM. doi:10.1109/ICDM.2019.00045.
    .. [2] S. Bougleux, L. Brun, V. Carletti, P. Foggia, B. Gauzere and M. Vento (2017). Graph edit distance
       as a quadratic assignment problem. Pattern Recognition Letters 87, 38-46.
       doi:10.1016/j.patrec.2016.10.001.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> pk.edit_distance(nx.path_graph(5), nx.cycle_graph(5))
    1
    >>> pk.edit_distance(nx.path_graph(2), nx.path_graph(3), return_path=True)
    (2, [(0, 0), (1, 1), (None, 2)], [((0, 1), (0, 1)), (None, (1, 2))])
    """
    graphs = _two(g, h)
    if not isinstance(costs, Mapping | None):
        raise TypeError(f"costs must be a mapping such as {{'node': 2}}, got {shown(costs)}")
    for name, cost in (costs or {}).items():
        check_choice(name, COSTS, "costs")
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < np.inf:
            raise ValueError(f"the cost of {name} must be a number from 0 on, got {shown(cost)}")
    each = [float((costs or {}).get(name, 1.0)) for name in COSTS]
    trials = max(TRIALS, TRIALS_OF_A_NODE * graphs.n_nodes)
    limit = MOST_STEPS if exact else 0
    pairs, _, found = aligned(graphs, 10, (each[0], each[1], each[2], each[3]), trials, limit)
    if found < 0:
        raise ValueError(
            f"the exact edit distance of graphs of {graphs.graph_sizes[0]} and {graphs.graph_sizes[1]} nodes "
            f"takes more than {MOST_STEPS:,} steps: exact=False returns an upper bound"
        )
    value = int(found) if costs is None else found
    relabels = each[2] <= 2 * each[3]
    return (value, *_path(graphs, pairs, relabels)) if return_path else value


def _path(
    graphs: GraphDatabase, pairs: NDArray[np.int64], relabels: bool
) -> tuple[list[Pair], list[EdgePair]]:
    """Return the pairs of nodes and of edges, None for those that are inserted or deleted."""
    image = dict(pairs.tolist())
    nodes: list[Pair] = [(u, image.get(u)) for u in range(int(graphs.graph_sizes[0]))]
    nodes += [(None, v) for v in sorted(set(range(int(graphs.graph_sizes[1]))) - set(image.values()))]
    (left, right), directed = _edges(graphs, relabels)
    edges: list[EdgePair] = []
    for (u, v, label), number in left.items():
        ends = (image.get(u, -1), image.get(v, -1))
        ends = ends if directed else (min(ends), max(ends))
        other = right.pop((*ends, label), 0)
        edges += [((u, v), ends)] * min(number, other)
        edges += [((u, v), None)] * (number - other)
        edges += [(None, ends)] * (other - number)
    return nodes, [*edges, *((None, (u, v)) for u, v, _ in right.elements())]


def _edges(graphs: GraphDatabase, relabels: bool) -> tuple[list[Counter[tuple[int, int, int]]], bool]:
    """Return the number of edges by their ends in both graphs, and whether edges are directed.

    Undirected edges are counted once; by their labels, too, if no edge gets a new one.
    """
    rows, columns = graphs.adjacency.tocoo().coords
    owner = graphs.graph_ids[rows]
    labels = contents_by_value(graphs, ("weights", "attributes")).edges[:, 0].tolist()
    ends = ((axis - graphs.graph_ptr[owner]).tolist() for axis in (rows, columns))
    entries = Counter(zip(owner.tolist(), *ends, labels, strict=True))
    directed = any(entries[i, v, u, label] != number for (i, u, v, label), number in entries.items())
    found: list[Counter[tuple[int, int, int]]] = [Counter(), Counter()]
    for (i, u, v, label), number in entries.items():
        if directed or u <= v:
            found[i][u, v, 0 if relabels else label] += number
    return found, directed
