"""Least squares: closed forms against refits, with weights, groups and missing entries."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from propkernels.models.least_squares import PER_COST, solve, solve_features

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(30, 8))
KERNEL = FEATURES @ FEATURES.T
TARGETS = np.column_stack([FEATURES @ RNG.normal(size=8) + 2, RNG.normal(size=30)])
GAPS = np.where(RNG.random(TARGETS.shape) < 0.25, np.nan, TARGETS)
WEIGHTS = RNG.uniform(0.1, 3.0, size=30)
GROUPS = [np.arange(0, 7), np.arange(7, 9), *np.arange(9, 30)[:, None]]
RIDGES = (0.01, 0.3, 2.0)


def refit(kept, column, ridge, weights):
    """Predictions of scikit-learn on features, for all graphs; weights have the mean 1 over ``rows``."""
    rows = np.flatnonzero(~np.isnan(TARGETS_OF[column]))
    kept = np.intersect1d(kept, rows)
    own = None if weights is None else weights[kept] / weights[rows].mean()
    penalty = ridge * KERNEL.diagonal().mean()
    machine = Ridge(alpha=penalty, solver="cholesky", tol=1e-12)
    return machine.fit(FEATURES[kept], TARGETS_OF[column][kept], own).predict(FEATURES)


TARGETS_OF = {"full": TARGETS[:, 0], "other": TARGETS[:, 1], "gap": GAPS[:, 0], "other gap": GAPS[:, 1]}


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("names", [("full", "other"), ("full", "gap", "other gap")])
def test_decisions_and_held_out_decisions_are_those_of_refits(names, weights, groups):
    targets = np.column_stack([TARGETS_OF[name] for name in names])
    for ridge, found in zip(RIDGES, solve(KERNEL, targets, RIDGES, weights, groups), strict=True):
        assert found.ridge == ridge
        for column, name in enumerate(names):
            own = KERNEL @ found.coefficients[:, column] + found.intercepts[column]
            np.testing.assert_allclose(own, refit(np.arange(30), name, ridge, weights), atol=1e-8)
            for group in np.arange(30)[:, None] if groups is None else groups:
                expected = refit(np.setdiff1d(np.arange(30), group), name, ridge, weights)
                known = group[~np.isnan(targets[group, column])]
                np.testing.assert_allclose(found.held_out[known, column], expected[known], atol=1e-8)
            missing = np.isnan(targets[:, column])
            np.testing.assert_allclose(found.held_out[missing, column], own[missing], atol=1e-8)
            assert (found.coefficients[missing, column] == 0).all()


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", ["full", "gap"])
def test_decisions_without_a_fold_are_those_of_refits_without_it(name, weights, groups):
    """Of its own graphs by the others; and of each other graph (or group), which is left out as well."""
    folds = [np.arange(0, 9), np.arange(9, 15), np.arange(15, 30)]
    solved = solve(KERNEL, TARGETS_OF[name][:, None], RIDGES, weights, groups, folds)
    for (ridge, found), (number, fold) in product(zip(RIDGES, solved, strict=True), enumerate(folds)):
        apart, rest = found.apart[number][:, 0], np.setdiff1d(np.arange(30), fold)
        expected = np.full(30, np.nan)
        expected[fold] = refit(rest, name, ridge, weights)[fold]
        for group in np.arange(30)[:, None] if groups is None else groups:
            if not np.isin(group, fold).any():
                expected[group] = refit(np.setdiff1d(rest, group), name, ridge, weights)[group]
        expected[np.isnan(TARGETS_OF[name])] = np.nan
        np.testing.assert_allclose(apart, expected, atol=1e-7)


def test_single_precision_is_enough():
    kernel = KERNEL / np.sqrt(np.outer(KERNEL.diagonal(), KERNEL.diagonal()))
    folds = [np.arange(10), np.arange(10, 30)]
    exact, rough = (solve(k, TARGETS, [0.1], folds=folds)[0] for k in (kernel, kernel.astype(np.float32)))
    np.testing.assert_allclose(exact.apart, rough.apart, atol=1e-3)


def test_weight_zero_is_absence():
    weights = np.where(np.arange(30) < 20, WEIGHTS, 0.0)
    (found,) = solve(KERNEL, TARGETS, [0.1], weights)
    assert (found.coefficients[20:] == 0).all()
    own = KERNEL @ found.coefficients + found.intercepts
    np.testing.assert_allclose(found.held_out[20:], own[20:], atol=1e-10)
    assert np.isfinite(found.held_out).all()


@pytest.mark.parametrize("groups", [None, [np.array([0, 1]), np.array([2, 3])]])
def test_negative_eigenvalues_count_as_zero(groups):
    (found,) = solve(np.diag([1.0, -2.0, 1.0, 4.0]), TARGETS[:4], [0.1], groups=groups)
    (other,) = solve(np.diag([1.0, 0.0, 1.0, 4.0]), TARGETS[:4], [0.1 / 1.5], groups=groups)
    np.testing.assert_allclose(found.held_out, other.held_out, atol=1e-9)
    np.testing.assert_allclose(found.coefficients, other.coefficients, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_graphs(n):
    (found,) = solve(KERNEL[:n, :n], TARGETS[:n], [0.1])
    assert np.isfinite(found.held_out).all()
    assert np.isfinite(found.coefficients).all()
    if n == 2:  # what is left is one graph, whose target is predicted
        np.testing.assert_allclose(found.held_out, TARGETS[1::-1], atol=1e-9)


def test_graphs_that_are_all_alike_and_constant_targets():
    (found,) = solve(np.ones((5, 5)), np.array([[1.0], [1], [-1], [-1], [-1]]), [1.0])
    np.testing.assert_allclose(found.held_out[:, 0], [-0.5, -0.5, 0, 0, 0], atol=1e-9)
    (found,) = solve(np.zeros((5, 5)), np.full((5, 1), 7.0), [1.0])
    np.testing.assert_allclose(found.held_out, 7.0)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_least_squares_on_features(form, weights):
    rows, costs = form(FEATURES), (0.3, 5.0)
    for cost, found in zip(costs, solve_features(rows, GAPS, costs, weights), strict=True):
        for column in range(2):
            known = ~np.isnan(GAPS[:, column])
            own = None if weights is None else weights[known]
            machine = Ridge(alpha=1 / (PER_COST * cost)).fit(FEATURES[known], GAPS[known, column], own)
            np.testing.assert_allclose(found.decisions(FEATURES)[:, column], machine.predict(FEATURES))


def test_equations_without_a_solution_are_refused():
    with pytest.raises(ValueError, match=r"C=1e\+300 is too large for these features"):
        solve_features(np.repeat(np.arange(4.0)[:, None], 2, axis=1), np.arange(4.0)[:, None], [1e300])
