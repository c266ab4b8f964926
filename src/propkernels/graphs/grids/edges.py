"""From grids to general graphs: every tap of a filter is an edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.graphs.grids.neighborhoods import BOUNDARIES, resolve_neighborhood
from propkernels.utils.checks import check_choice

Index = NDArray[np.int64]


def reflected(index: Index, length: int, boundary: str) -> Index:
    """Map positions along one axis into 0 .. length - 1; -1 where there is nothing.

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
    """Return flat indices of pixels, and of the pixel at the given offset from each, where there is one."""
    axes = [
        reflected(np.arange(length) + step, length, boundary)
        for length, step in zip(shape, offset, strict=True)
    ]
    meshes = np.meshgrid(*axes, indexing="ij")
    exists = np.logical_and.reduce([mesh >= 0 for mesh in meshes]).ravel()
    there = np.ravel_multi_index([mesh.ravel()[exists] for mesh in meshes], shape)
    return np.flatnonzero(exists), np.asarray(there)


def grid_edges(shape: tuple[int, ...], weights: NDArray[np.float64], boundary: str) -> csr_array:
    """Adjacency of one grid: A[x, x + o] = B[o], added up where several offsets lead to one pixel."""
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
    """Return the general graphs that are equivalent to grids with a neighborhood."""
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
    return GraphDatabase(adjacency, grids.graph_ptr, node_labels=grids.label_column)
