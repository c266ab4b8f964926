"""knn_graph: the graph of a point cloud."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from propkernels.checks import check_integer


def knn_graph(points: Any, n_neighbors: int = 4, *, mutual: bool = False) -> sparse.csr_array:
    """Join every point with its nearest neighbours.

    The graphs of the paper's point clouds (section "Datasets", Point Cloud Graphs) are of this kind, with
    four neighbours and an edge wherever one of two points is a neighbour of the other.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Coordinates, finite.
    n_neighbors : int, default=4
        Neighbours of each point by Euclidean distance, the point itself not among them. Of equally near
        points any may be taken; where there are fewer others, all of them are neighbours.
    mutual : bool, default=False
        Whether both points have to be a neighbour of the other.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        Symmetric adjacency matrix with entries 1, for a tuple ``(adjacency, labels, attributes)``.

    Raises
    ------
    ValueError
        If ``points`` is not a table of finite numbers, or ``n_neighbors`` is below 1.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.knn_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    from scipy.spatial import cKDTree

    number = check_integer(n_neighbors, "n_neighbors", 1)
    table = _check_points(points)
    n = len(table)
    number = min(number, n - 1)
    if number < 1:
        return sparse.csr_array((n, n), dtype=np.float64)
    found = _without_itself(cKDTree(table).query(table, number + 1)[1], number)
    entries = (np.ones(n * number), (np.repeat(np.arange(n), number), found.ravel()))
    directed = sparse.csr_array(entries, shape=(n, n))
    other = directed.T.tocsr()
    return (directed.multiply(other) if mutual else directed.maximum(other)).tocsr()


def _check_points(points: Any) -> np.ndarray:
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"points must have two dimensions (n, d), got the shape {table.shape}")
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if wrong.size:
        raise ValueError(f"points must be finite, but point {wrong[0]} is {table[wrong[0]].tolist()}")
    return table


def _without_itself(neighbors: np.ndarray, number: int) -> np.ndarray:
    """Drop each point from its own row; the last one where it is not in it, as points may coincide."""
    is_itself = neighbors == np.arange(len(neighbors))[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True
    return neighbors[~is_itself].reshape(len(neighbors), number)
