"""Compiled loop of an affine step."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled


@compiled
def affine_step(
    indptr: Any,
    indices: Any,
    weights: Any,
    spread: Any,
    keep: Any,
    current: Any,
    following: Any,
    first: int,
    last: int,
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
    first, last : int
        Rows first..last-1 are written.
    """
    # ``total`` holds the sums over the neighbors of one node, one per column; it stays in the L1 cache.
    n_columns = current.shape[1]
    total = np.empty(n_columns)
    for i in range(first, last):
        total[:] = 0.0
        for entry in range(indptr[i], indptr[i + 1]):
            j, weight = indices[entry], weights[entry]
            for c in range(n_columns):
                total[c] += weight * current[j, c]
        share, stay = spread[i], keep[i]
        for c in range(n_columns):
            following[i, c] = share * total[c] + stay * current[i, c]
