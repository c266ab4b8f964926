import numpy as np
import pytest

import propkernels as pk
from propkernels.learn.selection.folds import Fold, draw_folds
from propkernels.learn.selection.kernels_by_t import compute_stack
from reproduction.protocols.choice import race
from reproduction.protocols.nested import seeds_of
from reproduction.protocols.stack_choice import choose


@pytest.mark.parametrize("seed", range(3))
def test_the_race_ends_as_the_whole_search(seed):
    """Where nobody lies far behind, nobody is left; and the far ones would not have won."""
    data = pk.datasets.make_molecules(80, random_state=seed)
    target = np.unique(data.target, return_inverse=True)[1]
    stack = compute_stack(pk.PropagationKernel(t_max=3, random_state=seed), data.graphs, None)
    for fold in draw_folds(target, 3, 5, seeds_of(seed)):
        expected = choose(stack, target, fold, [0.1, 1.0, 10.0, 100.0])
        assert race(stack, target, fold, [0.1, 1.0, 10.0, 100.0]) == tuple(expected)


def test_machines_that_need_no_larger_cost():
    """With folds of different sizes and separable classes, every C from the first on is the same."""
    target = np.repeat([0, 1], [23, 24])
    kernel = 2.0 * np.equal.outer(target, target) + np.eye(47)
    fold = draw_folds(target, 3, 5, seeds_of(0))[0]
    assert race({"a": kernel, "b": kernel}, target, fold, [100.0, 1000.0, 1e4]) == ("a", 100.0)


def test_one_candidate_is_chosen_unseen():
    fold = Fold(np.arange(4), np.arange(0), ((np.arange(2), np.arange(2, 4)),))
    assert race({"only": np.full((4, 4), np.nan)}, np.array([0, 1, 0, 1]), fold, [1.0]) == ("only", 1.0)


def test_a_training_part_of_one_class():
    target = np.array([0, 0, 0, 0, 1, 1])
    fold = Fold(np.arange(6), np.arange(0), ((np.array([0, 1, 2]), np.array([3, 4, 5])),) * 2)
    assert race({"a": np.eye(6), "b": np.eye(6)}, target, fold, [1.0, 10.0]) == ("a", 1.0)
