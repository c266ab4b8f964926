"""Joining databases end to end."""

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import block_diag

from propkernels.graphs import GraphDatabase
from tests.strategies import databases, graphs
from tests.zoo import labelled_zoo, one, path_edges, zoo

OPTIONS = {"weighted": True, "directed": True, "partial": True, "n_attributes": 1, "edge_labels": True}


@given(databases(max_graphs=5, labelled="any", **OPTIONS))
def test_all_singles_joined_are_the_database(database):
    assert GraphDatabase.concat(list(database)) == database
    assert GraphDatabase.concat(graph.database for graph in database) == database


@given(graphs(**OPTIONS), graphs(**OPTIONS))
def test_adjacency_is_block_diagonal(a, b):
    joined = GraphDatabase.concat([a, b])
    assert (joined.adjacency != block_diag([a.adjacency, b.adjacency])).nnz == 0
    assert joined[:1] == a
    assert joined[1:] == b


def test_zoo_in_pieces():
    database = labelled_zoo()
    assert GraphDatabase.concat([database[:3], database[3:4], database[4:4], database[4:]]) == database


def test_nothing_and_one():
    assert len(GraphDatabase.concat([])) == 0
    assert GraphDatabase.concat([zoo()["star"]]) == zoo()["star"]


def test_without_labels_beside_labels_is_unobserved():
    joined = GraphDatabase.concat([one(2, labels=None), one(2, labels=[5, 6]), one(1, labels=None)])
    assert joined.node_labels.tolist() == [-1, -1, 5, 6, -1]
    joined = GraphDatabase.concat([one(1, labels=["a"]), one(1, labels=None)])
    assert joined.node_labels.tolist() == ["a", None]


def test_integer_and_string_labels_become_objects():
    joined = GraphDatabase.concat([one(2, labels=[1, -1]), one(1, labels=["1"])])
    assert joined.node_labels.tolist() == [1, None, "1"]


def test_no_labels_anywhere_stay_none():
    joined = GraphDatabase.concat([one(2, labels=None), one(1, labels=None)])
    assert joined.node_labels is None
    assert joined.edge_labels is None


def test_edge_labels_beside_none_are_unobserved():
    labelled = one(2, [(0, 1)], edge_labels=["x"])
    joined = GraphDatabase.concat([one(3, path_edges(3)), labelled])
    assert joined.edge_labels.tolist() == [None] * 4 + ["x", "x"]


def test_attributes_are_stacked():
    joined = GraphDatabase.concat([one(2, attributes=[1, 2]), one(0), one(1, attributes=[3])])
    assert joined.node_attributes.tolist() == [[1], [2], [3]]


def test_graphs_without_nodes_agree_with_any_attributes():
    empty = GraphDatabase(np.zeros((0, 0)), [0, 0], node_attributes=np.zeros((0, 3)))
    assert GraphDatabase.concat([empty, one(1, attributes=[3])]).node_attributes.shape == (1, 1)
    assert GraphDatabase.concat([empty, one(1)]).node_attributes is None
    assert GraphDatabase.concat([empty, empty]).node_attributes.shape == (0, 3)


def test_attributes_missing_in_one_item():
    with pytest.raises(ValueError, match=r"^item 0 has no node attributes but item 2 has some$"):
        GraphDatabase.concat([one(1), one(0), one(1, attributes=[1])])


def test_attributes_of_different_dimensions():
    one_d, two_d = one(1, attributes=[1]), one(1, attributes=[[1, 2]])
    with pytest.raises(ValueError, match=r"^item 2 has 2 attribute dimensions but item 0 has 1$"):
        GraphDatabase.concat([one_d, one_d, two_d])


def test_items_of_another_kind():
    with pytest.raises(TypeError, match=r"^item 1 is a str, not a GraphDatabase$"):
        GraphDatabase.concat([one(1), "graph"])
