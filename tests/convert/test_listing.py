"""Lists of edges for other libraries."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.listing import is_one_way, list_edges
from tests.zoo import zoo

PATH = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]


def pairs(edges):
    return list(zip(edges.source.tolist(), edges.target.tolist(), edges.weights.tolist(), strict=True))


def test_undirected_edges_are_listed_once():
    graph = pk.GraphDatabase(PATH, [0, 3], edge_labels=["a", "a", "b", "b"])[0]
    edges = list_edges(graph)
    assert not edges.directed
    assert pairs(edges) == [(0, 1, 1.0), (1, 2, 2.0)]
    assert edges.labels.tolist() == ["a", "b"]
    assert len(pairs(list_edges(graph, both=True))) == 4


def test_directed_edges_and_loops():
    edges = list_edges(pk.GraphDatabase([[3, 1], [0, 0]], [0, 2])[0])
    assert edges.directed
    assert pairs(edges) == [(0, 0, 3.0), (0, 1, 1.0)]
    assert pairs(list_edges(pk.GraphDatabase([[3, 1], [1, 0]], [0, 2])[0])) == [(0, 0, 3.0), (0, 1, 1.0)]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"adjacency": [[0, 1], [2, 0]]}, True),
        ({"adjacency": [[0, 1], [0, 0]], "edge_labels": ["a"]}, True),
        ({"edge_labels": ["a", "b"]}, True),
    ],
)
def test_directions_that_differ(changed, expected):
    given = {"adjacency": [[0, 1], [1, 0]], "graph_ptr": [0, 2], "edge_labels": ["a", "a"]}
    assert is_one_way(pk.GraphDatabase(**given | changed)) is expected


def test_attributes_that_differ_make_edges_one_way():
    graphs = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2])
    assert not is_one_way(graphs.with_edge_attributes(np.array([[np.nan], [np.nan]])))
    assert is_one_way(graphs.with_edge_attributes(np.array([[1.0], [2.0]])))


def test_the_zoo_is_one_way_where_it_is_directed():
    for name, graphs in zoo().items():
        assert is_one_way(graphs) == graphs.is_directed, name
