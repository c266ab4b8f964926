"""Folds and seeds."""

import numpy as np
import pytest

from propkernels.learn.selection.folds import check_target, draw_folds, draw_seeds

TARGET = np.repeat([0, 1], [30, 20])
SEEDS = draw_seeds(0, 1)[0]


def test_every_graph_is_tested_once():
    folds = draw_folds(TARGET, 5, 5, SEEDS)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(50))


def test_train_and_test_are_apart():
    for fold in draw_folds(TARGET, 5, 5, SEEDS):
        assert not set(fold.train) & set(fold.test)
        assert len(fold.train) + len(fold.test) == 50


def test_folds_are_stratified():
    for fold in draw_folds(TARGET, 5, 5, SEEDS):
        assert np.bincount(TARGET[fold.test]).tolist() == [6, 4]


def test_inner_folds_stay_in_the_training_part():
    for fold in draw_folds(TARGET, 5, 3, SEEDS):
        assert len(fold.inner) == 3
        for fit, check in fold.inner:
            assert sorted([*fit, *check]) == sorted(fold.train)


def test_no_inner_folds_where_none_are_wanted():
    assert all(fold.inner == () for fold in draw_folds(TARGET, 5, 0, SEEDS))


def test_small_classes_are_allowed_without_a_warning():
    target = np.array([0] * 10 + [1] * 2)
    assert len(draw_folds(target, 5, 5, SEEDS)) == 5


def test_too_many_folds_are_refused():
    with pytest.raises(ValueError, match="n_folds must be at most 30, the size of the largest class; got 31"):
        draw_folds(TARGET, 31, 5, SEEDS)


def test_seeds_of_more_repeats_begin_alike():
    assert draw_seeds(7, 5)[:2] == draw_seeds(7, 2)
    assert len(set(draw_seeds(7, 5))) == 5


def test_classes_may_be_any_values():
    assert check_target(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert check_target(np.array([1.0, -1.0]), 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0, 1], "target has 2 values for 3 graphs"),
        (5, "target has 1 values for 3 graphs"),
        ([0.5, 1.5, 2.5], "one class label a graph, got a continuous target"),
        ([[0, 1], [1, 0], [1, 1]], "one class label a graph, got a multilabel-indicator target"),
        ([4, 4, 4], r"at least two classes, got only \[4\]"),
    ],
)
def test_targets_that_are_not_classes(target, message):
    with pytest.raises(ValueError, match=message):
        check_target(target, 3)
