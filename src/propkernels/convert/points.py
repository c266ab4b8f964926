"""Point clouds: k-nearest-neighbor graphs, with the curvature attribute and edge lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_integer, shown
from propkernels._utils.typing import Column, Rows
from propkernels.convert.build import (
    Fault,
    Faults,
    Part,
    build,
    check_widths,
    flattened,
    integers,
    listed,
    numbers,
    read_each,
)
from propkernels.graphs.database import GraphDatabase

Points = NDArray[np.float64]
LARGEST = 2.0**500  # limit of coordinates; sums of squared differences stay finite
VALUES_IN_MEMORY = 2**22
FEWER = "choose a smaller k, or fewer points at a time"


def from_points(
    clouds: Iterable[ArrayLike],
    k: int = 4,
    *,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert point clouds to k-nearest-neighbor graphs.

    The paper (section "Datasets", Point Cloud Graphs) uses four neighbors, and the curvature as attribute.

    Parameters
    ----------
    clouds : sequence of arrays of shape (n_i, d)
        Coordinates, finite; all clouds have the same d.
    k : int, default=4
        Neighbors of each point by Euclidean distance. An edge joins two points if one of them is a neighbor
        of the other. In a cloud with fewer points all are joined.
    ids : sequence, optional
        Ids of the clouds.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid cloud, leave it out, or make it a graph without nodes (see
        ``graphs.skipped``).

    Returns
    -------
    GraphDatabase
        Node attribute: the :func:`~propkernels.convert.curvature`, with normals in the direction in which the
        neighbors spread least; edge attribute: "length", which ``graphs.with_weights("length")`` makes
        the weight of edges.

    See Also
    --------
    propkernels.convert.knn_graph : The graph of one cloud.
    propkernels.convert.curvature : The attribute of its points.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> clouds = [np.random.default_rng(i).normal(size=(30, 3)) for i in range(2)]
    >>> graphs = pk.from_points(clouds, k=4)
    >>> len(graphs), graphs.node_attributes.shape, graphs.edge_attribute_names
    (2, (60, 1), ('length',))
    """
    k = check_integer(k, "k", 1)
    several = listed(clouds, "clouds of points")
    faults = Faults(errors, len(several), ids, noun="cloud")
    tables = read_each(several, _checked, faults, np.empty((0, 1)))
    sizes = integers([len(table) for table in tables])
    check_widths(tables, sizes, faults, "coordinates")
    flat = flattened([_part(table, k) for table in tables], faults)
    flat.edge_attribute_names = ["length"]
    return build(flat, faults)


def _checked(cloud: Any) -> Points:
    """Return a table of finite coordinates."""
    table = numbers(cloud)
    if table is None:
        raise Fault("points must be rows of numbers, all of one length")
    if table.ndim != 2 or (len(table) and not table.shape[1]):
        hint = "; pass one cloud in a list, [cloud]" if table.ndim == 1 else ""
        raise Fault(f"points must be of shape (n, d), got the shape {table.shape}{hint}")
    wrong = np.flatnonzero(~(np.abs(table) < LARGEST).all(axis=1))
    if wrong.size:
        is_finite = np.isfinite(table[wrong[0]]).all()
        what = f"has coordinates beyond {LARGEST:.0e}" if is_finite else "is not finite"
        raise Fault(f"point {wrong[0]} {what}: {shown(table[wrong[0]].tolist())}")
    return table


def _part(points: Points, k: int) -> Part:
    source, target, neighbors = _neighbors(points, k)
    edges = coo_array((np.ones(len(source)), (source, target)), shape=(len(points),) * 2)
    bends = curvature(edges, estimate_normals(points, neighbors))[:, None]
    lengths = np.linalg.norm(points[source] - points[target], axis=1)[:, None]
    return Part(len(points), source, target, None, None, bends, None, lengths)


def _neighbors(points: Points, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return edges in both directions, and the k neighbors of each point, or all if there are fewer."""
    from scipy.spatial import cKDTree

    n = len(points)
    k = min(k, max(n - 1, 0))
    if not k:
        none = integers([])
        return none, none, np.empty((n, 0), dtype=np.int64)
    check_room(n, k + 1, 4, ways_out=FEWER)
    found = cKDTree(points).query(points, k + 1)[1]
    # each point is its own neighbor, unless a coinciding point took its place
    is_itself = found == np.arange(n)[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True
    neighbors = found[~is_itself].reshape(n, k)
    rows, columns = np.repeat(np.arange(n), k), neighbors.ravel()
    keys = np.unique(np.concatenate([rows * n + columns, columns * n + rows]))
    return keys // n, keys % n, neighbors


def estimate_normals(points: Points, neighbors: NDArray[np.int64]) -> Points:
    """Return the direction of least variance of each point and its neighbors; NaN if undefined.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    neighbors : ndarray of shape (n, k)
        Numbers of points.

    Examples
    --------
    >>> flat = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> estimate_normals(flat, np.array([[1, 2], [0, 3], [0, 3], [1, 2]]))[0].round(6).tolist()
    [0.0, 0.0, 1.0]
    """
    n, d = points.shape
    normals = np.full((n, d), np.nan)
    size = neighbors.shape[1] + 1
    if not n or size < min(d, 3):
        return normals
    rows = max(VALUES_IN_MEMORY // (size * d), 1)
    for first in range(0, n, rows):
        own = np.arange(first, min(first + rows, n))
        around = points[np.column_stack([own, neighbors[own]])]
        centered = around - around.mean(axis=1, keepdims=True)
        spread = np.einsum("nki,nkj->nij", centered, centered)
        normals[own] = np.linalg.eigh(spread)[1][:, :, 0]
    largest = np.take_along_axis(normals, np.abs(normals).argmax(axis=1)[:, None], axis=1)
    return normals * np.sign(largest)


def knn_graph(points: ArrayLike, n_neighbors: int = 4) -> csr_array:
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

    Returns
    -------
    scipy.csr_array of shape (n, n)
        Symmetric adjacency matrix with entries 1.

    Raises
    ------
    ValueError
        If ``points`` is not a table of finite numbers, or ``n_neighbors`` is below 1.

    See Also
    --------
    propkernels.convert.curvature : A node attribute for point clouds.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1, point cloud graphs.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.convert.knn_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    number = check_integer(n_neighbors, "n_neighbors", 1)
    faults = Faults("raise", 1, noun="cloud")
    (table,) = read_each([points], _checked, faults, np.empty((0, 1)))
    n = len(table)
    source, target, _ = _neighbors(table, number)
    return csr_array((np.ones(len(source)), (source, target)), shape=(n, n))


def curvature(adjacency: Rows, normals: ArrayLike, *, mean: bool = False) -> NDArray[np.float64]:
    """Return the curvature of a surface at its points, from the normals of neighbors.

    The paper's attribute of point clouds (section "Datasets", Point Cloud Graphs): the sum over the
    neighbors v of u of ``1 - |n_u . n_v|``. It is 0 where all tangent planes are parallel.

    Parameters
    ----------
    adjacency : sparse or dense matrix of shape (n, n)
        Graph of a cloud, such as that of :func:`~propkernels.convert.knn_graph`, or block-diagonal matrix of
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
    propkernels.convert.knn_graph : The graph of a point cloud.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.1, point cloud graphs.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.convert.curvature(path, [[0, 0, 1], [0, 0, -1], [0, 1, 0]])
    array([0., 1., 1.])
    """
    edges = coo_array(adjacency)
    table = np.asarray(normals, dtype=np.float64)
    if table.ndim != 2 or edges.shape != (len(table), len(table)):
        raise ValueError(f"normals of shape {table.shape} do not fit an adjacency of shape {edges.shape}")
    keep = (edges.row != edges.col) & (edges.data != 0)
    rows, columns = edges.row[keep], edges.col[keep]
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    unit = table / np.where(lengths > 0, lengths, np.nan)
    bends = 1 - np.abs(np.einsum("ij,ij->i", unit[rows], unit[columns]))
    known = ~np.isnan(bends)
    total = np.bincount(rows[known], np.maximum(bends[known], 0.0), len(table))
    number = np.bincount(rows[known], minlength=len(table))
    values = total / np.maximum(number, 1) if mean else total
    return np.where(number > 0, values, np.nan)
