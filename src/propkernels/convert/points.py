"""Converter of point clouds: k-nearest-neighbor graphs with curvature and edge lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_integer, shown
from propkernels._utils.typing import Column
from propkernels.convert.build import Faults, FlatGraphs, build, integers, joined, listed, numbers
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.point_clouds import curvature

Points = NDArray[np.float64]
LARGEST = 2.0**500  # limit of coordinates; sums of squared differences stay finite
VALUES_IN_MEMORY = 2**22
FEWER = "choose a smaller k, or fewer points at a time"


def from_points(
    clouds: Iterable[ArrayLike],
    k: int = 4,
    normals: Iterable[ArrayLike] | bool | None = None,
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
    normals : sequence of arrays of shape (n_i, d), False or None, default=None
        Normals of the surface, for the curvature (see :func:`~propkernels.graphs.curvature`). None: estimated
        from the neighbors, as the direction in which they spread least. False: no attributes.
    ids : sequence, optional
        Ids of the clouds.
    errors : {"raise", "skip"}, default="raise"
        Raise an error for an invalid cloud, or leave it out (see ``graphs.skipped``).

    Returns
    -------
    GraphDatabase
        Node attribute: curvature; edge attribute: "length", which ``graphs.with_weights("length")`` makes
        the weight of edges.

    See Also
    --------
    propkernels.graphs.knn_graph : The graph of one cloud.
    propkernels.graphs.curvature : The attribute of its points.

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
    tables = _tables(several, faults)
    sizes = integers([len(table) for table in tables])
    points = joined(tables, np.empty((0, 1)))
    graph = np.repeat(np.arange(len(sizes)), sizes)
    source, target, neighbors = _neighbors(points, graph, min(k, int(sizes.max(initial=0))))
    starts = np.cumsum(sizes) - sizes
    lengths = np.linalg.norm(points[source] - points[target], axis=1)
    rows = _curvatures(points, neighbors, source, target, normals, sizes, faults)
    owner = graph[source]
    flat = FlatGraphs(
        sizes,
        np.bincount(owner, minlength=len(sizes)),
        source - starts[owner],
        target - starts[owner],
        True,
        node_attributes=rows,
        edge_attributes=lengths[:, None],
        edge_attribute_names=["length"],
    )
    return build(flat, faults)


def _tables(clouds: list[Any], faults: Faults) -> list[Points]:
    tables: list[Any] = []
    width = None
    for i, cloud in enumerate(clouds):
        table = _checked(cloud, i, faults)
        if table is not None and len(table):
            width = table.shape[1] if width is None else width
            if table.shape[1] != width:
                reason = f"has points with {table.shape[1]} coordinates, others have {width}"
                faults.add(i, reason, link=" ")
                table = None
        tables.append(table)
    return [np.empty((0, width or 1)) if t is None or not len(t) else t for t in tables]


def _checked(cloud: Any, position: int, faults: Faults) -> Points | None:
    table = None
    with faults.reading(position):
        table = numbers(cloud)
        if table is None:
            faults.add(position, "points must be rows of numbers, all of one length")
    if table is None:
        return None
    if table.ndim != 2 or (len(table) and not table.shape[1]):
        faults.add(position, f"points must be of shape (n, d), got the shape {table.shape}")
        return None
    wrong = np.flatnonzero(~(np.abs(table) < LARGEST).all(axis=1))
    if wrong.size:
        what = (
            f"has coordinates beyond {LARGEST:.0e}" if np.isfinite(table[wrong[0]]).all() else "is not finite"
        )
        faults.add(position, f"point {wrong[0]} {what}: {shown(table[wrong[0]].tolist())}")
        return None
    return table


def _neighbors(
    points: Points, graph: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return edges in both directions, and the k neighbors of each point (-1 if there are fewer).

    All clouds are searched in one tree: an additional coordinate separates clouds by more than the largest
    distance within a cloud, and does not change distances within a cloud.
    """
    from scipy.spatial import cKDTree

    if not len(points):
        none = integers([])
        return none, none, np.empty((0, k), dtype=np.int64)
    check_room(len(points), k + 1, 4, ways_out=FEWER)
    apart = 2.0 * float(np.linalg.norm(np.ptp(points, axis=0))) + 1.0
    raised = np.column_stack([points, graph * apart])
    found = cKDTree(raised).query(raised, min(k + 1, len(points)), distance_upper_bound=apart)[1]
    found = np.where(found == len(points), -1, np.asarray(found).reshape(len(points), -1))
    itself = found == np.arange(len(points))[:, None]
    itself[~itself.any(axis=1), -1] = True  # a coinciding point may replace the point itself
    neighbors = found[~itself].reshape(len(points), -1)
    rows, at = np.nonzero(neighbors >= 0)
    cols = neighbors[rows, at]
    n = len(points)
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    return keys // n, keys % n, neighbors


def _curvatures(
    points: Points,
    neighbors: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    normals: Any,
    sizes: NDArray[np.int64],
    faults: Faults,
) -> Points | None:
    from scipy.sparse import coo_array

    if normals is False:
        return None
    table = estimate_normals(points, neighbors) if normals is None else _given(normals, points, sizes, faults)
    n = len(points)
    return curvature(coo_array((np.ones(len(source)), (source, target)), shape=(n, n)), table)[:, None]


def _given(normals: Any, points: Points, sizes: NDArray[np.int64], faults: Faults) -> Points:
    if not hasattr(normals, "__len__") or len(normals) != len(sizes):
        found = len(normals) if hasattr(normals, "__len__") else shown(normals)
        raise ValueError(f"normals must hold one array for each of {len(sizes)} clouds, got {found}")
    parts = []
    for i, own in enumerate(normals):
        table: Points = np.empty((0, 0))
        with faults.reading(i):
            known = numbers(own)
            if known is None:
                faults.add(i, "normals must be rows of numbers, all of one length")
            else:
                table = known
        if table.shape != (sizes[i], points.shape[1]):
            if i not in faults.found:
                expected = (int(sizes[i]), points.shape[1])
                faults.add(i, f"normals must be of shape {expected}, got {table.shape}")
            table = np.full((int(sizes[i]), points.shape[1]), np.nan)
        parts.append(table)
    return joined(parts, points)


def estimate_normals(points: Points, neighbors: NDArray[np.int64]) -> Points:
    """Return the direction of least variance of each point and its neighbors; NaN if undefined.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    neighbors : ndarray of shape (n, k)
        Numbers of points; -1: none.

    Examples
    --------
    >>> flat = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> estimate_normals(flat, np.array([[1, 2], [0, 3], [0, 3], [1, 2]]))[0].round(6).tolist()
    [0.0, 0.0, 1.0]
    """
    rows = max(VALUES_IN_MEMORY // max((neighbors.shape[1] + 1) * points.shape[1], 1), 1)
    parts = [
        _normals_of(points, np.arange(first, min(first + rows, len(points))), neighbors[first : first + rows])
        for first in range(0, len(points), rows)
    ]
    return joined(parts, np.empty((0, points.shape[1])))


def _normals_of(points: Points, own: NDArray[np.int64], neighbors: NDArray[np.int64]) -> Points:
    """Return normals of points, given the numbers of points and of their neighbors."""
    n, d = len(own), points.shape[1]
    group = np.column_stack([own, neighbors])
    known = group >= 0
    around = np.where(known[:, :, None], points[group], 0.0)
    number = known.sum(axis=1)
    mean = around.sum(axis=1) / number[:, None]
    centered = np.where(known[:, :, None], around - mean[:, None], 0.0)
    spread = np.einsum("nki,nkj->nij", centered, centered)
    normals = np.linalg.eigh(spread)[1][:, :, 0]
    normals *= np.sign(normals[np.arange(n), np.abs(normals).argmax(axis=1)])[:, None]
    normals[number < min(d, 3)] = np.nan
    return normals
