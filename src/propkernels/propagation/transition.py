"""Transition matrices: how a walk chooses its next node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.graphs.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.utils.checks import check_choice

DIRECTIONS = ("follow", "reverse", "both")


def directed_adjacency(graphs: GraphDatabase, direction: str) -> csr_array:
    """Return A (follow), its transpose (reverse), or the heavier of the two ways of each edge (both)."""
    check_choice(direction, DIRECTIONS, "direction")
    if direction == "follow":
        return graphs.adjacency
    reverse = csr_array(graphs.adjacency.T)
    reverse.sort_indices()
    return reverse if direction == "reverse" else csr_array(graphs.adjacency.maximum(reverse))


def row_sums(adjacency: csr_array) -> NDArray[np.float64]:
    """Degree of each node, ``d_i = sum_j A_ij``."""
    if (adjacency.data == 1.0).all():
        return np.diff(adjacency.indptr).astype(np.float64)
    return np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()


def reciprocal(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / d, and 0 where d is 0."""
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)


def symmetrically_normalized(adjacency: csr_array) -> csr_array:
    """Return D^{-1/2} A D^{-1/2}; for directed edges, out-degrees on the left and in-degrees on the right."""
    out = np.sqrt(reciprocal(row_sums(adjacency)))
    into = np.sqrt(reciprocal(np.asarray(adjacency.sum(axis=0), dtype=np.float64).ravel()))
    data = adjacency.data * np.repeat(out, np.diff(adjacency.indptr)) * into[adjacency.indices]
    return csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def transition_matrix(graphs: Any, direction: str = "follow") -> csr_array:
    """Return T = D^{-1} A of all graphs, block-diagonal; a node that cannot move stays (T_ii = 1).

    See Also
    --------
    Diffusion : The scheme that multiplies by this matrix.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 3.2, T = D^{-1} A.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> star, dot = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), np.zeros((1, 1))
    >>> pk.transition_matrix([star, dot]).toarray()
    array([[0. , 0.5, 0.5, 0. ],
           [1. , 0. , 0. , 0. ],
           [1. , 0. , 0. , 0. ],
           [0. , 0. , 0. , 1. ]])
    """
    adjacency = directed_adjacency(check_graphs(graphs), direction)
    degrees = row_sums(adjacency)
    data = adjacency.data * np.repeat(reciprocal(degrees), np.diff(adjacency.indptr))
    walk = csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    stuck = (degrees == 0).astype(np.float64)
    return csr_array(walk + csr_array((stuck, (np.arange(len(stuck)),) * 2), shape=walk.shape))
