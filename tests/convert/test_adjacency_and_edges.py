"""Adjacency matrices of every form, lists of edges, and the edges of a graph for other libraries."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import propkernels as pk
from propkernels.convert.edges import is_one_way, list_edges
from propkernels.graphs import GraphDatabase
from tests.zoo import zoo


def test_matrices_in_every_form():
    matrices = [np.array([[0, 1], [1, 0]]), np.array([[0, 2, 0], [0, 0, 1], [0, 0, 0]]), np.zeros((0, 0))]
    labels = [["a", "b"], ["a", None, "b"], []]
    attributes = [np.ones(2), np.arange(3.0), np.zeros(0)]
    rows = [(m, n, a[:, None]) for m, n, a in zip(matrices, labels, attributes, strict=True)]
    for kind in (np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        found = pk.from_adjacency([kind(m) for m in matrices], node_labels=labels, node_attributes=attributes)
        assert found == pk.check_graphs(rows)
    stack = pk.from_adjacency(np.stack([matrices[0]] * 2), node_labels=np.array([[1, 2], [3, 4]]))
    assert stack.node_labels.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, bool])
def test_repeated_entries_of_small_integers_are_added_up(dtype):
    ends = np.array([0, 1] * 256), np.array([1, 0] * 256)
    matrix = sparse.coo_array((np.ones(512, dtype=dtype), ends), shape=(2, 2))
    assert pk.from_adjacency([matrix]).adjacency.toarray().tolist() == [[0, 256], [256, 0]]
    graphs = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=matrix)
    assert graphs.node_attributes.tolist() == [[0, 256], [256, 0]]


NODES = st.sampled_from(["a", "b", "c", 0, 1])
EDGES = st.lists(st.tuples(NODES, NODES), max_size=8)


@given(st.lists(EDGES, min_size=1, max_size=3), st.booleans())
def test_edges_are_those_of_networkx(several, directed):
    kind = nx.DiGraph if directed else nx.Graph
    found = pk.from_edges([list(edges) for edges in several], directed=directed)
    assert found == pk.from_networkx([kind(edges) for edges in several])


def test_arrays_weights_labels_and_nodes_without_edges():
    pairs = np.array([[0, 1], [1, 2], [2, 1]])
    assert pk.from_edges(pairs) == pk.from_edges([pairs]) == pk.from_networkx([nx.path_graph(3)])
    assert pk.from_edges(nx.path_graph(3).edges) == pk.from_edges(pairs)
    weighted = pk.from_edges([("a", "b", 2.0), ("b", "c", 0.5)])
    assert pk.from_edges([("a", "b", 2.0), ("b", "c", 0.5), ("b", "a", 2.0)]) == weighted
    assert weighted.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    labeled = pk.from_edges([("a", "b", "x"), ("b", "c")], node_labels={"d": "q", "a": "p"})
    assert labeled.node_labels.tolist() == ["p", None, None, "q"]
    assert labeled.edge_labels.tolist() == ["x", "x", None, None]
    assert pk.from_edges([[(0, 1)], []], ids=["one", "none"]).graph_sizes.tolist() == [2, 0]


def pairs(edges):
    return list(zip(edges.source.tolist(), edges.target.tolist(), edges.weights.tolist(), strict=True))


def test_undirected_edges_are_listed_once_and_directed_ones_as_they_are():
    path = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
    graph = GraphDatabase(path, [0, 3], edge_labels=["a", "a", "b", "b"])[0]
    assert pairs(list_edges(graph)) == [(0, 1, 1.0), (1, 2, 2.0)]
    assert list_edges(graph).labels.tolist() == ["a", "b"]
    assert len(pairs(list_edges(graph, both=True))) == 4
    for matrix, directed in (([[3, 1], [0, 0]], True), ([[3, 1], [1, 0]], False)):
        edges = list_edges(GraphDatabase(matrix, [0, 2])[0])
        assert edges.directed is directed
        assert pairs(edges) == [(0, 0, 3.0), (0, 1, 1.0)]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"adjacency": [[0, 1], [2, 0]]}, True),
        ({"edge_labels": ["a", "b"]}, True),
        ({"edge_attributes": [[np.nan], [np.nan]]}, False),
        ({"edge_attributes": [[1.0], [2.0]]}, True),
    ],
)
def test_directions_that_differ(changed, expected):
    given = {"adjacency": [[0, 1], [1, 0]], "graph_ptr": [0, 2], "edge_labels": ["a", "a"]}
    assert is_one_way(GraphDatabase(**given | changed)) is expected


def test_the_zoo_is_one_way_where_it_is_directed():
    for name, graphs in zoo().items():
        assert is_one_way(graphs) == graphs.is_directed, name
