"""Short loops over decisions and classes, which keep the GIL: numpy would release it at every step."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled


@compiled(is_short=True)
def place_duals(support: Any, sizes: Any, duals: Any, coefficients: Any) -> None:
    """Write libsvm's coefficients of all pairs of classes to the rows of their graphs.

    Parameters
    ----------
    support : ndarray of int
        Graphs with a coefficient, class by class.
    sizes : ndarray of int, (classes,)
        Number of such graphs per class.
    duals : ndarray of float64, (classes - 1, support)
        The coefficients of class c against class d are in row d, or d - 1 if d > c.
    coefficients : ndarray of float64, (graphs, pairs of classes)
        Output.
    """
    pair, first = 0, 0
    coefficients[:] = 0.0
    for i in range(len(sizes)):
        second = first + sizes[i]
        for j in range(i + 1, len(sizes)):
            for k in range(first, first + sizes[i]):
                coefficients[support[k], pair] = duals[j - 1, k]
            for k in range(second, second + sizes[j]):
                coefficients[support[k], pair] = duals[i, k]
            second += sizes[j]
            pair += 1
        first += sizes[i]


@compiled(is_short=True)
def count_bounded(duals: Any, cost: float) -> int:
    """Return the number of columns with an entry whose absolute value is at least ``cost``."""
    number = 0
    for k in range(duals.shape[1]):
        is_bounded = False
        for row in range(duals.shape[0]):
            is_bounded |= abs(duals[row, k]) >= cost
        number += is_bounded
    return number


@compiled(is_short=True)
def find_winners(decisions: Any, votes: Any, winners: Any) -> None:
    """Write the class with the most votes in each row's decisions, (rows, pairs of classes).

    Ties go to the first class. ``votes`` has one entry per class and is overwritten.
    """
    for row in range(len(decisions)):
        votes[:] = 0
        pair = 0
        for i in range(len(votes)):
            for j in range(i + 1, len(votes)):
                votes[i] += decisions[row, pair] > 0
                votes[j] += decisions[row, pair] <= 0
                pair += 1
        winners[row] = 0
        for i in range(1, len(votes)):
            if votes[i] > votes[winners[row]]:
                winners[row] = i


@compiled(is_short=True)
def rank_classes(target: Any, ranks: Any, classes: Any, numbers: Any) -> int:
    """Write the position of each target among the classes that occur; return how many; -1 if out of range.

    Parameters
    ----------
    target : ndarray of int
    ranks, classes : ndarray of int64, (most classes,)
        Output: the position of each class, -1 if it does not occur; the classes that occur, in order.
    numbers : ndarray of float64, (targets,)
        Output.
    """
    ranks[:] = -1
    for value in target:
        if value < 0 or value >= len(ranks):
            return -1
        ranks[value] = 0
    n_classes = 0
    for value in range(len(ranks)):
        if ranks[value] == 0:
            ranks[value] = n_classes
            classes[n_classes] = value
            n_classes += 1
    for i in range(len(target)):
        numbers[i] = ranks[target[i]]
    return n_classes


@compiled(is_short=True)
def add_intercepts(decisions: Any, intercepts: Any) -> None:
    """Add one number to each column of decisions, in place."""
    for i in range(decisions.shape[0]):
        for j in range(decisions.shape[1]):
            decisions[i, j] += intercepts[j]
