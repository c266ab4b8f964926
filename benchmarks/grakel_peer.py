"""GraKeL 0.1.11: the same problems in its terms.

- Its ``t_max`` is the number of hashed distributions, P_0 to P_{t_max - 1}; ours is the last t, so our
  t_max = 10 is its t_max = 11. Its ``n_iter`` of WL is the number of refinements, as in ours.
- Its walk loses a node without edges (a row of zeros); ours stays where it is. A self loop on such nodes
  makes the two walks the same, and changes no speed.
- It multiplies dense matrices, so graphs go in as dense float arrays, which is its fastest way for these
  sizes; labels are a dictionary from node number to a plain int. Its ``Graph`` objects are made before
  the timing; they are not changed by a fit, so repeats measure the same work.
- w = 1e-5 and total variation on both sides. Random vectors differ, so that kernels agree only up to
  collisions of the hash: the report shows the relative difference of the matrices.
"""

from __future__ import annotations

from typing import Any

from benchmarks.case import Call

BIN_WIDTH = 1e-5
T_MAX = 10


def to_grakel(graphs: Any, self_loops: bool = True) -> list[Any]:
    """Convert graphs; isolated nodes get a self loop if asked."""
    import grakel
    import numpy as np

    converted = []
    for graph in graphs:
        adjacency = graph.adjacency.toarray().astype(np.float64)
        if self_loops:
            isolated = np.flatnonzero(adjacency.sum(axis=1) == 0)
            adjacency[isolated, isolated] = 1.0
        labels = {node: int(label) for node, label in enumerate(graph.node_labels)}
        converted.append(grakel.Graph(adjacency, labels, {}, "adjacency"))
    return converted


def propagation(graphs: Any) -> Call:
    """GraKeL's propagation kernel for t = 0..10."""
    from grakel.kernels import Propagation

    converted = to_grakel(graphs)
    options = {"t_max": T_MAX + 1, "w": BIN_WIDTH, "M": "TV", "random_state": 0}
    return lambda: Propagation(**options).fit_transform(converted)


def weisfeiler_lehman(graphs: Any) -> Call:
    """GraKeL's Weisfeiler-Lehman subtree kernel, 10 refinements."""
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    converted = to_grakel(graphs, self_loops=False)
    return lambda: WeisfeilerLehman(n_iter=T_MAX, base_graph_kernel=VertexHistogram).fit_transform(converted)


def shortest_path(graphs: Any) -> Call:
    """GraKeL's shortest-path kernel with labels."""
    from grakel.kernels import ShortestPath

    converted = to_grakel(graphs, self_loops=False)
    return lambda: ShortestPath(with_labels=True).fit_transform(converted)
