"""Point clouds: k-nearest-neighbor graphs and the curvature attribute."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from propkernels._utils.checks import check_integer


def knn_graph(points: Any, n_neighbors: int = 4, *, mutual: bool = False) -> sparse.csr_array:
    """Join every point with its nearest neighbors.

    The graphs of the paper's point clouds (section "Datasets", Point Cloud Graphs) are of this kind, with
    four neighbors and an edge wherever one of two points is a neighbor of the other.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Coordinates, finite.
    n_neighbors : int, default=4
        Neighbors of each point by Euclidean distance, the point itself not among them. Of equally near
        points any may be taken; where there are fewer others, all of them are neighbors.
    mutual : bool, default=False
        Whether both points have to be a neighbor of the other.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        Symmetric adjacency matrix with entries 1, for a tuple ``(adjacency, labels, attributes)``.

    Raises
    ------
    ValueError
        If ``points`` is not a table of finite numbers, or ``n_neighbors`` is below 1.

    See Also
    --------
    curvature : An attribute for the nodes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1, point cloud graphs.

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


def curvature(adjacency: Any, normals: Any, *, mean: bool = False) -> NDArray[np.float64]:
    """Curvature of a surface at its points, from the normals of neighbors.

    The paper's attribute of point clouds (section "Datasets", Point Cloud Graphs): the sum over the
    neighbors v of u of ``1 - |n_u . n_v|``. It is 0 where all tangent planes are parallel.

    Parameters
    ----------
    adjacency : sparse or dense matrix of shape (n, n)
        The graph, such as that of :func:`knn_graph`, or the block-diagonal matrix of several clouds. Entries
        that are not 0 are neighbors; their weights are not used, nor is the diagonal.
    normals : array-like of shape (n, d)
        Normals, in either direction; they are scaled to length 1. Where a normal is NaN or 0, nothing is
        known: such neighbors do not count, and such points have the curvature NaN, as have points without
        a neighbor that counts.
    mean : bool, default=False
        Divide by the number of neighbors that count.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    knn_graph : The graph of a point cloud.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1, point cloud graphs.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.curvature(path, [[0, 0, 1], [0, 0, -1], [0, 1, 0]])
    array([0., 1., 1.])
    """
    edges = sparse.coo_array(adjacency)
    table = np.asarray(normals, dtype=np.float64)
    if table.ndim != 2 or edges.shape != (len(table), len(table)):
        raise ValueError(f"normals of shape {table.shape} do not fit an adjacency of shape {edges.shape}")
    keep = (edges.row != edges.col) & (edges.data != 0)
    rows, columns = edges.row[keep], edges.col[keep]
    unit = _unit(table)
    bends = 1 - np.abs(np.einsum("ij,ij->i", unit[rows], unit[columns]))
    known = ~np.isnan(bends)
    total = np.bincount(rows[known], np.maximum(bends[known], 0.0), len(table))
    number = np.bincount(rows[known], minlength=len(table))
    values = total / np.maximum(number, 1) if mean else total
    return np.where(number > 0, values, np.nan)


def _unit(normals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors of length 1; NaN for those of length 0."""
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    unit: NDArray[np.float64] = normals / np.where(lengths > 0, lengths, np.nan)
    return unit
