"""Compiled loop of an affine step."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled, count_numbers, prefetch

AHEAD = 16  # entries between a request for the row of a neighbor and its use
LINE = 8  # numbers per cache line


@compiled
def affine_step(
    indptr: Any,
    indices: Any,
    weights: Any,
    spread: Any,
    keep: Any,
    current: Any,
    following: Any,
    rows: Any,
) -> None:
    """Write spread_i * sum_j A_ij x_j + keep_i x_i to ``following``, row by row, without temporaries.

    Parameters
    ----------
    indptr, indices, weights : ndarray
        CSR arrays of A.
    spread, keep : ndarray of float64, (N,)
        Weight of the neighbors' sum and of the node itself.
    current : ndarray of float64, (N, columns)
        Values x before the step.
    following : ndarray of float64, (N, columns)
        Output: values after the step.
    rows : ndarray of int64
        Rows that are written.
    """
    # ``total`` holds the sums over the neighbors of one node, one per column; it stays in the L1 cache.
    # Rows of neighbors lie anywhere in memory: those of later entries are on their way meanwhile.
    n_columns, n_entries = current.shape[1], len(indices)
    numbers = current.reshape(current.size)
    total = np.empty(n_columns)
    for i in rows:
        total[:] = 0.0
        for entry in range(indptr[i], indptr[i + 1]):
            if entry + AHEAD < n_entries:
                place = np.int64(indices[entry + AHEAD]) * n_columns
                for c in range(0, n_columns, LINE):
                    prefetch(numbers, place + c)
            j, weight = indices[entry], weights[entry]
            for c in range(n_columns):
                total[c] += weight * current[j, c]
        share, stay = spread[i], keep[i]
        for c in range(n_columns):
            following[i, c] = share * total[c] + stay * current[i, c]


@compiled(passes=count_numbers)
def walk_weights(indptr: Any, laziness: float, spread: Any, keep: Any) -> None:
    """Write the weights of a lazy walk on edges of weight 1: ``(1 - l) / d`` and l; 0 and 1 without edges.

    Parameters
    ----------
    indptr : ndarray of int, (N + 1,)
        Of the adjacency in CSR form.
    laziness : float
        The probability l to stay.
    spread, keep : ndarray of float64, (N,)
        Output: weights of the neighbors' sum, and of the node itself.
    """
    for node in range(len(spread)):
        degree = indptr[node + 1] - indptr[node]
        spread[node] = (1.0 - laziness) * (1.0 / degree) if degree > 0 else 0.0
        keep[node] = laziness if degree > 0 else 1.0


@compiled
def column_moments(values: Any, first: int, last: int, means: Any, deviations: Any, largest: Any) -> None:
    """Write mean, standard deviation (ddof = 1) and largest absolute value of the columns first .. last - 1.

    Sums are those of ``numpy.std`` over the rows of a matrix, to the bit.
    """
    n = len(values)
    means[first:last], deviations[first:last], largest[first:last] = 0.0, 0.0, 0.0
    for i in range(n):
        for c in range(first, last):
            means[c] += values[i, c]
    for c in range(first, last):
        means[c] /= n
    for i in range(n):
        for c in range(first, last):
            difference = values[i, c] - means[c]
            deviations[c] += difference * difference
            largest[c] = max(largest[c], abs(values[i, c]))
    for c in range(first, last):
        deviations[c] = np.sqrt(deviations[c] / max(n - 1, 1))
