"""Probabilities: the best slope, the same argmax, and less confidence about left-out classes."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss

import propkernels as pk
from propkernels.models.calibrate import Calibration, calibrate, calibrate_labels

RNG = np.random.default_rng(0)
CLASSES = RNG.integers(3, size=400)
HOME = np.eye(3)[CLASSES] + 0.6 * RNG.normal(size=(400, 3))


def test_the_slope_has_the_smallest_log_loss():
    found = calibrate(HOME, CLASSES)
    own = log_loss(CLASSES, found.probabilities(HOME))
    assert found.power == 0
    for factor in (0.8, 1.25):
        assert own < log_loss(CLASSES, softmax(factor * found.slopes[0] * HOME, axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [10, 1000])
def test_probabilities_of_separated_classes_are_bounded_by_the_number_of_graphs(n, n_classes):
    """All n graphs are right with the margin 2: the next is expected to be wrong once in n + 2 times."""
    classes = np.arange(n) % n_classes
    decisions = 2.0 * np.eye(n_classes)[classes] - 1 + (n_classes > 2) * classes[:, None]
    found = calibrate(decisions if n_classes > 2 else decisions[:, 1:], classes)
    wrong = 1 - found.probabilities(decisions if n_classes > 2 else decisions[:, 1:]).max(axis=1)
    assert wrong == pytest.approx(1 / (n + 2), rel=1e-3)


def test_probabilities_have_the_argmax_of_decisions():
    rng = np.random.default_rng(0)
    found = Calibration(np.array([3.0]), 4.0)
    near = rng.uniform(0, 1, size=400)
    chances = found.probabilities(HOME, near)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.array_equal(chances.argmax(axis=1), HOME.argmax(axis=1))
    assert (found.probabilities(HOME, near / 2).max(axis=1) <= chances.max(axis=1)).all()


def test_classes_left_out_lower_the_confidence_far_away():
    """At home decisions are right; about left-out classes they are as sure, and the similarity is lower."""
    rng = np.random.default_rng(0)
    home, left_out = 2 * np.eye(3)[CLASSES], 2 * np.eye(3)[(CLASSES + 1) % 3]
    home += 0.3 * rng.normal(size=home.shape)
    near, far = rng.uniform(0.7, 1.0, size=400), rng.uniform(0.0, 0.3, size=400)
    found = calibrate(home, CLASSES, near, left_out, far)
    assert found.power > 0
    plain = calibrate(home, CLASSES).probabilities(left_out)
    assert found.probabilities(left_out, far).max(axis=1).mean() < 0.6 < plain.max(axis=1).mean()
    assert found.probabilities(home, near).max(axis=1).mean() > 0.9


def test_two_classes_and_labels():
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.5).astype(int)
    decisions = (2 * truth - 1 + rng.normal(size=300))[:, None]
    found = calibrate(decisions, truth).probabilities(decisions)
    assert np.array_equal(found.argmax(axis=1), (decisions[:, 0] > 0).astype(int))
    labels = np.column_stack([truth, np.full(300, np.nan), np.ones(300)])
    labels[:3, 1] = 1
    several = calibrate_labels(np.repeat(decisions, 3, axis=1), labels)
    np.testing.assert_allclose(several.probabilities(np.repeat(decisions, 3, axis=1))[:, 0], found[:, 1])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_are_calibrated(n_classes):
    """Means of the largest probability and of hits are close on new graphs."""
    data = pk.datasets.make_molecules(300, random_state=0)
    graphs, is_large = data.graphs, data.graphs.graph_sizes > np.median(data.graphs.graph_sizes)
    classes = data.target if n_classes == 2 else data.target + 2 * is_large
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), random_state=0)
    model.fit(graphs[:200], classes[:200])
    chances = model.predict_proba(graphs[200:])
    hits = chances.argmax(axis=1) == classes[200:]
    assert chances.max(axis=1).mean() == pytest.approx(hits.mean(), abs=0.12)
    assert np.array_equal(chances.argmax(axis=1), model.predict(graphs[200:]))
    assert (model.index_ is None) == (model.calibration_.power == 0)


def test_a_label_that_no_graph_has_is_as_rare_as_the_rule_of_succession_says():
    decisions, labels = np.full((98, 1), -1.0), np.zeros((98, 1))
    assert calibrate_labels(decisions, labels).probabilities(decisions)[0, 0] == pytest.approx(0.01, rel=1e-3)
