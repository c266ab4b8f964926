"""curvature: how much the surface bends around each point of a cloud."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def curvature(adjacency: Any, normals: Any, *, mean: bool = False) -> NDArray[np.float64]:
    """Curvature of a surface at its points, from the normals of neighbours.

    The paper's attribute of point clouds (section "Datasets", Point Cloud Graphs): the sum over the
    neighbours v of u of 1 - |n_u . n_v|. It is 0 where all tangent planes are parallel.

    Parameters
    ----------
    adjacency : sparse or dense matrix of shape (n, n)
        The graph, such as that of :func:`knn_graph`, or the block-diagonal matrix of several clouds. Entries
        that are not 0 are neighbours; their weights are not used, nor is the diagonal.
    normals : array-like of shape (n, d)
        Normals, in either direction; they are scaled to length 1. Where a normal is NaN or 0, nothing is
        known: such neighbours do not count, and such points have the curvature NaN, as have points without
        a neighbour that counts.
    mean : bool, default=False
        Divide by the number of neighbours that count.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes do not fit.

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
    """Vectors of length 1; NaN where there is no direction."""
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    unit: NDArray[np.float64] = normals / np.where(lengths > 0, lengths, np.nan)
    return unit
