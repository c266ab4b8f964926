"""Ridge regression on kernel matrices, against scikit-learn's on features."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from propkernels.learn.machines.ridge import PER_COST, RidgeRegression, screening_maker
from propkernels.learn.machines.svm import (
    ColumnMaker,
    SupportVectorClassification,
    SupportVectorRegression,
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
