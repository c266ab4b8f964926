"""From nodes to edges: contributions of nodes, shared out among the edges of their surroundings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Values = NDArray[np.float64]
VALUES_IN_MEMORY = 2**22  # pairs of a node and an edge that it has looked across


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
    n_nodes = adjacency.shape[0]
    step = _marks(
        np.concatenate([rows, cols, np.arange(n_nodes)]),
        np.concatenate([cols, rows, np.arange(n_nodes)]),
        (n_nodes, n_nodes),
    )
    touches = _marks(ends.T.ravel(), np.tile(np.arange(len(ends)), 2), (n_nodes, len(ends)))
    n_rows = max(VALUES_IN_MEMORY // len(ends), 1)
    for first in range(0, n_nodes, n_rows):
        own = np.arange(first, min(first + n_rows, n_nodes))
        ball = _marks(np.arange(len(own)), own, (len(own), n_nodes))
        _share_out(contributions[own], ball, step, touches, shares)
    return ends, shares


def _share_out(contributions: Values, ball: Any, step: Any, touches: Any, shares: Values) -> None:
    """Add the shares of some nodes: ``ball`` holds what each of them reaches, wider by one step at each t."""
    seen = ball @ touches  # (these nodes, edges)
    for t in range(1, contributions.shape[1]):
        wider = ball @ step if t > 1 else ball
        if wider.nnz > ball.nnz:
            ball, seen = wider, wider @ touches
        known = np.diff(seen.indptr)
        parts = np.divide(contributions[:, t], known, out=np.zeros(len(known)), where=known > 0)
        shares[:, t] += parts @ seen


def _marks(rows: Any, columns: Any, shape: tuple[int, int]) -> csr_array:
    """A matrix of truth values; an entry that is named again stays one."""
    return csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
