"""To and from networkx: names, weights, directions, and round trips."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from propkernels.convert.networkx import from_networkx
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import zoo

pytestmark = pytest.mark.filterwarnings("ignore:the column")


def test_labels_under_any_name_and_a_warning_of_what_is_not_used():
    club = nx.karate_club_graph()
    assert from_networkx([club]).label_column.values == ("Mr. Hi", "Officer")
    graph = nx.Graph([("x", "y", {"bond": "s", "length": 1.5}), ("y", "z", {"bond": "d", "length": 1.2})])
    nx.set_node_attributes(graph, {"x": "C", "y": "O", "z": "C"}, "what")
    nx.set_node_attributes(graph, {"x": 1, "y": 0, "z": 0}, "charge")
    nx.set_node_attributes(graph, {"x": 12.0}, "mass")
    nx.set_node_attributes(graph, {"x": (0, 1)}, "where")
    nx.set_node_attributes(graph, {v: f"person {v}" for v in graph}, "name")
    with pytest.warns(
        UserWarning, match=r"the columns \['mass', 'where', 'name'\] of nodes are not used: name it in"
    ):
        database = from_networkx([graph])
    assert database.node_labels.tolist() == ["C", "O", "C"]
    assert database.node_attributes.tolist() == [[1], [0], [0]]
    assert database[0].edge_labels.tolist() == ["s", "s", "d", "d"]
    assert database.edge_attribute_names == ("length",)
    both = from_networkx([graph], node_label=["what", "charge"], node_attributes=None)
    assert both.node_labels.tolist() == [("C", 1), ("O", 0), ("C", 0)]


@pytest.mark.parametrize("name", ["name", "id", "_kind"])
def test_names_and_ids_that_nodes_or_edges_share_say_what_they_are(name):
    graph, other = nx.path_graph(3), nx.path_graph(3)
    nx.set_node_attributes(graph, dict(enumerate("COC")), name)
    nx.set_node_attributes(other, dict(enumerate("NNN")), name)
    assert from_networkx([graph, other]).node_labels.tolist() == list("COCNNN")
    nx.set_edge_attributes(other, "double", name)
    assert from_networkx([other])[0].edge_labels.tolist() == ["double"] * 4
    nx.set_edge_attributes(other, {(0, 1): "a", (1, 2): "b"}, name)
    assert (from_networkx([other]).edge_label_column is None) == (name != "_kind")


def molecule(**extra):
    graph = nx.Graph()
    graph.add_node("c", element="C", charge=0.5, mass=12, where=(0.0, 1.0))
    graph.add_node("o", element="O", charge=-0.5, mass=16, where=(1.0, 1.0))
    graph.add_node("h", element="H", charge=0.0, mass=1, where=(2.0, 1.0))
    graph.add_edge("c", "o", order=2, bond="double")
    graph.add_edge("c", "h", order=1, bond="single")
    return graph


# from networkx


def test_names_as_parameters():
    names = {"node_label": "element", "edge_label": "bond", "weight": "order", "node_attributes": "where"}
    database = from_networkx([molecule()], **names)
    assert database.node_labels.tolist() == ["C", "O", "H"]
    assert database.adjacency.toarray().tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]
    assert database.edge_labels.tolist() == ["double", "single", "double", "single"]
    assert database.node_attributes.tolist() == [[0, 1], [1, 1], [2, 1]]


def test_several_attribute_names_become_dimensions():
    database = from_networkx([molecule()], node_attributes=["charge", "mass", "where"])
    assert database.node_attributes.tolist() == [[0.5, 12, 0, 1], [-0.5, 16, 1, 1], [0, 1, 2, 1]]
    for one_name in ("charge", ["charge"]):
        assert from_networkx([molecule()], node_attributes=one_name).node_attributes.shape == (3, 1)


def test_none_leaves_things_out():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=5, label="x")
    nx.set_node_attributes(graph, {0: "a", 1: "b"}, "label")
    nx.set_node_attributes(graph, {0: 1.0, 1: 2.0}, "attributes")
    nothing = dict.fromkeys(("node_label", "node_attributes", "edge_label", "weight", "edge_attributes"))
    database = from_networkx([graph], **nothing)
    assert database == GraphDatabase([[0, 1], [1, 0]], [0, 2])


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_adjacency_is_that_of_networkx(kind):
    graph = kind()
    graph.add_nodes_from("dcba")
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 3.0), ("c", "c", 1.5), ("a", "b", 4.0)])
    assert np.array_equal(from_networkx([graph]).adjacency.toarray(), nx.to_numpy_array(graph))


def test_parallel_edges_stay_apart_where_labels_differ():
    graph = nx.MultiGraph()
    graph.add_edge(0, 1, weight=1, label="x")
    assert from_networkx([graph]).edge_labels.tolist() == ["x", "x"]
    graph.add_edge(0, 1, weight=2, label="y")
    database = from_networkx([graph])
    graph.add_edge(1, 0, weight=4, label="x")
    found = sorted(
        zip(*(part.tolist() for part in (database.adjacency.data, database.edge_labels)), strict=True)
    )
    assert found == [(1, "x"), (1, "x"), (2, "y"), (2, "y")]
    both = from_networkx([graph])  # of one label, weights add up
    found = sorted(zip(both.adjacency.data.tolist(), both.edge_labels.tolist(), strict=True))
    assert found == [(2, "y"), (2, "y"), (5, "x"), (5, "x")]
    assert from_networkx([graph], edge_label=None).adjacency.data.tolist() == [7, 7]


def test_nodes_without_a_label_are_unobserved():
    graph = nx.path_graph(3)
    graph.nodes[1]["label"] = "b"
    assert from_networkx([graph]).node_labels.tolist() == [None, "b", None]
    graph.nodes[1]["label"], graph.nodes[2]["label"] = 4, -1
    assert from_networkx([graph]).label_column.observed.tolist() == [False, True, False]
    nx.set_node_attributes(graph, None, "label")
    assert not from_networkx([graph]).label_column.observed.any()


@pytest.mark.parametrize("bad", [(1.0, 2.0, 3.0), "text", None, {}])
def test_attributes_that_are_not_vectors(bad):
    graph = molecule()
    graph.nodes["h"]["where"] = bad
    message = r"^graph 0: node attributes are not vectors of numbers, all of one length$"
    with pytest.raises(ValueError, match=message):
        from_networkx([graph], node_attributes="where")
    with pytest.raises(ValueError, match=r"^graph 1 has no node attributes but graph 0 has some$"):
        from_networkx([molecule(), nx.path_graph(2)], node_attributes="mass")


# there and back


@pytest.mark.slow
@given(
    databases(
        labelled="any", partial=True, weighted=True, directed=True, n_attributes=2, edge_labels=True
    ).filter(lambda database: database.n_edges)
)
def test_round_trip(database):
    assert from_networkx(database.to_networkx()) == database


def test_kinds_and_data():
    directed, undirected = zoo()["directed and weighted"], zoo()["weighted"]
    both = GraphDatabase.concat([directed, undirected])
    assert [type(graph) for graph in both.to_networkx()] == [nx.DiGraph, nx.Graph]
    ways = GraphDatabase([[0, 1], [1, 0]], [0, 2], edge_labels=["there", "back"])
    assert from_networkx(ways.to_networkx()) == ways
    graph = undirected[0].to_networkx()
    assert type(graph) is nx.Graph
    assert graph.edges[0, 1] == {"weight": 0.5}
    assert graph.nodes[1] == {"label": 1}
    assert type(graph.nodes[1]["label"]) is int
    assert zoo()["attributes 3-d"][0].to_networkx().nodes[0]["attributes"] == list(
        zoo()["attributes 3-d"].node_attributes[0]
    )


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    message = r"to_networkx needs networkx: install it with pip install 'networkx"
    with pytest.raises(ImportError, match=message):
        zoo()["star"].to_networkx()


def test_names_of_edges_are_not_asked_of_graphs_without_edges():
    alone = nx.Graph()
    alone.add_node(0, kind="a")
    assert from_networkx([alone], node_label="kind", edge_label="type", weight="length").n_edges == 0
