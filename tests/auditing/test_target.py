"""Targets of audits: columns of ridge regression, losses and scores."""

import numpy as np
import pytest

from propkernels.auditing.target import Target, check_audit_target

EVERYONE = np.arange(4)


def test_two_classes_are_one_column():
    target = Target(np.array([0, 1, 1, 0]), ("a", "b"))
    assert target.columns.tolist() == [[-1], [1], [1], [-1]]
    decisions = np.array([[-0.5], [0.5], [-0.1], [-2.0]])
    assert target.predictions(decisions).tolist() == [0, 1, 0, 0]
    assert target.score(decisions, EVERYONE) == 0.75


def test_three_classes_are_three_columns():
    target = Target(np.array([0, 1, 2, 2]), ("a", "b", "c"))
    assert target.columns.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [-1, -1, 1]]
    assert target.score(target.columns, EVERYONE) == 1.0
    assert target.score(target.columns[[1, 1, 1, 3]], EVERYONE) == 0.5


def test_squared_errors_decide_between_equal_accuracies():
    target = Target(np.array([0, 1, 1, 0]), ("a", "b"))
    near, far = 0.9 * target.columns, 0.1 * target.columns
    assert target.loss(near, EVERYONE) < target.loss(far, EVERYONE) < target.loss(-near, EVERYONE)


def test_numbers_are_standardized():
    target = Target(np.array([1.0, 2.0, 3.0, 6.0]), ())
    assert target.columns.mean() == pytest.approx(0)
    assert target.columns.std() == pytest.approx(1)
    np.testing.assert_allclose(target.predictions(target.columns), target.values)
    assert target.score(target.columns, EVERYONE) == 1.0
    assert target.score(np.zeros((4, 1)), EVERYONE) == pytest.approx(0.0)


def test_targets_of_test_graphs_may_lack_classes():
    train = check_audit_target(["x", "y", "z"], 3, ("X", "Y", "Z"))
    test = check_audit_target(["z", "x"], 2, (), like=train)
    assert test.values.tolist() == [2, 0]
    assert [test.name(value) for value in test.values] == ["Z", "X"]
