"""What databases accept: zeros between graphs, offsets of any type, attributes in many guises."""

import numpy as np
import pytest
from scipy import sparse

from propkernels.graphs import GraphDatabase

TWO = np.kron(np.eye(2), [[0, 1], [1, 0]])  # two graphs of two nodes


def test_zeros_between_graphs_are_not_edges():
    coo = sparse.coo_array((np.array([0.0, 1.0]), ([0, 2], [3, 3])), shape=(4, 4))
    assert GraphDatabase(coo, [0, 2, 4]).adjacency.nnz == 1


def test_graph_ptr_of_any_integer_type():
    for graph_ptr in ((0, 2, 4), range(0, 5, 2), np.array([0, 2, 4], dtype=np.uint8)):
        database = GraphDatabase(TWO, graph_ptr)
        assert database.graph_ptr.dtype == np.int64
        assert len(database) == 2


def test_attributes_in_many_guises():
    pandas = pytest.importorskip("pandas")
    expected = np.array([[1.0, 2.0], [3.0, np.nan]])
    frame = pandas.DataFrame({"a": [1, 3], "b": [2, None]})
    masked = np.ma.array([[1, 2], [3, 9]], mask=[[0, 0], [0, 1]])
    for given in (
        expected,
        expected.tolist(),
        frame,
        masked,
        np.asfortranarray(expected),
        [[1, 2], [3, None]],
    ):
        found = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=given).node_attributes
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        assert np.array_equal(found, expected, equal_nan=True)
    whole = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=sparse.csr_array(np.eye(2, dtype=int)))
    assert whole.node_attributes.tolist() == [[1, 0], [0, 1]]
