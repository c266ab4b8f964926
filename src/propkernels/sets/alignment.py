"""align: pairs of nodes of two graphs by the hierarchy of their bins, and the edits that remain."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_integer
from propkernels.codes.contents import Contents, contents_by_value
from propkernels.convert.check import check_edges
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.database import GraphDatabase

Neighbors = list[list[int]]


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
    contents = contents_by_value(graphs, ("weights", "attributes"))
    codes = contents.refined(contents.node_keys, t_max)
    middle = int(graphs.graph_ptr[1])
    matching = _Matching(codes, middle, _neighbors(graphs))
    matching.run()
    nodes = np.flatnonzero(matching.partner[:middle] >= 0)
    pairs = np.column_stack([nodes, matching.partner[nodes] - middle])
    return Alignment(pairs, matching.steps[nodes], _cost(contents, matching.partner, middle))


def _neighbors(graphs: GraphDatabase) -> Neighbors:
    """Return the nodes at the other end of each node's edges, in either direction."""
    both = graphs.adjacency + graphs.adjacency.T
    return [both.indices[a:b].tolist() for a, b in zip(both.indptr[:-1], both.indptr[1:], strict=True)]


@dataclass
class _Matching:
    """Matching of the nodes before ``middle`` with those from it on."""

    codes: NDArray[np.int64]  # (t_max + 1, nodes)
    middle: int
    neighbors: Neighbors
    partner: NDArray[np.int64] = field(init=False)
    steps: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        n_nodes = self.codes.shape[1]
        self.partner, self.steps = np.full(n_nodes, -1), np.full(n_nodes, -1)

    def run(self) -> None:
        """Match nodes bin by bin, last iteration first; the rest is matched whatever its labels."""
        for t in range(len(self.codes) - 1, -1, -1):
            self._match(self.codes[t], t)
        self._match(np.zeros_like(self.codes[0]), -1)

    def _match(self, codes: NDArray[np.int64], t: int) -> None:
        """Match free nodes with equal codes, from the neighbors of earlier pairs and from rare codes on."""
        for node in np.flatnonzero(self.partner[: self.middle] >= 0).tolist():
            self._spread(node, int(self.partner[node]), codes, t)
        for left, right in _shared_bins(codes, self.partner < 0, self.middle):
            free = deque(right)
            for node in left:
                while free and self.partner[free[0]] >= 0:
                    free.popleft()
                if free and self.partner[node] < 0:
                    self._pair(node, free.popleft(), codes, t)

    def _pair(self, node: int, other: int, codes: NDArray[np.int64], t: int) -> None:
        self.partner[node], self.partner[other] = other, node
        self.steps[node] = self.steps[other] = t
        self._spread(node, other, codes, t)

    def _spread(self, node: int, other: int, codes: NDArray[np.int64], t: int) -> None:
        """Match free neighbors of a pair that have equal codes, then theirs."""
        waiting = deque([(node, other)])
        while waiting:
            node, other = waiting.popleft()
            free: dict[int, deque[int]] = {}
            for near in self.neighbors[other]:
                if self.partner[near] < 0:
                    free.setdefault(int(codes[near]), deque()).append(near)
            for near in self.neighbors[node]:
                same = free.get(int(codes[near]))
                if same and self.partner[near] < 0:
                    found = same.popleft()
                    if self.partner[found] < 0:
                        self.partner[near], self.partner[found] = found, near
                        self.steps[near] = self.steps[found] = t
                        waiting.append((near, found))


def _shared_bins(
    codes: NDArray[np.int64], is_free: NDArray[np.bool_], middle: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the free nodes of both graphs in each shared bin, small bins first."""
    sides: list[dict[int, list[int]]] = [{}, {}]
    for node in np.flatnonzero(is_free).tolist():
        sides[node >= middle].setdefault(int(codes[node]), []).append(node)
    shared = [(own, sides[1][code]) for code, own in sides[0].items() if code in sides[1]]
    yield from sorted(shared, key=lambda pair: len(pair[0]) + len(pair[1]))


def _cost(contents: Contents, partner: NDArray[np.int64], middle: int) -> int:
    """Return the number of edits along the pairs, with costs of 1."""
    words, n_nodes = contents.nodes[:, 0], len(partner)
    matched = np.flatnonzero(partner[:middle] >= 0)
    changed = int((words[matched] != words[partner[matched]]).sum())
    missing = n_nodes - 2 * len(matched)
    left, right = _edges(contents, partner, middle)
    edges, loops = 0, 0
    for ends in left.keys() | right.keys():
        own, other = left.get(ends, Counter()), right.get(ends, Counter())
        edits = max(own.total(), other.total()) - (own & other).total()
        if ends[0] == ends[1]:
            loops += edits
        else:
            edges += edits
    # an undirected edge is stored twice, but a loop once
    return changed + missing + loops + (edges // 2 if _is_symmetric(contents) else edges)


def _is_symmetric(contents: Contents) -> bool:
    """Return whether each edge is stored in both directions, with equal labels."""
    adjacency = contents.graphs.adjacency
    rows = np.repeat(np.arange(len(contents.nodes)), np.diff(adjacency.indptr))
    labels = contents.edges[:, 0].tolist()
    forth = Counter(zip(rows.tolist(), adjacency.indices.tolist(), labels, strict=True))
    return all(forth[v, u, label] == number for (u, v, label), number in forth.items())


def _edges(
    contents: Contents, partner: NDArray[np.int64], middle: int
) -> tuple[dict[tuple[int, int], Counter[int]], dict[tuple[int, int], Counter[int]]]:
    """Return the edge labels between each pair of nodes of both graphs; partners have the same name."""
    adjacency = contents.graphs.adjacency
    names = np.where((np.arange(len(partner)) >= middle) & (partner >= 0), partner, np.arange(len(partner)))
    rows = np.repeat(np.arange(len(partner)), np.diff(adjacency.indptr))
    sides: tuple[dict[tuple[int, int], Counter[int]], dict[tuple[int, int], Counter[int]]] = ({}, {})
    ends = zip(names[rows].tolist(), names[adjacency.indices].tolist(), strict=True)
    for row, pair, label in zip(rows.tolist(), ends, contents.edges[:, 0].tolist(), strict=True):
        sides[row >= middle].setdefault(pair, Counter())[label] += 1
    return sides
