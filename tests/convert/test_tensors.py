"""Tables of PyTorch Geometric as labels or attributes."""

import numpy as np
import pytest

from propkernels.convert.tensors import as_labels, is_one_hot, labels_or_attributes, to_numpy
from tests.convert.test_pyg import Tensor


def values(column):
    return [column.values[i] for i in column.ids]


def test_tensors_of_any_device_and_arrays():
    table = np.eye(2)
    for given in (Tensor(table), table, table.tolist()):
        np.testing.assert_array_equal(to_numpy(given), table)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([[1, 0], [0, 1]], True),
        ([[1.0, 0.0, 0.0]], True),
        ([[1], [1]], False),  # one column tells nothing
        ([[0, 0], [0, 1]], False),
        ([[2, -1], [0, 1]], False),
        (np.empty((0, 3)), False),
        ([0, 1], False),
    ],
)
def test_one_hot_rows(table, expected):
    assert is_one_hot(np.array(table)) is expected


def test_labels_of_rows():
    assert values(as_labels(np.array([[0, 1], [1, 0]]))) == [1, 0]
    assert values(as_labels(np.array([[7], [5], [7]]))) == [7, 5, 7]
    assert values(as_labels(np.array([[1, 2], [0, 4], [1, 2]]))) == [(1, 2), (0, 4), (1, 2)]


def test_the_meaning_of_a_table():
    whole, one_hot, real = np.array([[3], [4]]), np.eye(2), np.array([[0.5, 1.0], [2.0, 3.0]])
    assert values(labels_or_attributes(whole, "auto")[0]) == [3, 4]
    assert values(labels_or_attributes(one_hot, "auto")[0]) == [0, 1]
    labels, attributes = labels_or_attributes(real, "auto")
    assert labels is None
    np.testing.assert_array_equal(attributes, real)
    assert labels_or_attributes(whole, "attributes")[1].dtype == np.float64
    for nothing in ((None, "auto"), (whole, "ignore"), (np.empty((2, 0)), "labels")):
        assert labels_or_attributes(*nothing) == (None, None)
