"""Neighborhoods of pixels as filters, and the equivalent edges of a general graph."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import generate_binary_structure
from scipy.sparse import csr_array

from propkernels._utils.checks import check_choice, check_integer, check_positive, shown

Filter = NDArray[np.float64]

BOUNDARIES = ("renormalize", "zero", "wrap", "reflect")
NEAREST = "nearest"
PRINTED: dict[tuple[float, int], Filter] = {
    (1.0, 4): np.array([[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]]),
    (1.0, 8): np.array([[0.06, 0.17, 0.06], [0.17, 0.05, 0.17], [0.06, 0.17, 0.06]]),
    (2.0, 16): np.array(
        [
            [0.01, 0.06, 0.09, 0.06, 0.01],
            [0.06, 0.04, 0.00, 0.04, 0.06],
            [0.09, 0.00, 0.00, 0.00, 0.09],
            [0.06, 0.04, 0.00, 0.04, 0.06],
            [0.01, 0.06, 0.09, 0.06, 0.01],
        ]
    ),
}


def circular_neighborhood(radius: float, points: int, *, printed: bool = True) -> Filter:
    """Return the filter of the circular neighbor set N_{r,p} of Ojala et al. (2002), Eq. (circ_neigh).

    Each pixel has p neighbors, equally spaced on a circle of radius r around it; a neighbor that falls
    between pixels is interpolated bilinearly from the four around it.

    Parameters
    ----------
    radius : float
        Radius r of the circle, in pixels.
    points : int
        Number p of neighbors on the circle.
    printed : bool, default=True
        Use the two-digit matrices printed in the paper for N_{1,4}, N_{1,8} and N_{2,16}. False: the exact
        interpolation. They agree to two digits except for two values of N_{1,8}: the paper prints 0.17 and
        0.05 for 0.177 and 0.043.

    Returns
    -------
    ndarray of shape (2 * ceil(r) + 1, 2 * ceil(r) + 1)

    See Also
    --------
    propkernels.propagation.Convolution : Uses the filter.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.4.
    .. [2] T. Ojala, M. Pietikäinen and T. Mäenpää (2002). Multiresolution gray-scale and rotation invariant
       texture classification with local binary patterns. IEEE Transactions on Pattern Analysis and Machine
       Intelligence 24, 971-987. doi:10.1109/TPAMI.2002.1017623.

    Examples
    --------
    >>> circular_neighborhood(1, 8)
    array([[0.06, 0.17, 0.06],
           [0.17, 0.05, 0.17],
           [0.06, 0.17, 0.06]])
    >>> circular_neighborhood(1, 8, printed=False).round(3)
    array([[0.062, 0.177, 0.062],
           [0.177, 0.043, 0.177],
           [0.062, 0.177, 0.062]])
    """
    distance, number = check_positive(radius, "radius"), check_integer(points, "points", 1)
    if printed and (distance, number) in PRINTED:
        return PRINTED[distance, number].copy()
    weights = _interpolated(distance, number)
    return _symmetric(weights) if number % 4 == 0 else weights


def _interpolated(radius: float, points: int) -> Filter:
    """Return a filter that distributes each of the p points bilinearly over the surrounding pixels."""
    reach = int(np.ceil(radius))
    angles = 2 * np.pi * np.arange(points) / points
    weights = np.zeros((2 * reach + 1, 2 * reach + 1))
    points_on_circle = radius * np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    nearest = np.round(points_on_circle)
    on_pixel = np.abs(points_on_circle - nearest) < 1e-9  # equal up to rounding errors
    for y, x in np.where(on_pixel, nearest, points_on_circle):
        top, left = int(np.floor(y)), int(np.floor(x))
        for row, column in ((top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)):
            share = (1 - abs(y - row)) * (1 - abs(x - column))
            if share > 0:
                weights[row + reach, column + reach] += share / points
    return weights


def _symmetric(weights: Filter) -> Filter:
    """Return a filter with exactly equal weights at pixels related by a quarter turn or mirroring."""
    turned = (weights + np.rot90(weights, 2)) + (np.rot90(weights) + np.rot90(weights, 3))
    return np.asarray((turned + turned.T) / 8)


def nearest_neighborhood(dimension: int) -> Filter:
    """Return the filter of the 2 d nearest pixels of a d-dimensional grid: N_{1,4} in the plane."""
    weights = generate_binary_structure(dimension, 1) / (2 * dimension)
    weights[(1,) * dimension] = 0.0
    return weights


def resolve_neighborhood(neighborhood: Any, dimension: int) -> Filter:
    """Return the filter of a neighborhood for grids of the given dimension.

    Parameters
    ----------
    neighborhood : "nearest", (radius, points) or array
    dimension : int
        Number of axes of the grids.

    Returns
    -------
    ndarray of float64, with ``dimension`` axes of odd length
    """
    if isinstance(neighborhood, str):
        check_choice(neighborhood, (NEAREST,), "neighborhood")
        return nearest_neighborhood(dimension)
    if isinstance(neighborhood, tuple):
        return _circular(neighborhood, dimension)
    weights = check_filter(neighborhood)
    if weights.ndim != dimension:
        raise ValueError(f"a filter of {weights.ndim} dimensions cannot serve grids of {dimension}")
    return weights


def _circular(pair: tuple[Any, ...], dimension: int) -> Filter:
    if len(pair) != 2:
        raise ValueError(f"neighborhood must be (radius, points), a filter or 'nearest', got {shown(pair)}")
    if dimension < 2:
        raise ValueError(f"the circular neighborhood {pair!r} needs a plane: use 'nearest' or a filter")
    circle = circular_neighborhood(*pair)
    center, planes = len(circle) // 2, list(combinations(range(dimension), 2))
    weights = np.zeros((len(circle),) * dimension)
    for plane in planes:
        weights[tuple(slice(None) if axis in plane else center for axis in range(dimension))] += circle
    return weights / len(planes)


def check_filter(neighborhood: Any) -> Filter:
    """Validate a filter: odd size along every axis, finite, not negative, not all zero."""
    try:
        weights = np.asarray(neighborhood, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.ndim < 1 or weights.size == 0:
        raise TypeError(
            "neighborhood must be (radius, points), an array of weights or 'nearest', "
            f"got {shown(neighborhood)}"
        )
    if any(length % 2 == 0 for length in weights.shape):
        raise ValueError(f"a filter needs a center, so odd lengths in all directions, got {weights.shape}")
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError("the weights of a filter must be finite and not negative")
    if not weights.any():
        raise ValueError("the weights of a filter must not all be zero")
    return weights


Index = NDArray[np.int64]


def reflected(index: Index, length: int, boundary: str) -> Index:
    """Map positions along an axis into 0 .. length - 1 by the boundary rule; -1 outside the grid.

    Examples
    --------
    >>> reflected(np.arange(-2, 5), 3, "reflect"), reflected(np.arange(-2, 5), 3, "wrap")
    (array([1, 0, 0, 1, 2, 2, 1]), array([1, 2, 0, 1, 2, 0, 1]))
    """
    if boundary == "wrap":
        return index % length
    if boundary == "reflect":
        folded = index % (2 * length)
        return np.minimum(folded, 2 * length - 1 - folded)
    return np.where((index >= 0) & (index < length), index, -1)


def neighbors(shape: tuple[int, ...], offset: Index, boundary: str) -> tuple[Index, Index]:
    """Return flat indices of pixels and of their neighbors at the given offset, if these exist."""
    axes = [
        reflected(np.arange(length) + step, length, boundary)
        for length, step in zip(shape, offset, strict=True)
    ]
    meshes = np.meshgrid(*axes, indexing="ij")
    exists = np.logical_and.reduce([mesh >= 0 for mesh in meshes]).ravel()
    there = np.ravel_multi_index([mesh.ravel()[exists] for mesh in meshes], shape)
    return np.flatnonzero(exists), np.asarray(there)


def grid_edges(shape: tuple[int, ...], weights: NDArray[np.float64], boundary: str) -> csr_array:
    """Return the adjacency of a grid, A[x, x + o] = B[o]; weights of offsets to the same pixel add up."""
    center = np.array(weights.shape) // 2
    size = int(np.prod(shape))
    rows, columns, data = [], [], []
    for tap in np.argwhere(weights > 0):
        here, there = neighbors(shape, tap - center, boundary)
        rows.append(here)
        columns.append(there)
        data.append(np.full(len(here), weights[tuple(tap)]))
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return csr_array(entries, shape=(size, size))


def grids_to_graphs(grids: Any, neighborhood: Any, boundary: str) -> Any:
    """Return general graphs equivalent to grids with a neighborhood."""
    from propkernels.graphs.container import block_diagonal
    from propkernels.graphs.database import GraphDatabase

    check_choice(boundary, BOUNDARIES, "boundary")
    weights = resolve_neighborhood(neighborhood, grids.dimension)
    made: dict[tuple[int, ...], csr_array] = {}
    blocks = []
    for i, shape in enumerate(map(tuple, grids.shapes.tolist())):
        if shape not in made:
            made[shape] = grid_edges(shape, weights, boundary)
        inside = grids.inside_of(i)
        blocks.append(made[shape] if inside is None else made[shape][inside][:, inside])
    adjacency = block_diagonal(blocks) if blocks else csr_array((0, 0))
    return GraphDatabase(adjacency, grids.graph_ptr, grids.label_column, grids.node_attributes)
