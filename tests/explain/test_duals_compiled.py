"""Short loops over decisions and classes agree with numpy."""

from itertools import combinations

import numpy as np
import pytest

from propkernels.explain.duals_compiled import (
    add_intercepts,
    count_bounded,
    find_winners,
    place_duals,
    rank_classes,
)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_coefficients_of_pairs_lie_in_the_rows_of_their_graphs(n_classes):
    rng = np.random.default_rng(n_classes)
    sizes = rng.integers(0, 6, n_classes)
    ends, support = np.concatenate([[0], np.cumsum(sizes)]), rng.permutation(40)[: sizes.sum()]
    duals = rng.normal(size=(n_classes - 1, len(support)))
    expected = np.zeros((40, n_classes * (n_classes - 1) // 2))
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        for label, row in ((i, j - 1), (j, i)):
            of_class = slice(ends[label], ends[label + 1])
            expected[support[of_class], p] = duals[row, of_class]
    placed = np.full_like(expected, 9.0)
    place_duals(support.astype(np.int32), sizes.astype(np.int32), duals, placed)
    assert (placed == expected).all()


def test_the_class_with_the_most_votes_wins_the_first_of_equals_and_nan_has_no_vote():
    decisions = np.array([[1.0, -1.0, 0.0], [np.nan, 2.0, 3.0], [1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
    winners = np.empty(4, dtype=np.int64)
    find_winners(decisions, np.empty(3, dtype=np.int64), winners)
    assert winners.tolist() == [2, 0, 0, 1]


def test_multipliers_at_their_bound_are_counted_once_per_graph():
    duals = np.array([[1.0, -2.0, 0.5, 0.0], [2.0, -2.0, 0.0, -1.9]])
    assert [count_bounded(duals, cost) for cost in (0.5, 1.95, 2.0, 2.1)] == [4, 2, 2, 0]


def test_classes_get_their_positions_among_those_that_occur():
    ranks, classes = np.full((2, 8), 9)
    numbers = np.empty(4)
    assert rank_classes(np.array([4, 1, 1, 7]), ranks, classes, numbers) == 3
    assert ranks.tolist() == [-1, 0, -1, -1, 1, -1, -1, 2]
    assert classes[:3].tolist() == [1, 4, 7]
    assert numbers.tolist() == [1.0, 0.0, 0.0, 2.0]


@pytest.mark.parametrize("value", [-1, 8])
def test_classes_out_of_range_are_refused(value):
    assert rank_classes(np.array([1, value]), *np.full((2, 8), 9), np.empty(2)) == -1


def test_intercepts_are_added_to_their_columns():
    decisions = np.arange(6.0).reshape(3, 2)
    add_intercepts(decisions, np.array([10.0, -1.0]))
    assert decisions.tolist() == [[10.0, 0.0], [12.0, 2.0], [14.0, 4.0]]
