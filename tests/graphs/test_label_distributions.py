"""LabelDistributions: uncertain labels as input."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

import propkernels as pk
from propkernels.graphs.label_distributions import concat_distributions, concat_labels
from propkernels.graphs.labels import LabelColumn
from tests.zoo import one, path_edges

ROWS = np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 1.0]])


def dense(distributions):
    return distributions.probabilities.toarray()


@pytest.mark.parametrize("make", [np.array, csr_array, csr_matrix, coo_array, np.ma.array, np.ndarray.tolist])
def test_any_kind_of_matrix(make):
    computed = pk.LabelDistributions(make(ROWS))
    assert np.array_equal(dense(computed), ROWS)
    assert computed.values == (0, 1)
    assert computed.known.tolist() == [True, True, True]
    assert computed.observed.tolist() == [True, False, True]


def test_rows_are_divided_by_their_sums():
    computed = pk.LabelDistributions(ROWS * np.array([[3.0], [1e-300], [1e300]]))
    assert np.allclose(dense(computed), ROWS)
    assert computed.observed.tolist() == [True, False, True]
    counts = pk.LabelDistributions(np.array([[3, 1], [0, 7]]))
    assert np.array_equal(dense(counts), [[0.75, 0.25], [0, 1]])
    row = np.array([[0.1, 0.2, 0.7]])  # adds up to 1 only nearly, in floating point: not touched
    assert np.array_equal(dense(pk.LabelDistributions(row)), row)
    matrix = coo_array(([1.0, 1.0, 2.0], ([0, 0, 0], [0, 0, 1])), shape=(1, 3))
    assert dense(pk.LabelDistributions(matrix)).tolist() == [[0.5, 0.5, 0]]
    assert pk.LabelDistributions(matrix, ["a", "b", "c"]).present == ("a", "b")


def test_the_input_is_left_alone():
    for rows in (4 * ROWS, csr_array(4 * ROWS)):
        before = copy.deepcopy(rows)
        pk.LabelDistributions(rows, known=[True, False, True])
        assert abs(rows - before).sum() == 0


def test_masked_rows_say_nothing():
    masked = np.ma.array(ROWS, mask=[[0, 0], [1, 1], [1, 0]])
    computed = pk.LabelDistributions(masked)
    assert computed.known.tolist() == [True, False, True]
    assert dense(computed).tolist() == [[1, 0], [0, 0], [0, 1]]


def test_known_overrules_whatever_stands_in_a_row():
    rows = np.array([[1.0, 0.0], [np.nan, -5.0], [0.0, 0.0]])
    computed = pk.LabelDistributions(rows, known=[True, False, False])
    assert dense(computed).tolist() == [[1, 0], [0, 0], [0, 0]]
    assert computed.observed.tolist() == [True, False, False]
    computed = pk.LabelDistributions(ROWS, known=[True, True, False], observed=[False, True, True])
    assert computed.observed.tolist() == [False, True, False]


def test_values_are_canonical_and_keep_their_order():
    assert pk.LabelDistributions(ROWS, [np.float64(2.0), "a"]).values == (2, "a")
    assert pk.LabelDistributions(ROWS, (7, 3)).values == (7, 3)
    assert pk.LabelDistributions(ROWS, np.array([0, -1])).values == (0, -1)


def test_equality_looks_at_labels_not_at_columns():
    one_way = pk.LabelDistributions(ROWS, ["a", "b"])
    assert one_way == pk.LabelDistributions(ROWS[:, ::-1], ["b", "a"])
    assert one_way != pk.LabelDistributions(ROWS, ["b", "a"])
    assert one_way != pk.LabelDistributions(ROWS[:2], ["a", "b"])
    assert one_way != pk.LabelDistributions(ROWS, ["a", "b"], observed=[True, True, True])
    assert one_way != ROWS.tolist()
    with pytest.raises(TypeError, match="unhashable"):
        hash(one_way)


def test_joining_merges_labels_in_order_of_appearance():
    first, second = pk.LabelDistributions(ROWS, ["a", "b"]), pk.LabelDistributions(ROWS[:2], ["b", "c"])
    joined = concat_distributions([first, second])
    assert joined.values == ("a", "b", "c")
    reference = np.vstack([np.insert(ROWS, 2, 0, axis=1), np.insert(ROWS[:2], 0, 0, axis=1)])
    assert np.array_equal(dense(joined), reference)


def test_labels_beside_distributions_become_deltas():
    column = LabelColumn.from_values(["b", None, "x"])
    joined = concat_labels([pk.LabelDistributions(ROWS, ["a", "b"]), column])
    assert joined.values == ("a", "b", "x")
    assert dense(joined)[3:].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert joined.observed.tolist() == [True, False, True, True, False, True]
    assert isinstance(concat_labels([column, column]), LabelColumn)


# in a database


def test_a_database_keeps_them():
    graphs = one(3, path_edges(3), ROWS)
    assert np.array_equal(graphs.node_labels, ROWS)
    assert repr(graphs) == "GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels, 1 unobserved)"
    both = pk.GraphDatabase.concat([graphs, one(2, [(0, 1)], [1, None])])
    assert both[0].database == graphs
    assert both[[1]].label_column.known.tolist() == [True, False]
    assert both[[1, 0]][1].database == graphs
    assert pickle.loads(pickle.dumps(both)) == both


def test_masked_rows_come_back_masked():
    graphs = one(3, path_edges(3), np.ma.array(ROWS, mask=[[0, 0], [1, 1], [0, 0]]))
    computed = graphs.node_labels
    assert isinstance(computed, np.ma.MaskedArray)
    assert computed.mask.tolist() == [[False, False], [True, True], [False, False]]
    assert graphs.with_labels(computed) == graphs
