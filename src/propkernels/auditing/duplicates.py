"""Exact duplicates, conflicting targets, leaks into test sets, and near duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.statistics import Target
from propkernels.codes.contents import Groups, everything, groups_by_step, in_company, labels_alone
from propkernels.graphs.database import GraphDatabase
from propkernels.sets.isomorphism import isomorphism_classes

N_REFINEMENTS = 10  # color refinements before candidate duplicates are compared exactly
NEARLY = 0.95  # least normalized kernel of near duplicates
TEST_SHARE = 0.1  # share of test graphs in the random split of expected_leak


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


@dataclass(frozen=True)
class Duplicates:
    """Groups of isomorphic graphs.

    Attributes
    ----------
    groups : tuple of tuple of int
        Graphs that are isomorphic, with equal labels, attributes and weights; the largest groups first.
    conflicts : tuple of tuple of int
        Groups whose targets differ.
    n_graphs : int
        Graphs that have a duplicate.
    n_superfluous : int
        Graphs to remove so that one of each group remains.
    n_conflicting : int
        Graphs in groups whose targets differ.
    undecided : int
        Graphs that color refinement does not distinguish and whose exact comparison reached its limit.
    bound : float or None
        Highest accuracy (R^2 for regression) of any method that predicts equal targets for equal graphs.
    expected_leak : float
        Expected share of test graphs with a duplicate in training, for random test sets of 10 %.
    """

    groups: tuple[tuple[int, ...], ...]
    conflicts: tuple[tuple[int, ...], ...]
    n_graphs: int
    n_superfluous: int
    n_conflicting: int
    undecided: int
    bound: float | None
    expected_leak: float


@dataclass(frozen=True)
class Leaks:
    """Test graphs that are also training graphs.

    Attributes
    ----------
    n_test : int
    exact : tuple of (int, int)
        Test graph, and the first training graph that is isomorphic to it.
    conflicting : tuple of (int, int)
        Pairs of ``exact`` with different targets.
    alike : tuple of (int, int)
        Other test graphs that ``t_max`` steps do not distinguish from a training graph.
    near : tuple of (int, int, float)
        Other test graphs with a similarity of at least 0.95 to a training graph.
    """

    n_test: int
    exact: tuple[tuple[int, int], ...]
    conflicting: tuple[tuple[int, int], ...]
    alike: tuple[tuple[int, int], ...]
    near: tuple[tuple[int, int, float], ...] = ()


@dataclass(frozen=True)
class NearDuplicates:
    """Pairs of graphs with a similarity of at least 0.95 that are not exact duplicates.

    Attributes
    ----------
    threshold : float
        Least similarity of a pair.
    n_looked_at : int
        Number of compared graphs.
    n_graphs : int
        Graphs with a near duplicate.
    n_disagreeing : int
        Graphs whose most similar near duplicate has another class; 0 for regression.
    pairs : tuple of (int, int, float)
        The most similar pairs, and their similarity.
    """

    threshold: float
    n_looked_at: int
    n_graphs: int
    n_disagreeing: int
    pairs: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class Sameness:
    """Exact duplicates, leaks, and graphs that t steps do not distinguish.

    Attributes
    ----------
    by_step : tuple of Indistinguishable
        Graphs that t = 0, ..., t_max steps distinguish by labels, attributes and weights.
    by_step_without_edges : tuple of Indistinguishable
        The same without edge labels, attributes and weights; empty if all edges are equal.
    duplicates : Duplicates
        Isomorphic graphs with equal labels, attributes and weights.
    same_but_for_attributes : Duplicates or None
        Isomorphic graphs with equal labels; None without attributes.
    leaks : Leaks or None
    classes : ndarray
        One number per isomorphism class. Training graphs come first, then test graphs.
    """

    by_step: tuple[Indistinguishable, ...]
    by_step_without_edges: tuple[Indistinguishable, ...]
    duplicates: Duplicates
    same_but_for_attributes: Duplicates | None
    leaks: Leaks | None
    classes: Groups


def sameness_of(
    graphs: GraphDatabase,
    target: Target | None,
    test: GraphDatabase | None,
    test_target: Target | None,
    t_max: int,
) -> Sameness:
    """Return duplicates, leaks and indistinguishable graphs, in linear time except for exact duplicates."""
    n, together = len(graphs), graphs if test is None else GraphDatabase.concat([graphs, test])
    contents = everything(together)
    steps = groups_by_step(contents, max(t_max, N_REFINEMENTS))
    classes, undecided = isomorphism_classes(contents, steps[-1])
    plain: tuple[Indistinguishable, ...] = ()
    if contents.edge_keys is not None:
        plain = describe_steps(groups_by_step(labels_alone(graphs), t_max), target)
    without = None
    if graphs.node_attributes is not None or graphs.edge_attributes is not None:
        bare = everything(graphs.with_attributes(None).with_edge_attributes(None))
        bare_classes = isomorphism_classes(bare, groups_by_step(bare, N_REFINEMENTS)[-1])
        without = duplicates_of(bare_classes[0], target, bare_classes[1])
    return Sameness(
        describe_steps([row[:n] for row in steps[: t_max + 1]], target),
        plain,
        duplicates_of(classes[:n], target, undecided),
        without,
        None if test is None else leaks_of(classes, steps[t_max], n, target, test_target),
        classes,
    )


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


def duplicates_of(classes: Groups, target: Target | None, undecided: int = 0) -> Duplicates:
    """Return the groups of isomorphic graphs, from one class number per graph."""
    together = in_company(classes)
    members: dict[int, list[int]] = {}
    for graph in np.flatnonzero(together).tolist():
        members.setdefault(int(classes[graph]), []).append(graph)
    groups = sorted((tuple(group) for group in members.values()), key=lambda group: (-len(group), group))
    conflicts = [group for group in groups if target is not None and target.differs(list(group))]
    return Duplicates(
        tuple(groups),
        tuple(conflicts),
        int(together.sum()),
        sum(len(group) - 1 for group in groups),
        sum(map(len, conflicts)),
        undecided,
        None if target is None else best_possible(classes, target),
        expected_leak(np.array([len(group) for group in groups]), len(classes)),
    )


def expected_leak(sizes: NDArray[Any], n_graphs: int) -> float:
    """Return the expected share of test graphs with a duplicate in training, for test sets of 10 %.

    ``sizes`` are those of groups of duplicates. A graph in a group of size s has a duplicate in training
    unless all s - 1 others are test graphs.

    Examples
    --------
    >>> round(expected_leak(np.array([2]), 2), 3), expected_leak(np.array([]), 5)
    (0.9, 0.0)
    """
    if not len(sizes):
        return 0.0
    return float((sizes * (1 - TEST_SHARE ** (sizes - 1.0))).sum() / n_graphs)


def leaks_of(
    classes: Groups, alike: Groups, n_train: int, target: Target | None, test_target: Target | None
) -> Leaks:
    """Return the test graphs that are training graphs; the first ``n_train`` entries are training graphs."""
    exact = _training_graphs(classes, n_train)
    conflicting: list[tuple[int, int]] = []
    if target is not None and test_target is not None:
        both = [(a, b) for a, b in exact.items() if test_target.known[a] and target.known[b]]
        conflicting = [(a, b) for a, b in both if test_target.values[a] != target.values[b]]
    others = [pair for pair in _training_graphs(alike, n_train).items() if pair[0] not in exact]
    return Leaks(len(classes) - n_train, tuple(exact.items()), tuple(conflicting), tuple(others))


def _training_graphs(groups: Groups, n_train: int) -> dict[int, int]:
    """Return the first training graph in the group of each test graph that has one."""
    first: dict[int, int] = {}
    for graph, group in enumerate(groups[:n_train].tolist()):
        first.setdefault(group, graph)
    tested = enumerate(groups[n_train:].tolist())
    return {graph: first[group] for graph, group in tested if group in first}


def near_duplicates(
    matrix: NDArray[np.float64], classes: Groups, target: Target | None, most: int = 12
) -> NearDuplicates:
    """Return pairs of graphs that are not isomorphic and whose normalized kernel is at least 0.95."""
    rows, columns = np.nonzero(np.triu(matrix >= NEARLY, k=1))
    different = classes[rows] != classes[columns]
    rows, columns = rows[different], columns[different]
    values, n = matrix[rows, columns], len(matrix)
    order = np.lexsort((columns, rows, -values))[:most]
    # the most similar partner of each graph, the first of equals
    graph, partner = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    by_graph = np.lexsort((partner, -np.tile(values, 2), graph))
    involved, first = np.unique(graph[by_graph], return_index=True)
    nearest, n_disagreeing = partner[by_graph][first], 0
    if target is not None and target.is_classes:
        known = target.known[involved] & target.known[nearest]
        n_disagreeing = int(np.count_nonzero(known & (target.values[involved] != target.values[nearest])))
    return NearDuplicates(
        NEARLY,
        n,
        len(involved),
        n_disagreeing,
        tuple((int(rows[i]), int(columns[i]), float(values[i])) for i in order),
    )
