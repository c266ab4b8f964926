"""Contributions of edges: those of nodes, divided among the edges of their neighborhoods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Values = NDArray[np.float64]
VALUES_IN_MEMORY = 2**22  # pairs of a node and an edge within its reach, per batch of nodes


def edge_contributions(adjacency: Any, contributions: Values) -> tuple[NDArray[np.int64], Values]:
    """Divide the contribution of each node at each iteration among the edges within its reach.

    The code of a node at iteration t depends on the edges with an end at most t - 1 steps away. They get
    equal shares. At t > 0, contributions of edges add up to those of all nodes with neighbors; at t = 0 no
    edge is within reach.

    Parameters
    ----------
    adjacency : sparse array, (nodes, nodes)
        Adjacency of one undirected graph.
    contributions : ndarray of float64, (nodes, t_max + 1)

    Returns
    -------
    ndarray of int64, (edges, 2)
        Ends of each edge, the smaller number first.
    ndarray of float64, (edges, t_max + 1)
        Contribution of each edge.
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
    """Add the shares of a batch of nodes; ``ball`` marks the nodes within reach, one step more at each t."""
    seen = ball @ touches  # (nodes of the batch, edges)
    for t in range(1, contributions.shape[1]):
        wider = ball @ step if t > 1 else ball
        if wider.nnz > ball.nnz:
            ball, seen = wider, wider @ touches
        known = np.diff(seen.indptr)
        parts = np.divide(contributions[:, t], known, out=np.zeros(len(known)), where=known > 0)
        shares[:, t] += parts @ seen


def _marks(rows: Any, columns: Any, shape: tuple[int, int]) -> csr_array:
    """Return a sparse boolean matrix; repeated entries stay True."""
    return csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
