"""Duplicates: exact ones, conflicts, leaks and near duplicates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels.auditing.duplicates import best_possible, describe_steps, expected_leak, near_duplicates
from propkernels.auditing.statistics import Target
from tests.auditing.conftest import N, joined, shuffled


def test_planted_duplicates_are_found_and_nothing_else(clean):
    graphs, target = clean
    planted = [3, 17, 17, 40]
    together = joined(graphs, shuffled(graphs[planted]))
    report = pk.audit(together, np.append(target, target[planted]), t_max=2)
    assert report.sameness.duplicates.groups == ((17, N + 1, N + 2), (3, N), (40, N + 3))
    assert report.sameness.duplicates.conflicts == ()
    assert report.sameness.duplicates.bound == 1.0
    assert (report.sameness.duplicates.n_graphs, report.sameness.duplicates.n_superfluous) == (7, 4)


def test_planted_conflicts_are_found_and_bound_the_accuracy(clean):
    graphs, target = clean
    planted, agreeing = [5, 9], [20]
    together = joined(graphs, shuffled(graphs[planted + agreeing]))
    classes = np.concatenate([target, 1 - target[planted], target[agreeing]])
    report = pk.audit(together, classes, t_max=2)
    assert report.sameness.duplicates.conflicts == ((5, N), (9, N + 1))
    assert report.sameness.duplicates.bound == (N + 1) / (N + 3)
    assert any("no method can exceed 96.8 %" in sentence.text for sentence in report.sentences)


def test_planted_leaks_are_found_and_nothing_else(clean):
    graphs, target = clean
    train, test = graphs[:40], joined(graphs[40:], shuffled(graphs[[2, 30]]))
    classes = np.concatenate([target[40:], target[[2]], 1 - target[[30]]])
    leaks = pk.audit(train, target[:40], test, test_target=classes, t_max=2).sameness.leaks
    assert leaks.exact == ((20, 2), (21, 30))
    assert leaks.conflicting == ((21, 30),)
    assert leaks.n_test == 22
    assert not {graph for graph, _ in (*leaks.alike, *((a, b) for a, b, _ in leaks.near))} & {20, 21}


def test_duplicates_conflict_only_by_targets_that_are_known(clean):
    graphs, target = clean
    twice = joined(graphs, graphs[:2])
    found = pk.audit(twice, [*target.tolist(), None, int(1 - target[1])], t_max=1)
    assert found.sameness.duplicates.conflicts == ((1, N + 1),)
    leaks = pk.audit(graphs, target, graphs[:2], test_target=[None, int(1 - target[1])], t_max=1)
    assert leaks.sameness.leaks.conflicting == ((1, 1),)


def test_near_duplicates_are_pairs_of_different_graphs_above_the_threshold():
    matrix = np.array([[1, 1, 0.96, 0], [1, 1, 0.96, 0], [0.96, 0.96, 1, 0.94], [0, 0, 0.94, 1]])
    classes, target = np.array([0, 0, 1, 2]), Target(np.array([0, 0, 1, 1]), ("a", "b"))
    near = near_duplicates(matrix, classes, target)
    assert near.pairs == ((0, 2, 0.96), (1, 2, 0.96))
    assert (near.n_graphs, near.n_disagreeing) == (3, 3)


def test_the_expected_leak_is_that_of_random_splits():
    random = np.random.default_rng(0)
    classes = np.repeat(np.arange(150), [1] * 100 + [2] * 30 + [3] * 20)
    is_test = random.random((400, len(classes))) < 0.1
    leaked = [np.isin(classes[rows], classes[~rows]).mean() for rows in is_test]
    assert expected_leak(np.repeat([2, 3], [30, 20]), len(classes)) == pytest.approx(
        np.mean(leaked), abs=0.02
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_bound_is_that_of_the_best_rule(pairs):
    groups, values = np.array(pairs).T
    right = Fraction(0)
    for group in set(groups.tolist()):
        members = values[groups == group].tolist()
        right += Fraction(max(members.count(c) for c in set(members)), len(pairs))
    assert best_possible(groups, Target(values, ("a", "b", "c"))) == float(right)


def test_bound_for_numbers_is_the_variance_between_groups():
    groups, values = np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 6.0, 6.0])
    found = best_possible(groups, Target(values, ()))
    assert found == 1 - 2 / np.square(values - 4).sum()
    assert best_possible(np.zeros(3, dtype=int), Target(np.ones(3), ())) == 1.0


def test_steps_are_described():
    groups = [np.array([0, 0, 0]), np.array([0, 0, 1])]
    first, second = describe_steps(groups, Target(np.array([0, 1, 1]), ("a", "b")))
    assert (first.n_groups, first.n_graphs, second.n_groups, second.n_graphs) == (1, 3, 2, 2)
    assert first.bound == second.bound == 2 / 3
    assert describe_steps(groups, None)[0].bound is None
