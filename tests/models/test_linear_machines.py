"""Linear machines against liblinear on the same sparse features."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC, LinearSVR

from propkernels.models import linear_machines
from propkernels.models.linear_machines import LinearClassification, LinearRegression, _is_settled

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 4))
FEATURES = csr_array(POINTS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_those_of_liblinear(n_classes):
    target = np.digitize(POINTS[:, 0], np.linspace(-0.5, 0.5, n_classes - 1))
    machine = LinearClassification().fit(FEATURES, target, 0.5)
    reference = LinearSVC(C=0.5, dual=False, tol=1e-4).fit(POINTS, target).decision_function(POINTS)
    np.testing.assert_allclose(machine.decisions(FEATURES), reference.reshape(60, -1), atol=1e-3)


def test_values_are_those_of_liblinear():
    target = POINTS @ [1.0, -2.0, 0.0, 0.5] + 0.1 * RNG.normal(size=60)
    machine = LinearRegression(0.1).fit(FEATURES, target, 0.5)
    options = {"loss": "squared_epsilon_insensitive", "dual": False, "tol": 1e-4}
    reference = LinearSVR(C=0.5, epsilon=0.1, **options).fit(POINTS, target).predict(POINTS)
    np.testing.assert_allclose(machine.decisions(FEATURES)[:, 0], reference, atol=1e-3)


def test_graphs_with_weight_0_do_not_matter():
    target = (POINTS[:, 0] > 0).astype(np.int64)
    weights = np.repeat([1.0, 0.0], [40, 20])
    weighted = LinearClassification().fit(FEATURES, target, 1.0, weights)
    alone = LinearClassification().fit(FEATURES[:40], target[:40], 1.0)
    np.testing.assert_allclose(weighted.coefficients, alone.coefficients, atol=1e-3)


def test_stochastic_gradients_are_reproducible(monkeypatch):
    monkeypatch.setattr(linear_machines, "STOCHASTIC_FROM", 10)
    target = (POINTS[:, 0] > 0).astype(np.int64)
    first, second = (LinearClassification().fit(FEATURES, target, 1.0) for _ in range(2))
    assert np.array_equal(first.coefficients, second.coefficients)
    assert np.mean((first.decisions(FEATURES)[:, 0] > 0) == target) > 0.9


class Scoring:
    """A fitted machine that gives these scores to all graphs."""

    def __init__(self, scores, n_classes):
        self.scores, self.classes_ = np.asarray(scores), np.arange(n_classes)

    def decision_function(self, known):
        return self.scores


@pytest.mark.parametrize(
    ("scores", "target", "is_settled"),
    [
        ([1.5, -1.5], [1, 0], True),
        ([1.5, -1.5], [0, 1], False),
        ([0.5, -0.5], [1, 0], False),
        ([[1.5, 0, 0], [0, 0, 1.5]], [0, 2], True),
        ([[1.5, 0, 0], [0, 0, 1.5]], [2, 0], False),
    ],
)
def test_a_machine_is_settled_unless_nearly_all_graphs_are_within_the_margin(scores, target, is_settled):
    machine = Scoring(scores, np.ndim(scores) + 1)
    assert _is_settled(machine, None, np.array(target)) is is_settled


def test_the_penalty_of_stochastic_gradients_is_that_of_the_cost(monkeypatch):
    monkeypatch.setattr(linear_machines, "STOCHASTIC_FROM", 9)
    assert LinearClassification()._machine(10, 4.0).alpha == 1 / 40
    assert LinearRegression(0.1)._machine(10, 4.0).alpha == 1 / 40


def test_a_larger_cost_may_always_give_another_machine():
    features = csr_array(np.eye(4))
    assert not LinearClassification().fit(features, np.array([0, 0, 1, 1]), 1.0).is_final
