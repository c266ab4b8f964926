"""Choosing on the training part, and testing the choice."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import propkernels as pk
from reproduction.protocols.selection import SEED, choose, seeds_of, share_correct, stratified_folds

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
TARGET = np.arange(40) % 2
FOLD = stratified_folds(TARGET, seeds_of(0), 4)[0]
GOOD = np.where(TARGET[:, None] == TARGET[None, :], 1.0, 0.0) + np.eye(40)
USELESS = np.eye(40)


def make_problem(n_classes=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    target = np.arange(60) % n_classes
    features = rng.normal(size=(60, 5)) * noise + 3 * np.eye(5)[target]
    return features @ features.T * 40, target


def naive_share(kernel, target, train, test, cost):
    """The definition: an SVM on a slice of the kernel, divided by its mean diagonal."""
    scale = kernel[train, train].mean()
    machine = SVC(kernel="precomputed", C=cost).fit(kernel[np.ix_(train, train)] / scale, target[train])
    return np.mean(machine.predict(kernel[np.ix_(test, train)] / scale) == target[test])


def naive_choice(kernels, target, inner, costs):
    """Every candidate on every fold; the first of the best."""
    mistakes = {
        (name, cost): sum(
            round((1 - naive_share(kernel, target, fit, check, cost)) * len(check)) for fit, check in inner
        )
        for name, kernel in kernels.items()
        for cost in costs
    }
    return min(mistakes, key=mistakes.get)


def test_folds_are_those_of_scikit_learn():
    seeds = seeds_of(3)
    outer = StratifiedKFold(4, shuffle=True, random_state=seeds.outer)
    inner = StratifiedKFold(5, shuffle=True, random_state=seeds.inner)
    splits = outer.split(TARGET, TARGET)
    for fold, (train, test) in zip(stratified_folds(TARGET, seeds, 4), splits, strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)
        for (fit, check), (a, b) in zip(fold.inner, inner.split(train, TARGET[train]), strict=True):
            np.testing.assert_array_equal(fit, train[a])
            np.testing.assert_array_equal(check, train[b])


def test_repeats_have_the_seeds_of_evaluate():
    from propkernels.models.folds import draw_seeds

    assert [seeds_of(repeat) for repeat in range(3)] == draw_seeds(SEED, 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_choice_is_that_of_all_candidates(seed):
    data = pk.datasets.make_molecules(60, random_state=seed)
    target = np.unique(data.target, return_inverse=True)[1]
    stack = pk.PropagationKernel(t_max=3, random_state=seed).fit_transform_cumulative(data.graphs)
    kernels = dict(enumerate(stack))
    for fold in stratified_folds(target, seeds_of(seed), 3):
        expected = naive_choice(kernels, target, fold.inner, COSTS[1:5])
        assert choose(kernels, target, fold.inner, COSTS[1:5]) == expected


def test_ties_go_to_the_first_kernel_then_to_the_smaller_cost():
    kernels = {"useless": USELESS, "good": GOOD, "as good": GOOD}
    assert choose(kernels, TARGET, FOLD.inner, (1.0, 10.0)) == ("good", 1.0)


def test_one_candidate_is_chosen_unseen():
    assert choose({3: np.full((40, 40), np.nan)}, TARGET, FOLD.inner, (5.0,)) == (3, 5.0)


def test_the_test_part_is_not_looked_at():
    poisoned, target = GOOD.copy(), TARGET.copy()
    poisoned[FOLD.test, :], poisoned[:, FOLD.test] = np.nan, np.nan
    target[FOLD.test] = 1 - target[FOLD.test]
    assert choose({0: USELESS, 1: poisoned}, target, FOLD.inner, (1.0, 10.0)) == (1, 1.0)


def test_a_training_part_of_one_class():
    target = np.array([0, 0, 0, 0, 1, 1])
    inner = ((np.array([0, 1, 2]), np.array([3, 4, 5])),) * 2
    assert choose({"a": np.eye(6), "b": np.eye(6)}, target, inner, [1.0, 10.0]) == ("a", 1.0)


@pytest.mark.parametrize(("n_classes", "noise", "seed"), [(2, 1.0, 0), (2, 3.0, 1), (4, 1.0, 2), (4, 0.2, 3)])
def test_the_share_is_that_of_an_svm_by_itself(n_classes, noise, seed):
    train, test = np.arange(40), np.arange(40, 60)
    kernel, target = make_problem(n_classes, noise, seed)
    before = kernel.copy()
    for cost in COSTS:
        share = share_correct(kernel, target, train, test, cost)
        assert share == naive_share(kernel, target, train, test, cost)
        assert share == share_correct(kernel * 2.0**12, target, train, test, cost)
    np.testing.assert_array_equal(kernel, before)


def test_one_class_needs_no_machine():
    kernel, target = make_problem()
    assert share_correct(kernel, target, np.flatnonzero(target == 1), np.arange(60), 1.0) == 0.5


def test_a_kernel_of_zeros_is_not_an_error():
    share = share_correct(np.zeros((10, 10)), np.arange(10) % 2, np.arange(8), np.arange(8, 10), 1.0)
    assert share == 0.5
