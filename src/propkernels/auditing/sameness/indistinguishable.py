"""Graphs that no kernel of t steps can tell apart: those with equal bins after t refinements.

A Weisfeiler-Lehman code at t holds all that a node can learn from t messages of its neighbors. The
distributions of propagation kernels, and whatever a network of t message-passing layers computes, are
functions of it [1]_.

References
----------
.. [1] K. Xu, W. Hu, J. Leskovec and S. Jegelka (2019). How powerful are graph neural networks? ICLR. Lemma 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.contents import Contents
from propkernels.auditing.scores.targets import Target

Groups = NDArray[np.int64]


@dataclass(frozen=True)
class Indistinguishable:
    """What t steps can tell apart.

    Attributes
    ----------
    t : int
    n_groups : int
        How many different graphs there are to such a method.
    n_graphs : int
        Graphs that are like another one.
    bound : float or None
        The best accuracy (R^2 for numbers) that any function of what is seen can reach on these graphs.
    """

    t: int
    n_groups: int
    n_graphs: int
    bound: float | None


def groups_by_step(contents: Contents, t_max: int, n_jobs: int | None) -> list[Groups]:
    """For t = 0, ..., t_max, a number per graph: equal for graphs with equal bins up to t."""
    codes = contents.refined(contents.node_keys, t_max, n_jobs)
    return [equal_multisets(row, contents.graphs.graph_ptr) for row in codes]


def equal_multisets(codes: NDArray[Any], graph_ptr: NDArray[np.int64]) -> Groups:
    """Number graphs by their sorted codes, in order of first appearance.

    Examples
    --------
    >>> equal_multisets(np.array([7, 5, 5, 7, 7, 7]), np.array([0, 2, 4, 6]))
    array([0, 0, 1])
    """
    owners = np.repeat(np.arange(len(graph_ptr) - 1), np.diff(graph_ptr))
    ordered = np.ascontiguousarray(codes[np.lexsort((codes, owners))])
    return number_equal([ordered[a:b].tobytes() for a, b in pairwise(graph_ptr)])


def number_equal(things: Sequence[Any]) -> Groups:
    """Number hashable things, equal ones alike, in order of first appearance."""
    table: dict[Any, int] = {}
    return np.array([table.setdefault(thing, len(table)) for thing in things], dtype=np.int64)


def describe_steps(groups: Sequence[Groups], target: Target | None) -> tuple[Indistinguishable, ...]:
    """What is lost at each t."""
    return tuple(
        Indistinguishable(
            t,
            len(np.unique(row)),
            int(in_company(row).sum()),
            None if target is None else best_possible(row, target),
        )
        for t, row in enumerate(groups)
    )


def in_company(groups: Groups) -> NDArray[np.bool_]:
    """Whether a graph's group has other members."""
    return np.asarray(np.bincount(groups)[groups] > 1) if len(groups) else np.zeros(0, dtype=bool)


def best_possible(groups: Groups, target: Target) -> float:
    """Accuracy, or R^2, of the best rule that treats the graphs of a group alike.

    The rule says the most frequent class of each group, or the mean of its numbers.

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
