"""Node positions computed in Python: coordinates of the user, pixels of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase

Places = NDArray[np.int8]
LARGEST = 127


def given_places(coordinates: Any, graphs: GraphDatabase) -> Places:
    """Return coordinates of the user (one array, or one per graph) as x0, y0, x1, y1, ..."""
    if isinstance(coordinates, Sequence) and len(coordinates) == len(graphs):
        coordinates = np.concatenate([np.asarray(part, dtype=np.float64) for part in coordinates])
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim != 2 or len(points) != graphs.n_nodes or points.shape[1] < 2:
        raise ValueError(
            f"layout must hold a point for each of {graphs.n_nodes} nodes, got shape {points.shape}"
        )
    if not np.isfinite(points).all():
        raise ValueError("layout must contain finite numbers only")
    if points.shape[1] > 2:
        points = np.concatenate([_flat(points[a:b]) for a, b in _runs(graphs.graph_ptr)])
    return quantized_places(points, graphs.graph_ptr)


def pixel_places(grids: GridDatabase) -> Places:
    """Return pixel positions of grids as x0, y0, x1, y1, ...; y points upward."""
    parts = []
    for i in range(len(grids)):
        grid = grids[i]
        mask = np.ones(grid.shape, dtype=bool) if grid.mask is None else grid.mask
        row, column = np.nonzero(mask)
        parts.append(np.column_stack([column, -row]))
    return np.concatenate(parts).astype(np.int8).ravel()


def _runs(ptr: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True))


def _flat(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the projection of points on their first two principal components."""
    if not len(points):
        return points[:, :2]
    centered = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    turned = centered @ axes[:2].T
    return np.pad(turned, ((0, 0), (0, 2 - turned.shape[1])))


def quantized_places(points: NDArray[np.float64], ptr: NDArray[np.int64]) -> Places:
    """Return centered coordinates as 8-bit integers, with a separate scale per graph."""
    places = np.zeros(points.shape, dtype=np.int8)
    for first, last in _runs(ptr):
        if first == last:
            continue
        part = points[first:last]
        part = part - (part.min(axis=0) + part.max(axis=0)) / 2
        places[first:last] = np.round(part * (LARGEST / max(float(np.abs(part).max()), 1e-9)))
    return places.ravel()
