"""The nested protocol beside its definition: every candidate on every inner fold, with scikit-learn's SVC."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import propkernels as pk
from reproduction.protocols import svm
from reproduction.protocols.nested import COSTS, cross_validate, folds_of, leave_one_out, seeds_of, unit
from reproduction.protocols.recipes import build
from reproduction.protocols.recipes import pk as propagation_kernel

TARGET = np.arange(40) % 2
TOLERANCE = 1e-9  # tight, so that no decision is within it
GOOD = np.where(TARGET[:, None] == TARGET[None, :], 1.0, 0.0) + np.eye(40)


def naive_wrong(kernel, target, train, test, cost):
    machine = SVC(kernel="precomputed", C=cost, tol=TOLERANCE).fit(
        kernel[np.ix_(train, train)], target[train]
    )
    return int(np.sum(machine.predict(kernel[np.ix_(test, train)]) != target[test]))


@pytest.fixture
def exact(monkeypatch):
    """Machines that do not stop early."""
    monkeypatch.setattr(svm, "TOLERANCE", TOLERANCE)
    monkeypatch.setattr(svm, "LEAST_STEPS", 1_000_000)


def without(fold, parts, number):
    return np.array([i for i in fold.train if parts[i] != number]), np.flatnonzero(parts == number)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["plain", "normalized"])
def test_the_choice_is_that_of_all_candidates(variant, exact):
    """C by five folds for each t_max, t_max by ten folds with that C, all on the training part."""
    data = pk.datasets.make_molecules(60, random_state=1)
    target = np.unique(data.target, return_inverse=True)[1]
    stack = build(propagation_kernel(), t_max=3, random_state=1).fit_transform_cumulative(data.graphs)
    kernels = {str(t): matrix for t, matrix in enumerate(stack)}
    found = cross_validate(kernels, target, folds_of(target, 1, 3), variant, n_jobs=2)["paper"]
    if variant == "normalized":
        kernels = {name: unit(kernel) for name, kernel in kernels.items()}
    for number, fold in enumerate(folds_of(target, 1, 3)):

        def wrong(name, cost, parts, n_parts, fold=fold):
            return sum(
                naive_wrong(kernels[name], target, *without(fold, parts, p), cost) for p in range(n_parts)
            )

        best = {
            name: min(COSTS["paper"][variant][:6], key=lambda c, n=name: wrong(n, c, fold.for_cost, 5))
            for name in kernels
        }
        name = min(kernels, key=lambda n: wrong(n, best[n], fold.for_kernel, 10))
        assert (found["kernel"][number], found["C"][number]) == (name, best[name])
        share = naive_wrong(kernels[name], target, fold.train, fold.test, best[name]) / len(fold.test)
        assert found["folds"][number] == pytest.approx(100 * (1 - share), abs=0.01)


def test_folds_are_those_of_scikit_learn():
    seeds = seeds_of(3)
    splits = StratifiedKFold(4, shuffle=True, random_state=seeds.outer).split(TARGET, TARGET)
    for fold, (train, test) in zip(folds_of(TARGET, 3, 4), splits, strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)
        for parts, n_parts in ((fold.for_cost, 5), (fold.for_kernel, 10)):
            inner = StratifiedKFold(n_parts, shuffle=True, random_state=seeds.inner).split(
                train, TARGET[train]
            )
            for number, (_, held_out) in enumerate(inner):
                np.testing.assert_array_equal(np.flatnonzero(parts == number), train[held_out])
            assert (parts[test] == -1).all()


def test_the_test_part_is_not_looked_at():
    fold = folds_of(TARGET, 0, 4)[0]
    poisoned = GOOD.copy()
    poisoned[fold.test, :], poisoned[:, fold.test] = 1e6, 1e6
    kernels = {"useless": np.eye(40), "good": GOOD}
    clean = cross_validate(kernels, TARGET, [fold], "plain")["paper"]
    found = cross_validate({**kernels, "good": poisoned}, TARGET, [fold], "plain")["paper"]
    assert (found["kernel"], found["C"]) == (clean["kernel"], clean["C"])


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
