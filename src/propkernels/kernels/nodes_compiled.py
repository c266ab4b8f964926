"""Compiled node kernels, and sums of them over shortest paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled


@compiled
def squared_distances(points: Any, turned: Any, out: Any) -> None:
    """|x_u - y_v|^2, with the second points given as columns: the inner loop is over neighboring numbers."""
    # turned[d] holds dimension d of all second points side by side, so that the loop over v is vectorized;
    # dimensions are added up one after the other, in the same order for every pair: equal points, equal bits.
    n, dimensions = points.shape
    m = turned.shape[1]
    for u in range(n):
        for v in range(m):
            out[u, v] = 0.0
        for d in range(dimensions):
            x = points[u, d]
            for v in range(m):
                difference = x - turned[d, v]
                out[u, v] += difference * difference


@compiled
def dot_products(points: Any, turned: Any, out: Any) -> None:
    """x_u . y_v, added up in one order whatever the number of points."""
    n, dimensions = points.shape
    m = turned.shape[1]
    for u in range(n):
        for v in range(m):
            out[u, v] = 0.0
        for d in range(dimensions):
            x = points[u, d]
            for v in range(m):
                out[u, v] += x * turned[d, v]


@compiled
def forget_unequal(keys: Any, keys2: Any, out: Any) -> None:
    """Dirac kernel on labels: 0 where they differ."""
    # Zeros are what later loops skip; the node kernel of equal labels stays as it is.
    for u in range(len(keys)):
        for v in range(len(keys2)):
            if keys[u] != keys2[v]:
                out[u, v] = 0.0


@compiled
def sum_blocks(values: Any, ptr: Any, ptr2: Any, out: Any) -> None:
    """Sum of each block, graphs by graphs."""
    # ``values`` is (nodes of all graphs on the left, nodes of all graphs on the right). Rows are summed first
    # and then added up: a pair of graphs gets the same bits whichever others share the tile.
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
    """Sum over pairs of shortest paths of equal length of both ends' node kernels (Borgwardt and Kriegel).

    For each u of the first graph, sums[l, y] adds up k(v, y) over the v at length l from u; then
    k(u, x) sums[length(x, y), y] is added up over x and y. ``nodes`` is the node kernel; ``lengths`` are
    numbers below ``most``, -1 for none.
    """
    largest = 0
    for j in range(len(ptr2) - 1):
        largest = max(largest, ptr2[j + 1] - ptr2[j])
    # ``sums`` is all 0 before each u, and cleared after it at the lengths that u has: far fewer than all.
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
                        for y in range(m):  # the last row of sums stands for "no path" and stays 0
                            part += sums[lengths2[row2 + y], y]
                        total += nodes[a + u, b + x] * part
                for v in range(n):
                    length = lengths[row + v]
                    if length >= 0:
                        for y in range(m):
                            sums[length, y] = 0.0
            out[i, j] = total
