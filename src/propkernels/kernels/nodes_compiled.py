"""Compiled node kernels, and their sums over nodes and over shortest paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled


@compiled
def squared_distances(points: Any, transposed: Any, out: Any) -> None:
    """Write |x_u - y_v|^2 for all pairs of points.

    Parameters
    ----------
    points : ndarray of float64, (n, dimensions)
        Left points x.
    transposed : ndarray of float64, (dimensions, m)
        Right points y, one column per point.
    out : ndarray of float64, (n, m)
        Result.
    """
    # Row d of ``transposed`` is contiguous, so that the loop over v is vectorized. Dimensions are added in
    # the same order for every pair: equal points give equal bits.
    n, dimensions = points.shape
    m = transposed.shape[1]
    for u in range(n):
        for v in range(m):
            out[u, v] = 0.0
        for d in range(dimensions):
            x = points[u, d]
            for v in range(m):
                difference = x - transposed[d, v]
                out[u, v] += difference * difference


@compiled
def dot_products(points: Any, transposed: Any, out: Any) -> None:
    """Write x_u . y_v for all pairs of points; the order of addition does not depend on n and m.

    Parameters
    ----------
    points : ndarray of float64, (n, dimensions)
        Left points x.
    transposed : ndarray of float64, (dimensions, m)
        Right points y, one column per point.
    out : ndarray of float64, (n, m)
        Result.
    """
    n, dimensions = points.shape
    m = transposed.shape[1]
    for u in range(n):
        for v in range(m):
            out[u, v] = 0.0
        for d in range(dimensions):
            x = points[u, d]
            for v in range(m):
                out[u, v] += x * transposed[d, v]


@compiled
def forget_unequal(keys: Any, keys2: Any, out: Any) -> None:
    """Set the node kernel to 0 for nodes with different labels (Dirac kernel).

    Parameters
    ----------
    keys : ndarray of uint64, (n,)
        Labels of the left nodes.
    keys2 : ndarray of uint64, (m,)
        Labels of the right nodes.
    out : ndarray of float64, (n, m)
        Node kernel, changed in place.
    """
    for u in range(len(keys)):
        for v in range(len(keys2)):
            if keys[u] != keys2[v]:
                out[u, v] = 0.0


@compiled
def sum_blocks(values: Any, ptr: Any, ptr2: Any, out: Any) -> None:
    """Write the sum of each block (graph i, graph j) of a matrix.

    Parameters
    ----------
    values : ndarray of float64, (left nodes, right nodes)
        Values of pairs of nodes.
    ptr : ndarray of int64, (left graphs + 1,)
        Offsets of the left graphs.
    ptr2 : ndarray of int64, (right graphs + 1,)
        Offsets of the right graphs.
    out : ndarray of float64, (left graphs, right graphs)
        Result.
    """
    # Rows of a block are summed first, then added: the bits do not depend on other graphs of the tile.
    for i in range(len(ptr) - 1):
        for j in range(len(ptr2) - 1):
            total = 0.0
            for u in range(ptr[i], ptr[i + 1]):
                part = 0.0
                for v in range(ptr2[j], ptr2[j + 1]):
                    part += values[u, v]
                total += part
            out[i, j] = total


@compiled
def equal_length_sums(
    nodes: Any,
    ptr: Any,
    pair_ptr: Any,
    lengths: Any,
    ptr2: Any,
    pair_ptr2: Any,
    lengths2: Any,
    most: int,
    out: Any,
) -> None:
    """Write sums over pairs of equally long paths of the node kernels of both ends (Borgwardt, Kriegel).

    For each u of the left graph, sums[l, y] is the sum of k(v, y) over the v at length l from u; then
    k(u, x) sums[length(x, y), y] is summed over x and y.

    Parameters
    ----------
    nodes : ndarray of float64, (left nodes, right nodes)
        Node kernel.
    ptr, ptr2 : ndarray of int64, (left graphs + 1,), (right graphs + 1,)
        Offsets of nodes.
    pair_ptr, pair_ptr2 : ndarray of int64, (left graphs + 1,), (right graphs + 1,)
        Offsets of ordered pairs of nodes.
    lengths, lengths2 : ndarray of int64, (pairs,)
        Number of the path length of each pair, below ``most``; -1 without a path.
    most : int
        Number of different path lengths.
    out : ndarray of float64, (left graphs, right graphs)
        Result.
    """
    largest = 0
    for j in range(len(ptr2) - 1):
        largest = max(largest, ptr2[j + 1] - ptr2[j])
    # ``sums`` is 0 before each u; afterwards only the rows of lengths from u are cleared, far fewer than all.
    sums = np.zeros((most + 1, largest))
    for i in range(len(ptr) - 1):
        n, a = ptr[i + 1] - ptr[i], ptr[i]
        for j in range(len(ptr2) - 1):
            m, b = ptr2[j + 1] - ptr2[j], ptr2[j]
            total = 0.0
            for u in range(n):
                row = pair_ptr[i] + u * n
                for v in range(n):
                    length = lengths[row + v]
                    if length >= 0:
                        for y in range(m):
                            sums[length, y] += nodes[a + v, b + y]
                for x in range(m):
                    if nodes[a + u, b + x] != 0.0:
                        row2 = pair_ptr2[j] + x * m
                        part = 0.0
                        for y in range(m):  # length -1 ("no path") is the last row of sums, which stays 0
                            part += sums[lengths2[row2 + y], y]
                        total += nodes[a + u, b + x] * part
                for v in range(n):
                    length = lengths[row + v]
                    if length >= 0:
                        for y in range(m):
                            sums[length, y] = 0.0
            out[i, j] = total
