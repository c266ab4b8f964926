"""From nodes to edges: contributions of nodes, shared out among the edges of their surroundings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

Values = NDArray[np.float64]


def edge_contributions(adjacency: Any, contributions: Values) -> tuple[NDArray[np.int64], Values]:
    """Share out what each node adds at each iteration among the edges that it has looked across by then.

    At iteration t a node knows its surroundings up to t steps: the edges that have an end at most t - 1 steps
    away. They take equal parts. So the edges of an iteration t > 0 add up to what its nodes with neighbors
    add up to; at t = 0 nodes know no edges.

    Parameters
    ----------
    adjacency : sparse array, (nodes, nodes)
        Of one undirected graph.
    contributions : ndarray of float64, (nodes, t_max + 1)

    Returns
    -------
    ndarray of int64, (edges, 2)
        The two nodes of each edge, the smaller number first.
    ndarray of float64, (edges, t_max + 1)
        What they add.
    """
    rows, cols = adjacency.nonzero()
    ends = np.unique(np.sort(np.column_stack([rows, cols]).astype(np.int64), axis=1), axis=0)
    shares = np.zeros((len(ends), contributions.shape[1]))
    if not len(ends):
        return ends, shares
    # a copy: dijkstra of older SciPy refuses read-only arrays
    steps = dijkstra(adjacency.copy(), directed=False, unweighted=True, limit=contributions.shape[1])
    nearer = np.minimum(steps[:, ends[:, 0]], steps[:, ends[:, 1]])  # from each node to each edge
    for t in range(1, contributions.shape[1]):
        seen = nearer <= t - 1
        known = seen.sum(axis=1)
        parts = np.divide(contributions[:, t], known, out=np.zeros(len(known)), where=known > 0)
        shares[:, t] = parts @ seen
    return ends, shares
