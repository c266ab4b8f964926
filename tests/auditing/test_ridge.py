"""Ridge regressions of folds from one inverse, against single fits."""

import numpy as np
import pytest

from propkernels.auditing.ridge import RidgeFolds
from propkernels.models.least_squares import PER_COST, solve


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
    known = kernel[np.ix_(train, train)]
    (found,) = solve(known, columns[train], [1 / (PER_COST * cost * known.diagonal().mean())])
    return kernel[np.ix_(test, train)] @ found.coefficients + found.intercepts


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
