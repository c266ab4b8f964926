"""Graph: one graph of a database."""

import numpy as np
import pytest

from propkernels.graphs import Graph, GraphDatabase
from tests.zoo import one, path_edges, zoo


def test_it_shows_what_the_database_holds():
    whole = GraphDatabase.concat(
        [
            one(2, [(0, 1)], ["a", "b"], attributes=[[1, 2], [3, 4]], edge_labels=["x"]),
            one(3, path_edges(3), ["c", None, "a"], attributes=np.eye(3, 2), edge_labels=["y", "z"]),
        ]
    )
    graph = whole[1]
    assert graph.n_nodes == 3
    assert graph.n_edges == 2
    assert graph.node_labels.tolist() == ["c", None, "a"]
    assert graph.node_attributes.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.edge_labels.tolist() == ["y", "y", "z", "z"]
    assert graph.database == whole[1:]


def test_nothing_where_there_is_nothing():
    graph = one(2, labels=None)[0]
    assert graph.node_labels is None
    assert graph.node_attributes is None
    assert graph.edge_labels is None


def test_equality():
    graphs = zoo()["two identical graphs"]
    assert graphs[0] == graphs[1]
    assert graphs[0] != zoo()["star"][0]
    assert graphs[0] != graphs
    assert graphs[0] != "graph"
    with pytest.raises(TypeError, match="unhashable"):
        hash(graphs[0])


def test_one_graph_only():
    with pytest.raises(ValueError, match=r"^a Graph is made of a database with one graph, got 2$"):
        Graph(zoo()["two identical graphs"])


def test_repr():
    assert repr(zoo()["single node"][0]) == "Graph(1 node, 0 edges, 1 node label)"
