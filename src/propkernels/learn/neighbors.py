"""Class distributions from the most similar graphs."""

from __future__ import annotations

from collections.abc import Sequence

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
    return _shares(similarities, classes, n_classes, [n_neighbors])[0]


def leave_one_out(kernel: Matrix, classes: Classes, n_classes: int, sizes: Sequence[int]) -> list[float]:
    """Share of graphs that get their own class from the others, for each number of neighbours."""
    others = kernel.copy()
    np.fill_diagonal(others, -np.inf)
    possible = [min(size, len(classes) - 1) for size in sizes]
    shares = _shares(others, classes, n_classes, possible)
    return [float(np.mean(share.argmax(axis=1) == classes)) for share in shares]


def _shares(similarities: Matrix, classes: Classes, n_classes: int, sizes: Sequence[int]) -> list[Matrix]:
    """Class shares for each number of neighbours; only similarities that count are looked at."""
    m, n = similarities.shape
    ranks = [n - min(size, n) for size in sizes]
    least = np.partition(similarities, sorted(set(ranks)), axis=1)[:, ranks]
    rows, columns = np.nonzero((similarities >= least.min(axis=1, keepdims=True)) & (similarities > 0))
    values, places = similarities[rows, columns], rows * n_classes + classes[columns]
    found = []
    for i in range(len(sizes)):
        near = values >= least[rows, i]
        totals = np.bincount(places[near], values[near], m * n_classes).reshape(m, n_classes)
        lonely = totals.sum(axis=1) == 0
        totals[lonely] = np.isfinite(similarities[lonely]) @ np.eye(n_classes)[classes]
        found.append(np.round(totals / totals.sum(axis=1, keepdims=True), DIGITS))
    return found
