"""Graphs in a compact file, such as COLLAB_compact.npz: gaps between the positions of edges.

The edges of a graph are positions in its upper triangle, row by row. ``gaps`` holds their differences as
bytes, the first one counted from -1; 255 stands for the next entry of ``long_gaps``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

import propkernels as pk

LONG = 255
Positions = NDArray[np.int64]


def read_compact(path: Path) -> tuple[pk.GraphDatabase, NDArray[np.int64]]:
    """Return the graphs of a compact file, and their classes."""
    with np.load(path, allow_pickle=False) as file:
        sizes, n_edges, classes = (file[name].astype(np.int64) for name in ("n_nodes", "n_edges", "labels"))
        gaps = decode(file["gaps"], file["long_gaps"])
    node_ptr, edge_ptr = (np.concatenate([[0], np.cumsum(numbers)]) for numbers in (sizes, n_edges))
    if edge_ptr[-1] != len(gaps):
        raise ValueError(f"{path} is damaged: it has {len(gaps)} gaps for {edge_ptr[-1]} edges")
    graph = np.repeat(np.arange(len(sizes)), n_edges)
    rows, columns = triangle_positions(positions_of(gaps, edge_ptr), sizes[graph])
    if len(rows) and ((rows < 0) | (columns >= sizes[graph])).any():
        raise ValueError(f"{path} is damaged: an edge lies outside its graph")
    ends = np.concatenate([rows, columns]) + np.tile(node_ptr[graph], 2)
    others = np.concatenate([columns, rows]) + np.tile(node_ptr[graph], 2)
    adjacency = coo_array((np.ones(len(ends)), (ends, others)), shape=(node_ptr[-1], node_ptr[-1])).tocsr()
    return pk.GraphDatabase(adjacency, node_ptr), classes


def decode(gaps: NDArray[np.uint8], long_gaps: Positions) -> Positions:
    """Return gaps as integers.

    Examples
    --------
    >>> decode(np.array([1, 255, 2], dtype=np.uint8), np.array([700]))
    array([  1, 700,   2])
    """
    whole = gaps.astype(np.int64)
    whole[gaps == LONG] = long_gaps
    return whole


def positions_of(gaps: Positions, edge_ptr: Positions) -> Positions:
    """Return the positions of edges in the upper triangle of their graph.

    Examples
    --------
    >>> positions_of(np.array([1, 2, 3]), np.array([0, 2, 3]))
    array([0, 2, 2])
    """
    sums = np.concatenate([[0], np.cumsum(gaps)])
    return sums[1:] - np.repeat(sums[edge_ptr[:-1]], np.diff(edge_ptr)) - 1


def triangle_positions(positions: Positions, sizes: Positions) -> tuple[Positions, Positions]:
    """Return rows and columns of positions in upper triangles without the diagonal, row by row.

    Examples
    --------
    >>> rows, columns = triangle_positions(np.arange(6), np.full(6, 4))
    >>> rows.tolist(), columns.tolist()
    ([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    """
    half = sizes - 0.5
    rows = np.floor(half - np.sqrt(np.maximum(half**2 - 2 * positions, 0))).astype(np.int64)
    before = rows * (2 * sizes - rows - 1) // 2
    rows -= before > positions  # rounding
    before = rows * (2 * sizes - rows - 1) // 2
    return rows, positions - before + rows + 1
