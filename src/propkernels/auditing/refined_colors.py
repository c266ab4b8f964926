"""Graphs that t steps can distinguish, and the highest accuracy that they allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propkernels.auditing.target import Target
from propkernels.sets.contents import Groups, in_company


@dataclass(frozen=True)
class Indistinguishable:
    """Graphs that t steps distinguish.

    Attributes
    ----------
    t : int
    n_groups : int
        Number of groups of graphs with equal codes.
    n_graphs : int
        Number of graphs with the same codes as another graph.
    bound : float or None
        Highest accuracy (R^2 for regression) of any function of the codes on these graphs.
    """

    t: int
    n_groups: int
    n_graphs: int
    bound: float | None


def describe_steps(groups: Sequence[Groups], target: Target | None) -> tuple[Indistinguishable, ...]:
    """Return a summary of the groups at each t."""
    return tuple(
        Indistinguishable(
            t,
            len(np.unique(row)),
            int(in_company(row).sum()),
            None if target is None else best_possible(row, target),
        )
        for t, row in enumerate(groups)
    )


def best_possible(groups: Groups, target: Target) -> float:
    """Return the highest accuracy, or R^2, of rules with equal predictions for the graphs of a group.

    The best rule predicts the most frequent class, or the mean target, of each group.

    Examples
    --------
    >>> best_possible(np.array([0, 0, 0, 1]), Target(np.array([0, 1, 1, 0]), ("a", "b")))
    0.75
    """
    groups, target = groups[target.known], target.take(np.flatnonzero(target.known))
    if not len(groups):
        return 1.0
    if target.is_classes:
        table = np.zeros((groups.max() + 1, len(target.classes)), dtype=np.int64)
        np.add.at(table, (groups, target.values), 1)
        return float(table.max(axis=1).sum() / len(groups))
    sizes = np.maximum(np.bincount(groups), 1)
    means = np.bincount(groups, target.values) / sizes
    total = float(np.square(target.values - target.values.mean()).sum())
    return 1.0 - float(np.square(target.values - means[groups]).sum()) / total if total else 1.0
