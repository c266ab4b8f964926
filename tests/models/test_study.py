"""Protocols of cross-validation: outer and inner splits."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from propkernels.models.folds import check_groups, draw_seeds
from propkernels.models.study import Protocol

SEEDS = draw_seeds(0, 1)[0]
TARGET = np.arange(60) % 2
GROUPS = np.arange(60) // 4
UNEVEN = np.repeat([0, 1], [30, 20])
NUMBERS = np.linspace(0, 1, 60)


def split(target, inner_cv=5):
    return Protocol(5, inner_cv, None, True).folds(target, SEEDS, True)


def test_every_graph_is_tested_once():
    folds = split(UNEVEN)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(50))


def test_train_and_test_are_apart():
    for fold in split(UNEVEN):
        assert not set(fold.train) & set(fold.test)
        assert len(fold.train) + len(fold.test) == 50


def test_folds_are_stratified():
    for fold in split(UNEVEN):
        assert np.bincount(UNEVEN[fold.test]).tolist() == [6, 4]


def test_inner_folds_stay_in_the_training_part():
    for fold in split(UNEVEN, 3):
        assert len(fold.inner) == 3
        for fit, check in fold.inner:
            assert sorted([*fit, *check]) == sorted(fold.train)


def test_small_classes_are_allowed_without_a_warning():
    target = np.array([0] * 10 + [1] * 2)
    assert len(split(target)) == 5


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("cv", [3, "loo"])
def test_groups_are_never_split(cv, is_classification):
    protocol = Protocol(cv, 4, GROUPS, is_classification)
    folds = protocol.folds(TARGET if is_classification else NUMBERS, SEEDS, True)
    assert len(folds) == (15 if cv == "loo" else 3)
    for fold in folds:
        assert not set(GROUPS[fold.train]) & set(GROUPS[fold.test])
        for fit, check in fold.inner:
            assert not set(GROUPS[fit]) & set(GROUPS[check])
            assert set(fit) | set(check) == set(fold.train)


def test_leave_one_out():
    folds = Protocol("loo", 5, None, True).folds(TARGET, SEEDS, True)
    assert [fold.test.tolist() for fold in folds] == [[i] for i in range(60)]
    assert all(len(fold.inner) == 5 for fold in folds)


def test_leave_one_out_inside():
    fold = Protocol(5, "loo", None, False).folds(NUMBERS, SEEDS, True)[0]
    assert [check.tolist() for _, check in fold.inner] == [[i] for i in fold.train]


def test_no_inner_folds_without_a_choice():
    assert all(fold.inner == () for fold in Protocol(5, 5, None, True).folds(TARGET, SEEDS, False))


def test_fewer_inner_folds_where_there_are_fewer_groups():
    groups = np.repeat([0, 1, 2], 20)
    assert len(Protocol(3, 5, groups, True).folds(TARGET, SEEDS, True)[0].inner) == 2


@pytest.mark.parametrize(
    ("protocol", "name"),
    [
        (Protocol(10, 5, None, True), "stratified 10-fold"),
        (Protocol(10, 5, None, False), "10-fold"),
        (Protocol(3, 5, GROUPS, True), "stratified 3-fold by groups"),
        (Protocol("loo", 5, None, True), "leave-one-out"),
        (Protocol("loo", 5, GROUPS, True), "leave-one-group-out"),
    ],
)
def test_names(protocol, name):
    assert protocol.name == name


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (Protocol(31, 5, None, True), "cv must be at most 30, the size of the largest class; got 31"),
        (Protocol(61, 5, None, False), "cv must be at most 60, the number of graphs; got 61"),
        (Protocol(16, 5, GROUPS, True), "cv must be at most 15, the number of groups; got 16"),
    ],
)
def test_too_many_folds(protocol, message):
    with pytest.raises(ValueError, match=message):
        protocol.folds(TARGET if protocol.is_classification else NUMBERS, SEEDS, True)


def test_bad_groups():
    with pytest.raises(ValueError, match="one value for each of 3 graphs, got shape \\(2,\\)"):
        check_groups([1, 2], 3)
    with pytest.raises(ValueError, match="at least two groups, got only \\['a'\\]"):
        check_groups(["a"] * 3, 3)
    assert check_groups(["b", "a", "b"], 3).tolist() == [1, 0, 1]


def test_splitters_are_taken_outside_and_inside():
    fold = Protocol(KFold(3), KFold(2), None, True).folds(TARGET, SEEDS, True)[1]
    assert fold.test.tolist() == list(range(20, 40))
    assert fold.inner[0][1].tolist() == [*range(20)]
