"""Slow second implementations of the baselines, from the formulas of the papers that define them.

Graphs are plain: a list of labels, a list of attribute vectors, and ``edges``, a dict from (u, v) to (weight,
label). Nothing is shared with the package but the reading of a GraphDatabase.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, inf
from typing import Any

import numpy as np


@dataclass
class Plain:
    labels: list[Any]
    attributes: list[Any]
    edges: dict[tuple[int, int], tuple[float, Any]]

    @property
    def nodes(self) -> range:
        return range(len(self.labels))


def plain_graphs(graphs: Any, labels: str | None = "node") -> list[Plain]:
    """Read a database; labels may be the nodes' own, their degrees, or all the same (None)."""
    found = []
    for graph in graphs:
        coo = graph.adjacency.tocsr().tocoo()
        names = graph.database.edge_labels
        names = [None] * coo.nnz if names is None else list(names)
        rows, cols = coo.coords
        edges = {
            (int(u), int(v)): (float(w), name)
            for u, v, w, name in zip(rows, cols, coo.data, names, strict=True)
        }
        own = graph.node_labels
        if labels == "degree":
            own = [sum(a == u for a, _ in edges) for u in range(graph.n_nodes)]
        elif labels is None:
            own = [0] * graph.n_nodes
        attributes = graph.node_attributes
        attributes = [()] * graph.n_nodes if attributes is None else [tuple(x) for x in attributes]
        found.append(Plain(list(own), attributes, edges))
    return found


def gram_of(kernel: Any, graphs: list[Plain]) -> np.ndarray:
    return np.array([[kernel(a, b) for b in graphs] for a in graphs], dtype=float)


# Weisfeiler-Lehman


def subtree_kernels(graphs: list[Plain], t_max: int, edge_labels: bool = False) -> np.ndarray:
    """Number of pairs of nodes with equal labels, for 0..t_max refinements: (t_max + 1, n, n), summed up.

    A refined label is the nested tuple (label, sorted neighbours' labels): no hashing, no numbering.
    """
    labels = [[repr(label) for label in graph.labels] for graph in graphs]
    kernels = [_equal_pairs(labels)]
    for _ in range(t_max):
        labels = [_refined(graph, own, edge_labels) for graph, own in zip(graphs, labels, strict=True)]
        kernels.append(kernels[-1] + _equal_pairs(labels))
    return np.array(kernels)


def _refined(graph: Plain, labels: list[str], edge_labels: bool) -> list[str]:
    return [
        repr(
            (
                labels[u],
                sorted(
                    (labels[v], repr(name) if edge_labels else "")
                    for (a, v), (_, name) in graph.edges.items()
                    if a == u
                ),
            )
        )
        for u in graph.nodes
    ]


def _equal_pairs(labels: list[list[str]]) -> np.ndarray:
    counts = [Counter(own) for own in labels]
    return np.array([[sum(a[label] * b[label] for label in a) for b in counts] for a in counts])


# shortest paths


def distances(graph: Plain, weighted: bool = True) -> list[list[Any]]:
    """Floyd and Warshall, exact: sums of the same weights are equal in any order."""
    n = len(graph.labels)
    d: list[list[Any]] = [[Fraction(0) if u == v else inf for v in range(n)] for u in range(n)]
    for (u, v), (w, _) in graph.edges.items():
        if u != v:
            d[u][v] = Fraction(w) if weighted else Fraction(1)
    for k in range(n):
        for u in range(n):
            for v in range(n):
                d[u][v] = min(d[u][v], d[u][k] + d[k][v])
    return d


def node_kernel(labels: bool, attributes: str | None, gamma: float = 1.0) -> Any:
    """Dirac on labels times Gaussian (also truncated at distance 1) or linear on attributes."""

    def kernel(a: Plain, u: int, b: Plain, v: int) -> float:
        if labels and a.labels[u] != b.labels[v]:
            return 0.0
        x, y = np.array(a.attributes[u]), np.array(b.attributes[v])
        if attributes is None:
            return 1.0
        if attributes == "linear":
            return float(x @ y)
        squared = float(((x - y) ** 2).sum())
        return 0.0 if attributes == "truncated" and squared > 1 else exp(-gamma * squared)

    return kernel


def shortest_path_kernel(a: Plain, b: Plain, nodes: Any, weighted: bool = True) -> float:
    """Borgwardt and Kriegel (2005): all pairs of shortest paths, equal lengths, both ends compared."""
    da, db = distances(a, weighted), distances(b, weighted)
    return sum(
        nodes(a, u, b, x) * nodes(a, v, b, y)
        for u, v in permutations(a.nodes, 2)
        for x, y in permutations(b.nodes, 2)
        if da[u][v] < inf and da[u][v] == db[x][y]
    )


# GraphHopper


def shortest_paths(graph: Plain, weighted: bool = True) -> list[tuple[int, ...]]:
    """All shortest paths between all pairs of nodes, one node alone included."""
    d = distances(graph, weighted)
    found = [(u,) for u in graph.nodes]
    longer = list(found)
    while longer:
        longer = [
            (*path, v)
            for path in longer
            for (u, v), (w, _) in graph.edges.items()
            if u == path[-1] and u != v
            if abs(d[path[0]][u] + (w if weighted else 1.0) - d[path[0]][v]) < 1e-9
        ]
        found += longer
    return found


def graph_hopper_kernel(a: Plain, b: Plain, nodes: Any, weighted: bool = True) -> float:
    """Feragen et al. (2013), Equation 2: pairs of shortest paths with equally many nodes, node by node."""
    return sum(
        nodes(a, u, b, v)
        for p, q in product(shortest_paths(a, weighted), shortest_paths(b, weighted))
        if len(p) == len(q)
        for u, v in zip(p, q, strict=True)
    )


# common subgraph matching


def subgraph_matching(
    a: Plain, b: Plain, k: int, nodes: Any, edge_labels: bool = False, connected: bool = True
) -> list[float]:
    """Kriege and Mutzel (2012), Definition 4: bijections between induced subgraphs, for each size 1..k."""
    totals = []
    for size in range(1, k + 1):
        total = 0.0
        for chosen in combinations(a.nodes, size):
            if not connected or _is_connected(a, chosen):
                total += sum(
                    _matching(a, chosen, b, image, nodes, edge_labels)
                    for image in permutations(b.nodes, size)
                )
        totals.append(total)
    return totals


def _matching(a: Plain, chosen: Any, b: Plain, image: Any, nodes: Any, edge_labels: bool) -> float:
    value = 1.0
    for u, v in zip(chosen, image, strict=True):
        value *= nodes(a, u, b, v)
    for i, j in permutations(range(len(chosen)), 2):
        e, f = a.edges.get((chosen[i], chosen[j])), b.edges.get((image[i], image[j]))
        if (e is None) != (f is None) or (e and f and edge_labels and e[1] != f[1]):
            return 0.0
    return value


def _is_connected(graph: Plain, chosen: tuple[int, ...]) -> bool:
    reached, waiting = {chosen[0]}, [chosen[0]]
    while waiting:
        u = waiting.pop()
        for v in chosen:
            if v not in reached and ((u, v) in graph.edges or (v, u) in graph.edges):
                reached.add(v)
                waiting.append(v)
    return len(reached) == len(chosen)


# attributes only


def attribute_kernel(a: Plain, b: Plain, nodes: Any) -> float:
    """A: the mean of a node kernel over all pairs of nodes."""
    values = [nodes(a, u, b, v) for u in a.nodes for v in b.nodes]
    return float(np.mean(values)) if values else 0.0
