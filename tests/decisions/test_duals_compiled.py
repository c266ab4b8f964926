"""Loops over pairs of classes agree with numpy, pair by pair."""

from itertools import combinations

import numpy as np
import pytest

from propkernels.decisions.duals_compiled import count_votes, place_duals


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
    placed = np.zeros_like(expected)
    place_duals(support.astype(np.int32), ends, duals, placed)
    assert (placed == expected).all()


def test_votes_of_pairs_are_counted_and_nan_has_none():
    decisions = np.array([[1.0, -1.0, 0.0], [np.nan, 2.0, 3.0]])
    votes = np.zeros((2, 3), dtype=np.int64)
    count_votes(decisions, votes)
    assert votes.tolist() == [[1, 0, 2], [1, 1, 0]]
