"""Nested scores, learning curve and calibration."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.learnability import calibration_of, learning_of, reliability
from propkernels.auditing.target import Target


def study(target, classes=None, n=60):
    graphs = pk.datasets.make_molecules(n, random_state=0).graphs
    kernel = pk.PropagationKernel(base_kernel="intersection", t_max=2, normalize=True, random_state=0)
    kernels = list(kernel.fit_transform_cumulative(graphs))
    classes = np.arange(n) if classes is None else classes
    return learning_of(graphs, kernels, target, classes, 0, lambda what: None)


@pytest.mark.slow
def test_shuffled_targets_cannot_be_learned():
    """The nested score of noise is that of the majority, within its error."""
    values = np.random.default_rng(1).permutation(np.arange(60) % 2)
    found = study(Target(values, ("a", "b")))
    assert abs(found.scores[-1].mean - 0.5) < 0.2


@pytest.mark.slow
def test_classes_of_molecules_are_learned():
    data = pk.datasets.make_molecules(60, random_state=0)
    found = study(Target(data.target, ("a", "b")))
    assert found.scores[-1].mean > 0.75
    assert found.scores[0].name == "majority class"
    assert found.scores[0].mean == pytest.approx(np.bincount(data.target).max() / 60, abs=0.02)
    assert len(found.by_step) == 3
    sizes = [size for size, _, _ in found.curve]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 48
    assert found.curve[-1][1:] == (found.scores[-1].mean, found.scores[-1].error)
    assert (found.predictions == data.target).mean() == pytest.approx(found.scores[-1].mean)


@pytest.mark.slow
def test_graphs_with_a_duplicate_are_scored_apart():
    data = pk.datasets.make_molecules(60, random_state=0)
    classes = np.arange(60)
    classes[1] = classes[0]
    found = study(Target(data.target, ("a", "b")), classes)
    assert found.score_with_duplicate is not None or found.score_without is None


def test_reliability():
    sure = np.array([0.55, 0.55, 0.95, 0.95])
    found = reliability(sure, np.array([True, False, True, True]))
    assert found.counts == (2, 2)
    assert found.observed == (0.5, 1.0)
    assert found.error == pytest.approx(0.05)
    assert 0 < found.by_chance < 0.5


def test_intervals_hold_as_often_as_they_say():
    random = np.random.default_rng(0)
    target = Target(random.normal(size=2000), ())
    everyone = np.arange(2000)
    folds = [(everyone[:1000], everyone[1000:]), (everyone[1000:], everyone[:1000])]
    noise = target.columns + random.normal(size=(2000, 1))
    found = calibration_of([noise, noise], target, folds)
    np.testing.assert_allclose(found.observed, found.confidence, atol=0.03)
    assert found.error < 0.03
