"""Nested cross-validation."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models.cross_validation import evaluate
from propkernels.models.kernel_sources import compute_stack, redrawn
from reproduction.protocols.cross_validation import (
    best_cost_accuracy,
    cross_validate,
    cross_validate_groups,
    grouped_folds,
    unit,
)
from reproduction.protocols.selection import SEED, seeds_of


@pytest.mark.slow
def test_it_is_the_protocol_of_evaluate():
    """Folds, choices and accuracies are those of the public function."""
    data = pk.datasets.make_molecules(60, random_state=0)
    kernel = pk.PropagationKernel(t_max=2)
    reference = evaluate(data, kernel=kernel, C=[1, 10], random_state=SEED, repeats=2)
    target = np.unique(data.target, return_inverse=True)[1]
    for repeat in range(2):
        stack = compute_stack(redrawn(kernel, seeds_of(repeat).kernel), data.graphs, None)
        computed = cross_validate({str(t): k for t, k in stack.items()}, target, repeat, [1.0, 10.0])
        assert computed["folds"] == pytest.approx((100 * reference.scores[repeat]).tolist(), abs=1e-4)
        assert computed["accuracy"] == pytest.approx(100 * reference.scores[repeat].mean(), abs=1e-4)


@pytest.mark.slow
def test_threads_change_nothing():
    target = np.repeat([0, 1], 20)
    kernel = np.random.default_rng(0).normal(size=(40, 40))
    candidates = {"a": kernel @ kernel.T, "b": np.eye(40)}
    one, two = (cross_validate(candidates, target, 0, [1.0, 10.0], n_jobs) for n_jobs in (1, 2))
    assert one == two


def test_unit_leaves_its_argument_alone():
    kernel = np.array([[4.0, 2.0], [2.0, 9.0]])
    assert np.allclose(unit(kernel), [[1, 1 / 3], [1 / 3, 1]])
    assert kernel[0, 0] == 4


def test_the_cost_is_learned_before_the_folds():
    target = np.repeat([0, 1], 20)
    kernel = np.equal.outer(target, target) + np.eye(40)
    assert best_cost_accuracy(kernel, target, [1.0, 10.0], None) == {"accuracy": 100.0, "C": 1.0}


def test_versions_of_a_picture_stay_together():
    target, groups = np.tile(np.repeat([0, 1], 10), 2), np.tile(np.arange(20), 2)
    for train, test in grouped_folds(target, groups, np.arange(40), 5, 0):
        assert not set(groups[train]) & set(groups[test])
        assert len(test) == 8


@pytest.mark.slow
def test_choosing_once_gives_every_fold_the_same_choice():
    target, groups = np.tile(np.repeat([0, 1], 20), 2), np.tile(np.arange(40), 2)
    good = np.equal.outer(target, target) + np.eye(80)
    candidates = {"useless": np.eye(80), "good": good}
    once = cross_validate_groups(candidates, target, groups, 0, [1.0, 10.0], choose_once=True)
    each = cross_validate_groups(candidates, target, groups, 0, [1.0, 10.0])
    assert once["chosen"] == each["chosen"] == [["good", 1.0]] * 10
    assert once["folds"] == each["folds"] == [100.0] * 10
