"""Folds and seeds."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import propkernels as pk
from propkernels.models.folds import choosing_folds, draw_seeds, held_out_parts

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


@pytest.mark.parametrize("several", [False, True])
def test_folds_of_numbers_and_of_several_labels_are_as_many_as_asked_for(several):
    """Not limited by the number of graphs in a range of numbers, or with as many labels."""
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    labels = np.random.default_rng(0).integers(0, 2, (30, 4))
    model = pk.PropagationClassifier if several else pk.PropagationRegressor
    fixed = {"kernel": "labels", "C": 1.0, "normalize": False, "random_state": 0}
    target = labels if several else graphs.graph_sizes
    parts = held_out_parts(target.astype(float), 10, None, draw_seeds(0, 1)[0].inner)
    assert len(parts) == 10
    by_number = model(cv=10, **fixed).fit(graphs, target)
    given = [(np.setdiff1d(np.arange(30), part), part) for part in parts]
    np.testing.assert_array_equal(by_number.held_out_, model(cv=given, **fixed).fit(graphs, target).held_out_)


def test_a_missing_group_is_refused():
    graphs = pk.datasets.make_molecules(4, random_state=0).graphs
    for gap in (None, np.nan):
        with pytest.raises(ValueError, match="graph 1 has no group"):
            pk.PropagationRegressor().fit(
                graphs, range(4), groups=["a", gap, "b", "b"] if gap is None else [1, gap, 2, 2]
            )
