"""Least squares for classes and labels by conjugate gradients, against scikit-learn's ridge regression."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from propkernels.models.ridge_classification import RidgeClassification
from propkernels.models.support_vectors import with_effort

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(60, 8))
KERNEL = FEATURES @ FEATURES.T
CLASSES = np.argmax(FEATURES[:, :3] + RNG.normal(size=(60, 3)), axis=1)
LABELS = (FEATURES[:, :4] + RNG.normal(size=(60, 4)) > 0.5).astype(float)
WEIGHTS = np.linspace(0.5, 2, 60)


def reference(target, cost, weights=None):
    return Ridge(alpha=1 / cost).fit(FEATURES, target, weights).predict(FEATURES)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
def test_classes_are_learned_one_against_the_rest(cost, weights):
    machine = RidgeClassification().fit(KERNEL, CLASSES, cost, weights)
    assert machine.is_converged
    for number, found in enumerate(machine.decisions(KERNEL).T):
        truth = np.where(number == CLASSES, 1.0, -1.0)
        np.testing.assert_allclose(found, reference(truth, cost, weights), atol=1e-3)


def test_two_classes_have_one_decision_that_is_positive_for_the_second():
    target = (CLASSES == 1).astype(np.int64)
    decisions = RidgeClassification().fit(KERNEL, target, 1.0).decisions(KERNEL)
    assert decisions.shape == (60, 1)
    np.testing.assert_allclose(decisions[:, 0], reference(2.0 * target - 1, 1.0), atol=1e-3)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 3}])
def test_each_label_is_learned_from_the_graphs_that_have_it(class_weight):
    labels = LABELS.copy()
    labels[RNG.random(labels.shape) < 0.3] = np.nan
    machine = RidgeClassification(class_weight).fit(KERNEL, labels, 0.5, WEIGHTS)
    for column, found in zip(labels.T, machine.decisions(KERNEL).T, strict=True):
        known = ~np.isnan(column)
        weights = WEIGHTS[known] * compute_sample_weight(class_weight, column[known].astype(int))
        ridge = Ridge(alpha=2).fit(FEATURES[known], 2 * column[known] - 1, weights)
        np.testing.assert_allclose(found, ridge.predict(FEATURES), atol=2e-3)


def test_threads_of_blas_do_not_matter():
    points = RNG.normal(size=(701, 50))
    kernel, labels = points @ points.T, (points[:, :5] > 0).astype(float)

    def fitted(n_threads):
        with threadpool_limits(n_threads):
            return RidgeClassification().fit(kernel, labels, 1.0).coefficients

    assert np.array_equal(fitted(1), fitted(2))


def test_missing_entries_have_no_coefficient():
    labels = LABELS.copy()
    labels[:10, 2] = np.nan
    coefficients = RidgeClassification().fit(KERNEL, labels, 1.0).coefficients
    assert not coefficients[:10, 2].any()
    assert coefficients[10:, 2].all()


def test_constant_and_empty_labels_have_a_constant_decision():
    labels = np.column_stack([np.ones(60), np.zeros(60), np.full(60, np.nan), LABELS[:, 0]])
    machine = RidgeClassification().fit(KERNEL, labels, 1.0)
    np.testing.assert_allclose(machine.decisions(KERNEL)[:, :3], np.tile([1.0, -1.0, -1.0], (60, 1)))
    assert machine.decisions(KERNEL)[:, 3].std() > 0


def test_a_limit_of_steps_is_told():
    steep = KERNEL**3
    machine = with_effort(RidgeClassification(), "quick").fit(steep, LABELS, 1e6)
    assert not machine.is_converged
    assert np.isfinite(machine.decisions(steep)).all()


def test_kernels_that_are_not_positive_definite_end():
    machine = RidgeClassification().fit(np.diag([1.0, -9.0, 1.0, 1.0]), np.array([0, 1, 0, 1]), 1.0)
    assert np.isfinite(machine.coefficients).all()
