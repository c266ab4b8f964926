"""Compiled loops over pairs of classes, one call each: numpy would release the GIL for every pair."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled, count_numbers


@compiled(passes=count_numbers)
def place_duals(support: Any, ends: Any, duals: Any, coefficients: Any) -> None:
    """Write libsvm's coefficients of all pairs of classes to the rows of their graphs.

    Parameters
    ----------
    support : ndarray of int
        Graphs with a coefficient, class by class.
    ends : ndarray of int64, (classes + 1,)
        Offsets of the classes in ``support``.
    duals : ndarray of float64, (classes - 1, support)
        The coefficients of class c against class d are in row d, or d - 1 if d > c.
    coefficients : ndarray of float64, (graphs, pairs of classes)
        Zeros; output.
    """
    n_classes, pair = len(ends) - 1, 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            for k in range(ends[i], ends[i + 1]):
                coefficients[support[k], pair] = duals[j - 1, k]
            for k in range(ends[j], ends[j + 1]):
                coefficients[support[k], pair] = duals[i, k]
            pair += 1


@compiled(passes=count_numbers)
def count_votes(decisions: Any, votes: Any) -> None:
    """Add the votes of each row's decisions, (rows, pairs of classes), to ``votes``, (rows, classes)."""
    n_classes = votes.shape[1]
    for row in range(len(decisions)):
        pair = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                votes[row, i] += decisions[row, pair] > 0
                votes[row, j] += decisions[row, pair] <= 0
                pair += 1
