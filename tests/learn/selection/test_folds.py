"""Folds and seeds."""

import numpy as np
import pytest

from propkernels.learn.selection.folds import check_target, draw_seeds


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
        ([0.5, 1.5, 2.5], "one class label per graph, got a continuous target"),
        ([[0, 1], [1, 0], [1, 1]], "one class label per graph, got a multilabel-indicator target"),
        ([4, 4, 4], r"at least two classes, got only \[4\]"),
    ],
)
def test_targets_that_are_not_classes(target, message):
    with pytest.raises(ValueError, match=message):
        check_target(target, 3)
