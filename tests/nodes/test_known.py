"""Labeled nodes: targets with gaps, and node numbers."""

import numpy as np
import pytest

from propkernels.nodes.known import KnownNodes, node_numbers


@pytest.mark.parametrize(
    ("y", "nodes"),
    [
        ([0, -1, 2], [0, 2]),
        ([0.5, np.nan, 2.0], [0, 2]),
        (["a", None, "b"], [0, 2]),
        (np.ma.array([4, 5, 6], mask=[0, 1, 0]), [0, 2]),
        ([[0, 1], [np.nan, np.nan], [1, np.nan]], [0, 2]),
    ],
)
def test_gaps_are_left_out(y, nodes):
    assert KnownNodes.of(y, None, 3).nodes.tolist() == nodes


@pytest.mark.parametrize(
    "y",
    [
        [[0, 1], [-1, -1], [1, -1]],
        np.array([[0, 1], [None, None], [1, None]], dtype=object),
        np.ma.array([[0, 1], [5, 5], [1, 5]], mask=[[0, 0], [1, 1], [0, 1]]),
    ],
)
def test_single_labels_may_be_missing(y):
    known = KnownNodes.of(y, None, 3)
    assert known.nodes.tolist() == [0, 2]
    np.testing.assert_array_equal(known.target, [[0, 1], [1, np.nan]])


def test_minus_one_may_be_a_number():
    assert KnownNodes.of([1, -1, 2], None, 3, integers_may_miss=False).target.tolist() == [1, -1, 2]


def test_weights_follow_the_entries_of_y():
    known = KnownNodes.of(["a", None, "b"], [7, 3, 5], 9)
    assert known.nodes.tolist() == [5, 7]
    assert known.target.tolist() == ["b", "a"]
    assert known.weights([1.0, 2.0, 3.0], 9).tolist() == [3.0, 1.0]
    assert known.weights(None, 9) is None


def test_a_mask_or_numbers_name_nodes():
    assert node_numbers(np.array([True, False, True]), 3, "nodes").tolist() == [0, 2]
    assert node_numbers([2, 0], 3, "nodes").tolist() == [2, 0]


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: KnownNodes.of([["a", "b"], ["c", "d"]], None, 2), ValueError, "must be numbers or missing"),
        (lambda: KnownNodes.of([1, 0, 1], [4, 2, 4], 9), ValueError, "node 4 twice: give one target per"),
        (lambda: KnownNodes.of(["a"], [7], 9).weights([], 9), ValueError, "give one per entry of y"),
        (lambda: node_numbers(np.array([True]), 3, "nodes"), ValueError, "nodes is a mask of shape"),
        (lambda: node_numbers([3], 3, "nodes"), ValueError, "outside 0..2"),
        (lambda: node_numbers([0.5], 3, "nodes"), TypeError, "a sequence of node numbers"),
    ],
)
def test_other_nodes_and_targets_are_refused(call, error, word):
    with pytest.raises(error, match=word):
        call()
