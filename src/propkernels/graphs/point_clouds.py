"""Point clouds: k-nearest-neighbor graphs and the curvature attribute."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from propkernels._utils.checks import check_integer
from propkernels._utils.typing import Rows


def knn_graph(points: ArrayLike, n_neighbors: int = 4, *, mutual: bool = False) -> sparse.csr_array:
    """Return the k-nearest-neighbor graph of points.

    The paper's point clouds (section "Datasets", Point Cloud Graphs) use four neighbors; an edge joins two
    points if either is a neighbor of the other.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Coordinates, finite.
    n_neighbors : int, default=4
        Number of neighbors of each point by Euclidean distance, excluding the point itself. Ties are broken
        arbitrarily; if there are fewer other points, all of them are neighbors.
    mutual : bool, default=False
        Whether an edge requires that each of the two points is a neighbor of the other.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        Symmetric adjacency matrix with entries 1.

    Raises
    ------
    ValueError
        If ``points`` is not a table of finite numbers, or ``n_neighbors`` is below 1.

    See Also
    --------
    propkernels.graphs.curvature : A node attribute for point clouds.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1, point cloud graphs.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.graphs.knn_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
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
    """Remove each point from its row, or the last neighbor if a coinciding point took its place."""
    is_itself = neighbors == np.arange(len(neighbors))[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True
    return neighbors[~is_itself].reshape(len(neighbors), number)


def curvature(adjacency: Rows, normals: ArrayLike, *, mean: bool = False) -> NDArray[np.float64]:
    """Return the curvature of a surface at its points, from the normals of neighbors.

    The paper's attribute of point clouds (section "Datasets", Point Cloud Graphs): the sum over the
    neighbors v of u of ``1 - |n_u . n_v|``. It is 0 where all tangent planes are parallel.

    Parameters
    ----------
    adjacency : sparse or dense matrix of shape (n, n)
        Graph of a cloud, such as that of :func:`~propkernels.graphs.knn_graph`, or block-diagonal matrix of
        several clouds. Nonzero entries are neighbors; weights and the diagonal are ignored.
    normals : array-like of shape (n, d)
        Normals, with any sign and length. Normals that are NaN or 0 are unknown: such neighbors do not count,
        and the curvature of such points, and of points without neighbors that count, is NaN.
    mean : bool, default=False
        Divide by the number of neighbors that count.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes do not match.

    See Also
    --------
    propkernels.graphs.knn_graph : The graph of a point cloud.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1, point cloud graphs.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.graphs.curvature(path, [[0, 0, 1], [0, 0, -1], [0, 1, 0]])
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
    """Return vectors scaled to length 1; NaN for vectors of length 0."""
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    unit: NDArray[np.float64] = normals / np.where(lengths > 0, lengths, np.nan)
    return unit
