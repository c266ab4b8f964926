"""Ridge regression on kernel matrices against scikit-learn's on features, and folds against single fits."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from propkernels.models.linear_machines import LinearClassification
from propkernels.models.ridge import (
    PER_COST,
    FeatureClassification,
    FeatureRegression,
    RidgeFolds,
    RidgeRegression,
    screening_maker,
)
from propkernels.models.support_vectors import (
    ColumnMaker,
    SupportVectorClassification,
    SupportVectorRegression,
    fit_path,
)

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(40, 6))
TARGET = FEATURES @ RNG.normal(size=6) + 3 + 0.1 * RNG.normal(size=40)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 30)])
@pytest.mark.parametrize("cost", [0.01, 1.0, 1000.0])
def test_it_is_ridge_regression_with_a_free_intercept(cost, weights):
    known, rows = FEATURES[:30], FEATURES[30:]
    reference = Ridge(alpha=1 / (PER_COST * cost)).fit(known, TARGET[:30], weights).predict(rows)
    machine = RidgeRegression(0.1).fit(known @ known.T, TARGET[:30], cost, weights)
    np.testing.assert_allclose(machine.decisions(rows @ known.T)[:, 0], reference, rtol=1e-6)


def test_kernels_that_are_not_positive_definite_are_solved_too():
    kernel = np.diag([1.0, -2.0, 1.0, 1.0])
    machine = RidgeRegression(0.1).fit(kernel, np.arange(4.0), 1.0)
    fitted = kernel @ machine.coefficients[:, 0] + machine.intercepts[0]
    np.testing.assert_allclose(fitted + machine.coefficients[:, 0] / PER_COST, np.arange(4.0), atol=1e-12)


def test_what_stands_in_for_machines_in_a_quick_look():
    assert screening_maker(SupportVectorRegression(0.3)) == RidgeRegression(0.3)
    assert screening_maker(SupportVectorClassification()) == SupportVectorClassification("quick")
    assert screening_maker(ColumnMaker(SupportVectorRegression(0.3))) == ColumnMaker(RidgeRegression(0.3))


def test_several_columns_are_learned_at_once():
    kernel, columns = FEATURES @ FEATURES.T, np.column_stack([TARGET, TARGET**2])
    together = RidgeRegression().fit(kernel, columns, 0.3)
    for column in range(2):
        alone = RidgeRegression().fit(kernel, columns[:, column], 0.3)
        np.testing.assert_allclose(together.coefficients[:, [column]], alone.coefficients, atol=1e-9)
        np.testing.assert_allclose(together.intercepts[[column]], alone.intercepts)


@pytest.fixture
def problem():
    random = np.random.default_rng(0)
    points = random.normal(size=(30, 5))
    columns = random.normal(size=(30, 2)) + 5
    order = random.permutation(30)
    folds = [(np.sort(np.setdiff1d(order, part)), np.sort(part)) for part in np.split(order, 3)]
    return points @ points.T, columns, folds


def fitted(kernel, columns, train, test, cost=0.2):
    """Predictions of the machine that is fitted without the test graphs."""
    machine = RidgeRegression().fit(kernel[np.ix_(train, train)], columns[train], cost)
    return machine.decisions(kernel[np.ix_(test, train)])


def test_folds_are_predicted_as_by_machines_without_them(problem):
    kernel, columns, folds = problem
    machines = RidgeFolds.fit(kernel, 0.2)
    found, together = machines.held_out(columns, folds), machines.cross_predict(columns, folds)
    for (train, test), one in zip(folds, found, strict=True):
        expected = fitted(kernel, columns, train, test)
        np.testing.assert_allclose(one.test, expected, atol=1e-9)
        np.testing.assert_allclose(together[test], expected, atol=1e-9)


def test_training_graphs_are_predicted_from_the_other_training_graphs(problem):
    kernel, columns, folds = problem
    for (train, _), one in zip(folds, RidgeFolds.fit(kernel, 0.2).held_out(columns, folds), strict=True):
        for place, graph in enumerate(train):
            expected = fitted(kernel, columns, np.delete(train, place), [graph])[0]
            np.testing.assert_allclose(one.train[place], expected, atol=1e-8)


def test_targets_of_test_graphs_do_not_matter(problem):
    """Settings are chosen by predictions that do not depend on the targets of held-out graphs."""
    kernel, columns, folds = problem
    changed = columns.copy()
    changed[folds[0][1]] += 10.0
    machines = RidgeFolds.fit(kernel, 0.2)
    one, other = machines.held_out(columns, folds)[0], machines.held_out(changed, folds)[0]
    np.testing.assert_allclose(one.train, other.train, atol=1e-9)
    np.testing.assert_allclose(one.test, other.test, atol=1e-9)


def test_single_precision_is_enough(problem):
    kernel, columns, folds = problem
    kernel = kernel / np.sqrt(np.outer(kernel.diagonal(), kernel.diagonal()))
    exact = RidgeFolds.fit(kernel, 1.0).held_out(columns, folds)
    rough = RidgeFolds.fit(kernel.astype(np.float32), 1.0)
    assert rough.inverse.dtype == np.float32
    for one, other in zip(exact, rough.held_out(columns, folds), strict=True):
        np.testing.assert_allclose(one.test, other.test, atol=1e-3)
        np.testing.assert_allclose(one.train, other.train, atol=1e-3)


def test_folds_need_a_positive_semidefinite_kernel():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        RidgeFolds.fit(-10 * np.eye(3), 0.1)


GAPS = np.where(RNG.random((40, 2)) < 0.2, np.nan, np.sign(RNG.normal(size=(40, 2))) == 1)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 40)])
@pytest.mark.parametrize(
    ("maker", "target"),
    [
        (FeatureRegression(), TARGET),
        (FeatureClassification(), np.digitize(TARGET, [2, 4])),
        (ColumnMaker(FeatureClassification(), "balanced"), GAPS),
        (ColumnMaker(LinearClassification()), GAPS),
    ],
)
def test_machines_of_several_costs_are_those_of_each_cost(maker, target, weights):
    costs = [0.01, 1.0, 100.0]
    for cost, machine in zip(costs, fit_path(maker, FEATURES, target, costs, weights), strict=True):
        alone = maker.fit(FEATURES, target, cost, weights)
        np.testing.assert_array_equal(machine.coefficients, alone.coefficients)
        np.testing.assert_array_equal(machine.intercepts, alone.intercepts)


def test_least_squares_on_features_are_ridge_regression():
    machine = FeatureRegression().fit(FEATURES, TARGET, 0.3)
    reference = Ridge(alpha=1 / (PER_COST * 0.3)).fit(FEATURES, TARGET)
    np.testing.assert_allclose(machine.coefficients[:, 0], reference.coef_, rtol=1e-9)
    np.testing.assert_allclose(machine.intercepts, reference.intercept_, rtol=1e-9)


def test_targets_of_classes_on_features_are_1_and_minus_1():
    features = np.random.default_rng(0).normal(size=(12, 3))
    target = np.arange(12) % 3
    machine = FeatureClassification().fit(features, target, 0.5)
    for label in range(3):
        expected = FeatureRegression().fit(features, np.where(target == label, 1.0, -1.0), 0.5)
        np.testing.assert_allclose(machine.coefficients[:, label], expected.coefficients[:, 0])
        np.testing.assert_allclose(machine.intercepts[label], expected.intercepts[0])
