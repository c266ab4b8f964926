"""Indexing: positions, masks, slices and what is refused."""

import numpy as np
import pytest

from propkernels.graphs.index import as_positions, ranges


@pytest.mark.parametrize("kind", [int, np.int8, np.uint16, np.int64, np.array])
def test_integers_of_every_kind_are_one_position(kind):
    position = as_positions(kind(2), 5)
    assert position == 2
    assert type(position) is int


def test_negative_integers_count_from_the_end():
    assert as_positions(-1, 5) == 4
    assert as_positions(np.int8(-5), 5) == 0
    assert as_positions([-1, 0, -2], 5).tolist() == [4, 0, 3]


@pytest.mark.parametrize(
    "key", [slice(None), slice(1, 4), slice(None, None, -2), slice(9, 20), slice(-2, None)]
)
def test_slices_are_those_of_lists(key):
    assert as_positions(key, 5).tolist() == list(range(5))[key]


@pytest.mark.parametrize("key", [[3, 1, 1], (3, 1, 1), np.array([3, 1, 1], dtype=np.uint8), range(3, 0, -1)])
def test_lists_of_positions(key):
    positions = as_positions(key, 5)
    assert positions.tolist() == list(key)
    assert positions.dtype == np.int64


def test_boolean_masks():
    assert as_positions([True, False, True], 3).tolist() == [0, 2]
    assert as_positions(np.array([False] * 3), 3).tolist() == []


def test_nothing_is_a_list_of_positions_too():
    assert as_positions([], 3).tolist() == []
    assert as_positions([], 3).dtype == np.int64


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (5, "graph 5 is out of range: there are 5 graphs"),
        (-6, "graph -6 is out of range: there are 5 graphs"),
        ([0, 7], "graph 7 is out of range: there are 5 graphs"),
        (np.array([0, -6]), "graph -6 is out of range: there are 5 graphs"),
        ([True, False], "a boolean mask of length 2 cannot index 5 graphs"),
        ([0.0, 1.0], "graphs are indexed by whole numbers, not by float64 values"),
        (["a"], "graphs are indexed by whole numbers, not by <U1 values"),
        ("a", "graphs are indexed by an int, slice, list or mask, not by 'a'"),
        (1.0, "graphs are indexed by an int, slice, list or mask, not by 1.0"),
        (True, "graphs are indexed by an int, slice, list or mask, not by True"),
        (None, "graphs are indexed by an int, slice, list or mask, not by None"),
        ([[0, 1]], "graphs are indexed by an int, slice, list or mask, not by [[0, 1]]"),
    ],
)
def test_refused(key, message):
    with pytest.raises(IndexError) as error:
        as_positions(key, 5)
    assert str(error.value) == message


def test_ranges():
    assert ranges(np.array([4, 0, 9]), np.array([2, 0, 3])).tolist() == [4, 5, 9, 10, 11]
    assert ranges(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []
