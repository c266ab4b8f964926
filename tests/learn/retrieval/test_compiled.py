"""Postings: the example in the module, and moving them."""

import numpy as np
import pytest

from propkernels.learn.retrieval.postings_compiled import count_postings, move_postings

pytestmark = pytest.mark.compiled
BIN_PTR, GRAPHS, COUNTS = np.array([0, 2, 4]), np.array([0, 1, 1, 2]), np.array([2.0, 1.0, 3.0, 1.0])


def test_postings_move_to_their_targets():
    targets, number = np.array([1, 1]), np.array([0, -1, 1])
    lengths = np.zeros(2, dtype=np.int64)
    count_postings(BIN_PTR, GRAPHS, targets, number, lengths)
    assert lengths.tolist() == [0, 2]
    graphs, counts, filled = np.empty(2, dtype=np.int64), np.empty(2), np.zeros(2, dtype=np.int64)
    move_postings(BIN_PTR, GRAPHS, COUNTS, targets, number, filled, graphs, counts)
    assert graphs.tolist() == [0, 1]
    assert counts.tolist() == [2.0, 1.0]
    assert filled.tolist() == [0, 2]
