"""What classes say about their own state."""

from typing import NamedTuple

import numpy as np
import pytest

from propkernels._utils.stored import Indices, Offsets, is_array, is_whole, length_of, not_negative, require


class Cut(NamedTuple):
    ptr: np.ndarray
    codes: np.ndarray
    values: np.ndarray
    n_graphs: int


CUT = Cut(np.array([0, 2, 3]), np.arange(2), np.ones((3, 7)), 4)


@pytest.mark.parametrize(
    ("path", "length"),
    [("values", 3), ("n_graphs", 4), ("values.shape.1", 7), ("values.T", 7), ("ptr.size", 3)],
)
def test_lengths(path, length):
    assert length_of(CUT, path) == length


def test_offsets_that_fit_are_taken():
    Offsets("values", pieces="codes").check(CUT, CUT.ptr, "Cut.ptr")
    Offsets("values.shape.1").check(CUT, np.array([0, 7]), "Cut.ptr")


@pytest.mark.parametrize(
    "ptr", [[0, 2**63 - 1, -2, 3], [0, 2, 2], [1, 2, 3], [0, 3, 2, 3], [0, 3], [0, 1.5, 3]]
)
def test_offsets_that_lead_elsewhere_are_refused(ptr):
    with pytest.raises((ValueError, TypeError), match=r"Cut\.ptr"):
        Offsets("values", pieces="codes").check(CUT, np.array(ptr), "Cut.ptr")


@pytest.mark.parametrize("places", [[0, 4], [-1], [2**63 - 1], [0.5]])
def test_indices_that_lead_elsewhere_are_refused(places):
    Indices("n_graphs").check(CUT, np.array([0, 3]), "Cut.places")
    with pytest.raises((ValueError, TypeError), match=r"Cut\.places"):
        Indices("n_graphs").check(CUT, np.array(places), "Cut.places")


def test_requirements():
    require(True, "never said")
    with pytest.raises(ValueError, match="every node needs a key"):
        require([], "every node needs a key")


def test_kinds_of_values():
    assert is_array(np.ones(2), "f", 1)
    assert not any(is_array(value, "f", 1) for value in ([1.0], np.ones((1, 1)), np.ones(1, dtype=int)))
    assert is_whole(3, 3)
    assert not any(is_whole(value, 0) for value in (True, -1, 1.0, np.int64(1), None))
    assert not_negative(np.array([0.0, 1.0]))
    assert not any(not_negative(np.array([value])) for value in (-1.0, np.nan, np.inf))
