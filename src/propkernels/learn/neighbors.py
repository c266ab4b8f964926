"""Class distributions from the most similar graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Classes = NDArray[np.int64]
DIGITS = 12  # shares are rounded, so that sums of the same values in another order are equal


def class_shares(similarities: Matrix, classes: Classes, n_classes: int, n_neighbors: int) -> Matrix:
    """Add up the similarities of the nearest graphs, class by class.

    Parameters
    ----------
    similarities : ndarray, (m, n)
        Of m graphs to n graphs whose classes are known; -inf: not to be looked at.
    classes : ndarray of int, (n,)
    n_classes : int
    n_neighbors : int
        How many of them count; those as similar as the last one count as well, so that order does not matter.

    Returns
    -------
    ndarray, (m, n_classes)
        Rows add up to 1. A graph that is similar to none gets the frequencies of the classes.

    Examples
    --------
    >>> row, classes = np.array([[0.9, 0.1, 0.6, 0.3]]), np.array([0, 0, 1, 1])
    >>> class_shares(row, classes, 2, 3)
    array([[0.5, 0.5]])
    >>> class_shares(row, classes, 2, 2)
    array([[0.6, 0.4]])
    """
    n = len(classes)
    last = np.partition(similarities, n - min(n_neighbors, n), axis=1)[:, n - min(n_neighbors, n)]
    weights = np.where(similarities >= last[:, None], np.maximum(similarities, 0.0), 0.0)
    members = np.zeros((n, n_classes))
    members[np.arange(n), classes] = 1.0
    totals = weights @ members
    known = np.isfinite(similarities).astype(np.float64) @ members
    totals = np.where(totals.sum(axis=1, keepdims=True) > 0, totals, known)
    return np.round(totals / totals.sum(axis=1, keepdims=True), DIGITS)


def leave_one_out(kernel: Matrix, classes: Classes, n_classes: int, n_neighbors: int) -> float:
    """Share of graphs that get their own class from the others."""
    others = kernel.copy()
    np.fill_diagonal(others, -np.inf)
    shares = class_shares(others, classes, n_classes, min(n_neighbors, len(classes) - 1))
    return float(np.mean(shares.argmax(axis=1) == classes))
