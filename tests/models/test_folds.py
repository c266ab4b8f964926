"""Folds and seeds."""

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from propkernels.models.folds import choosing_folds, draw_seeds

TARGET = np.arange(12) % 2
GROUPS = np.arange(12) // 4


def held_out(folds):
    return [test.tolist() for _, test in folds]


def test_seeds_of_more_repeats_begin_alike():
    assert draw_seeds(7, 5)[:2] == draw_seeds(7, 2)
    assert len(set(draw_seeds(7, 5))) == 5


def test_a_number_gives_shuffled_stratified_folds():
    expected = StratifiedKFold(3, shuffle=True, random_state=5).split(TARGET, TARGET)
    assert held_out(choosing_folds(TARGET, 3, seed=5)) == held_out(expected)
    assert choosing_folds(TARGET, 3)[0][0].tolist() == choosing_folds(TARGET, 3, seed=0)[0][0].tolist()


def test_a_splitter_is_taken_as_it_is():
    assert held_out(choosing_folds(TARGET, KFold(3))) == held_out(KFold(3).split(TARGET))
    expected = GroupKFold(3).split(TARGET, TARGET, GROUPS)
    assert held_out(choosing_folds(TARGET, GroupKFold(3), GROUPS)) == held_out(expected)


def test_pairs_are_taken_as_they_are():
    pairs = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    assert held_out(choosing_folds(TARGET, iter(pairs))) == held_out(pairs)


def test_leave_one_out_leaves_out_a_graph_or_a_group():
    assert held_out(choosing_folds(TARGET, "loo")) == [[i] for i in range(12)]
    assert held_out(choosing_folds(TARGET, "loo", GROUPS)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_at_most_as_many_folds_as_the_largest_class_has_graphs():
    assert len(choosing_folds(TARGET, 50)) == 6
    assert choosing_folds(np.arange(3), 5) == ()
