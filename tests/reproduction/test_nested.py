"""The nested protocol beside its definition: every candidate on every inner fold."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import propkernels as pk
from reproduction.protocols.nested import (
    choose,
    cross_validate,
    folds_of,
    leave_one_out,
    mistakes,
    seeds_of,
    unit,
)

TARGET = np.arange(40) % 2
FOLD = folds_of(TARGET, 0, 4)[0]
GOOD = np.where(TARGET[:, None] == TARGET[None, :], 1.0, 0.0) + np.eye(40)


def naive_mistakes(kernel, target, train, test, cost):
    scale = kernel[train, train].mean()
    machine = SVC(kernel="precomputed", C=cost).fit(kernel[np.ix_(train, train)] / scale, target[train])
    return np.sum(machine.predict(kernel[np.ix_(test, train)] / scale) != target[test])


def test_folds_are_those_of_scikit_learn():
    seeds = seeds_of(3)
    inner = StratifiedKFold(5, shuffle=True, random_state=seeds.inner)
    splits = StratifiedKFold(4, shuffle=True, random_state=seeds.outer).split(TARGET, TARGET)
    for fold, (train, test) in zip(folds_of(TARGET, 3, 4), splits, strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)
        for (fit, check), (a, b) in zip(fold.inner, inner.split(train, TARGET[train]), strict=True):
            np.testing.assert_array_equal(fit, train[a])
            np.testing.assert_array_equal(check, train[b])


def test_versions_of_a_picture_stay_together():
    target, groups = np.tile(np.repeat([0, 1], 10), 2), np.tile(np.arange(20), 2)
    for fold in folds_of(target, 0, 5, groups):
        for train, test in [(fold.train, fold.test), *fold.inner]:
            assert not set(groups[train]) & set(groups[test])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_choice_is_that_of_all_candidates(seed):
    data = pk.datasets.make_molecules(60, random_state=seed)
    target = np.unique(data.target, return_inverse=True)[1]
    stack = pk.PropagationKernel(t_max=3, random_state=seed).fit_transform_cumulative(data.graphs)
    kernels, costs = {str(t): matrix for t, matrix in enumerate(stack)}, (0.1, 1.0, 10.0, 100.0)
    for fold in folds_of(target, seed, 3):
        totals = {
            (name, cost): sum(naive_mistakes(kernel, target, *split, cost) for split in fold.inner)
            for name, kernel in kernels.items()
            for cost in costs
        }
        assert choose(kernels, target, fold.inner, costs) == min(totals, key=totals.get)


def test_the_test_part_is_not_looked_at_and_ties_go_to_the_first():
    poisoned, target = GOOD.copy(), TARGET.copy()
    poisoned[FOLD.test, :], poisoned[:, FOLD.test] = np.nan, np.nan
    target[FOLD.test] = 1 - target[FOLD.test]
    kernels = {"useless": np.eye(40), "good": poisoned, "as good": poisoned}
    assert choose(kernels, target, FOLD.inner, (1.0, 10.0)) == ("good", 1.0)
    assert choose({"3": np.full((40, 40), np.nan)}, target, FOLD.inner, (5.0,)) == ("3", 5.0)


def test_one_class_and_a_kernel_of_zeros_are_no_errors():
    assert mistakes(GOOD, TARGET, np.arange(0, 40, 2), np.arange(40), 1.0) == 20
    assert mistakes(np.zeros((40, 40)), TARGET, np.arange(8), np.arange(8, 10), 1.0) == 1


def test_a_choice_is_made_for_each_fold_or_once():
    kernels = {"useless": np.eye(40), "good": GOOD}
    folds = folds_of(TARGET, 0, 4)
    each = cross_validate(kernels, TARGET, folds, (1.0, 10.0), n_jobs=2)
    assert each == {"accuracy": 100.0, "folds": [100.0] * 4, "chosen": [["good", 1.0]] * 4}
    assert cross_validate(kernels, TARGET, folds, (1.0, 10.0), once=FOLD.inner) == each


def test_the_normalized_kernel():
    kernel = np.array([[4.0, 2.0, 0.0], [2.0, 9.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(unit(kernel), [[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 0]])


def test_leave_one_out_equals_the_definition():
    rng, target = np.random.default_rng(1), np.repeat([0, 1, 2], 5)
    noise = [rng.normal(size=(15, 15)) for _ in range(3)]
    kernels = {str(i): np.equal.outer(target, target) + part + part.T for i, part in enumerate(noise)}

    def is_hit(name, graph, known):
        return target[max(known, key=lambda other: kernels[name][graph, other])] == target[graph]

    hits = []
    for left_out in range(15):
        known = [i for i in range(15) if i != left_out]
        scores = {name: sum(is_hit(name, i, [j for j in known if j != i]) for i in known) for name in kernels}
        hits.append(100.0 * is_hit(max(scores, key=scores.get), left_out, known))
    assert leave_one_out(kernels, target)["folds"] == hits
