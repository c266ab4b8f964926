"""Lists of edges: pairs and triples, labels of nodes, directions, and what is refused."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk

NODES = st.sampled_from(["a", "b", "c", 0, 1])
EDGES = st.lists(st.tuples(NODES, NODES), max_size=8)


@given(st.lists(EDGES, min_size=1, max_size=3), st.booleans())
def test_edges_are_those_of_networkx(several, directed):
    kind = nx.DiGraph if directed else nx.Graph
    assert pk.from_edges([list(edges) for edges in several], directed=directed) == pk.from_networkx(
        [kind(edges) for edges in several]
    )


def test_arrays_weights_labels_and_nodes_without_edges():
    pairs = np.array([[0, 1], [1, 2], [2, 1]])
    assert pk.from_edges(pairs) == pk.from_edges([pairs]) == pk.from_networkx([nx.path_graph(3)])
    weighted = pk.from_edges([("a", "b", 2.0), ("b", "c", 0.5)])
    assert weighted.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    labeled = pk.from_edges([("a", "b", "x"), ("b", "c")], node_labels={"d": "q", "a": "p"})
    assert labeled.node_labels.tolist() == ["p", None, None, "q"]
    assert labeled.edge_labels.tolist() == ["x", "x", None, None]
    assert pk.from_edges([[(0, 1)], []], ids=["one", "none"]).graph_sizes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("graphs", "options", "kind", "message"),
    [
        ([[(0, 1), (1,)]], {}, TypeError, r"graph 0: an edge is a pair of nodes, or three items, got \(1,\)"),
        ([[(0, 1)], ["ab"]], {}, TypeError, "graph 1: an edge is a pair of nodes, or three items, got 'ab'"),
        ([[(0, 1, -2.0)]], {}, ValueError, r"graph 0: edge \(0, 1\) has weight -2.0"),
        ([[(0, 1)]], {"node_labels": [{}, {}]}, ValueError, "2 node_labels for 1 lists of edges"),
        (5, {}, TypeError, "expected a list of lists of edges, got 5"),
    ],
)
def test_what_is_no_edge_is_named(graphs, options, kind, message):
    with pytest.raises(kind, match=message):
        pk.from_edges(graphs, **options)


def test_wrong_graphs_are_left_out():
    with pytest.warns(UserWarning, match="skipped 1 of 2 graphs"):
        assert pk.from_edges([[(0, 1)], [(0, 1, 2, 3)]], errors="skip").ids.tolist() == [0]
