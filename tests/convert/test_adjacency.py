"""Adjacency matrices of every form."""

import numpy as np
import pytest
from scipy import sparse

import propkernels as pk
from propkernels.graphs import GraphDatabase


def test_matrices_in_every_form():
    matrices = [np.array([[0, 1], [1, 0]]), np.array([[0, 2, 0], [0, 0, 1], [0, 0, 0]]), np.zeros((0, 0))]
    labels = [["a", "b"], ["a", None, "b"], []]
    attributes = [np.ones(2), np.arange(3.0), np.zeros(0)]
    expected = pk.check_graphs(
        [(m, n, a[:, None]) for m, n, a in zip(matrices, labels, attributes, strict=True)]
    )
    for kind in (np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        found = pk.from_adjacency([kind(m) for m in matrices], node_labels=labels, node_attributes=attributes)
        assert found == expected
    stack = np.stack([matrices[0], matrices[0]])
    assert pk.from_adjacency(stack, node_labels=np.array([[1, 2], [3, 4]])).node_labels.tolist() == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, bool])
def test_repeated_entries_of_small_integers_are_added_up(dtype):
    ends = np.array([0, 1] * 256), np.array([1, 0] * 256)
    matrix = sparse.coo_array((np.ones(512, dtype=dtype), ends), shape=(2, 2))
    assert pk.from_adjacency([matrix]).adjacency.toarray().tolist() == [[0, 256], [256, 0]]
    attributes = sparse.coo_array((np.ones(512, dtype=dtype), ends), shape=(2, 2))
    graphs = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=attributes)
    assert graphs.node_attributes.tolist() == [[0, 256], [256, 0]]


def test_matrices_that_are_wrong():
    good = np.array([[0, 1], [1, 0]])
    broken = sparse.csr_array(good)
    broken.indptr = np.array([0, 2, 1])
    misplaced = sparse.csc_array(good)
    misplaced.indices = np.array([10**6, 0])
    for wrong, message in (
        (np.zeros((2, 3)), r"graph 1: an adjacency matrix must be square, got shape \(2, 3\)"),
        ([[1, 2], [3]], "graph 1: rows of the adjacency matrix are of different lengths"),
        (-good, r"graph 1: edge \(0, 1\) has weight -1.0: weights must be finite and not negative"),
        (good.astype(complex), "graph 1: an adjacency matrix must hold real numbers"),
        (broken, "graph 1: the adjacency matrix"),
        (misplaced, "graph 1: the adjacency matrix"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            pk.from_adjacency([good, wrong])
        with pytest.warns(UserWarning, match="skipped 1 of 2 graphs"):
            assert pk.from_adjacency([good, wrong], errors="skip") == pk.from_adjacency([good])
    with pytest.raises(ValueError, match="graph 0 has 1 node labels for 2 nodes"):
        pk.from_adjacency([good], node_labels=[["a"]])
    with pytest.raises(TypeError, match=r"wrap the one matrix: \[matrix\]"):
        pk.from_adjacency(good)
    with pytest.raises(TypeError, match=r"ids must list one id per graph, got 0\.5"):
        pk.from_adjacency([good], ids=0.5)
    with pytest.raises(TypeError, match=r"ids must be hashable, .* got \[1\]"):
        pk.from_adjacency([good], ids=[[1]])
