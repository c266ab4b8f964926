"""To and from networkx: names, weights, directions, and round trips."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from propkernels.convert.check import check_graphs
from propkernels.convert.networkx import from_networkx, is_networkx
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import one, zoo, zoo_databases

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
        UserWarning, match=r"the columns \['mass', 'where'\] of nodes are not used: name it in"
    ):
        database = from_networkx([graph])
    assert database.node_labels.tolist() == ["C", "O", "C"]
    assert database.node_attributes.tolist() == [[1], [0], [0]]
    assert database[0].edge_labels.tolist() == ["s", "s", "d", "d"]
    assert database.edge_attribute_names == ("length",)
    both = from_networkx([graph], node_label=["what", "charge"], node_attributes=None)
    assert both.node_labels.tolist() == [("C", 1), ("O", 0), ("C", 0)]


def molecule(**extra):
    graph = nx.Graph()
    graph.add_node("c", element="C", charge=0.5, mass=12, where=(0.0, 1.0))
    graph.add_node("o", element="O", charge=-0.5, mass=16, where=(1.0, 1.0))
    graph.add_node("h", element="H", charge=0.0, mass=1, where=(2.0, 1.0))
    graph.add_edge("c", "o", order=2, bond="double")
    graph.add_edge("c", "h", order=1, bond="single")
    return graph


# from networkx


def test_default_names():
    graph = nx.Graph()
    graph.add_node(0, label="a", attributes=[1.0, 2.0])
    graph.add_node(1, label="b", attributes=[3.0, 4.0])
    graph.add_edge(0, 1, weight=2.5, label="x")
    expected = GraphDatabase([[0, 2.5], [2.5, 0]], [0, 2], ["a", "b"], [[1, 2], [3, 4]], ["x", "x"])
    assert from_networkx([graph]) == check_graphs([graph]) == expected


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


def test_one_number_per_node_is_one_dimension():
    assert from_networkx([molecule()], node_attributes="charge").node_attributes.shape == (3, 1)
    assert from_networkx([molecule()], node_attributes=["charge"]).node_attributes.shape == (3, 1)


def test_none_leaves_things_out():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=5, label="x")
    nx.set_node_attributes(graph, {0: "a", 1: "b"}, "label")
    nx.set_node_attributes(graph, {0: 1.0, 1: 2.0}, "attributes")
    nothing = dict.fromkeys(("node_label", "node_attributes", "edge_label", "weight", "edge_attributes"))
    database = from_networkx([graph], **nothing)
    assert database == GraphDatabase([[0, 1], [1, 0]], [0, 2])


def test_without_any_data_labels_are_absent_and_weights_are_one():
    database = from_networkx([nx.path_graph(3)])
    assert database == GraphDatabase([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [0, 3])


def test_missing_weights_are_one():
    graph = nx.Graph([(0, 1), (1, 2)])
    graph.edges[0, 1]["weight"] = 0.25
    assert from_networkx([graph]).adjacency.data.tolist() == [0.25, 0.25, 1, 1]


def test_zero_weights_are_not_edges():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=0, label="x")
    graph.add_edge(1, 2, weight=2, label="y")
    database = from_networkx([graph])
    assert database.n_edges == 1
    assert database.edge_labels.tolist() == ["y", "y"]


def test_directions_are_kept():
    database = from_networkx([nx.DiGraph([("a", "b"), ("b", "c")])])
    assert database.is_directed
    assert database.adjacency.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_self_loops_count_once():
    assert from_networkx([nx.Graph([(0, 0), (0, 1)])]).adjacency.toarray().tolist() == [[1, 1], [1, 0]]


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


def test_labels_said_to_be_unknown_are_labels_all_the_same():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, None, "label")
    assert not from_networkx([graph]).label_column.observed.any()


def test_subclasses_views_and_frozen_graphs():
    class Mine(nx.Graph):
        pass

    graph = nx.path_graph(4)
    assert from_networkx(
        [Mine(graph), nx.freeze(graph.copy()), graph.subgraph([0, 1, 2, 3])]
    ) == from_networkx([graph] * 3)


def test_no_nodes():
    assert from_networkx([nx.Graph(), nx.path_graph(1)]).graph_sizes.tolist() == [0, 1]
    assert from_networkx(
        [nx.Graph(), molecule()], node_attributes=["mass", "charge"]
    ).node_attributes.shape == (3, 2)
    assert len(from_networkx([])) == 0


# refused


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("heavy", "not a number"),
        (None, "not a number"),
        ([1], "not a number"),
        (-1, "weights"),
        (float("nan"), "weights"),
        (float("inf"), "weights"),
    ],
)
def test_bad_weights(value, said):
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=value)
    rest = ", not a number" if said == "not a number" else ": weights must be finite and not negative"
    with pytest.raises(ValueError) as error:
        from_networkx([nx.Graph(), graph])
    assert str(error.value) == f"graph 1: edge ('a', 'b') has weight {value!r}{rest}"


def test_missing_attributes_are_named():
    graph = molecule()
    del graph.nodes["o"]["charge"]
    with pytest.raises(ValueError, match=r"^graph 1: node 'o' has no 'charge'$"):
        from_networkx([molecule(), graph], node_attributes="charge")
    with pytest.raises(ValueError, match=r"^graph 1: node 'o' has no 'mass' or 'charge'$"):
        from_networkx([molecule(), graph], node_attributes=["mass", "charge"])
    with pytest.raises(ValueError, match=r"^graph 0: node 0 has no 'mass' or 'charge'$"):
        from_networkx([nx.path_graph(2)], node_attributes=["mass", "charge"])
    with pytest.raises(ValueError, match=r"^graph 1 has no node attributes but graph 0 has some$"):
        from_networkx([molecule(), nx.path_graph(2)], node_attributes="mass")


@pytest.mark.parametrize("bad", [(1.0, 2.0, 3.0), "text", None, {}])
def test_attributes_that_are_not_vectors(bad):
    graph = molecule()
    graph.nodes["h"]["where"] = bad
    message = r"^graph 0: node attributes are not vectors of numbers, all of one length$"
    with pytest.raises(ValueError, match=message):
        from_networkx([graph], node_attributes="where")


def test_infinite_attributes():
    graph = molecule()
    graph.nodes["h"]["charge"] = np.inf
    with pytest.raises(ValueError, match=r"^graph 0: node 2 has an infinite attribute in dimension 0: inf$"):
        from_networkx([graph], node_attributes="charge")


def test_labels_that_are_not_hashable():
    graph = molecule()
    graph.nodes["o"]["element"] = ["O"]
    with pytest.raises(
        TypeError, match=r"^graph 1: node_labels: the label \['O'\] of node 1 is not hashable$"
    ):
        from_networkx([molecule(), graph], node_label="element")


def test_not_a_list_of_graphs():
    with pytest.raises(
        TypeError, match=r"^from_networkx takes a list of graphs; wrap the one graph: \[graph\]$"
    ):
        from_networkx(nx.Graph())
    with pytest.raises(TypeError, match=r"^graph 1 is a int, not a networkx graph$"):
        from_networkx([nx.Graph(), 5])


def test_telling_networkx_graphs():
    assert is_networkx(nx.MultiDiGraph())
    assert not any(map(is_networkx, [5, "a", np.eye(2), nx, zoo()["star"], nx.Graph().nodes]))


# there and back


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_round_trip_of_the_zoo(name, database):
    back = from_networkx(database.to_networkx())
    assert np.array_equal(back.adjacency.toarray(), database.adjacency.toarray())
    assert np.array_equal(back.graph_ptr, database.graph_ptr)
    assert back == database or database.n_nodes == 0


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
    assert type(directed.to_networkx()[0]) is nx.DiGraph
    graph = undirected[0].to_networkx()
    assert type(graph) is nx.Graph
    assert graph.edges[0, 1] == {"weight": 0.5}
    assert graph.nodes[1] == {"label": 1}
    assert type(graph.nodes[1]["label"]) is int
    assert zoo()["attributes 3-d"][0].to_networkx().nodes[0]["attributes"] == list(
        zoo()["attributes 3-d"].node_attributes[0]
    )


def test_each_graph_of_a_mixed_database_has_its_own_kind():
    mixed = GraphDatabase.concat([zoo()["directed cycle"], zoo()["cycle"]])
    assert [type(graph) for graph in mixed.to_networkx()] == [nx.DiGraph, nx.Graph]


def test_edge_labels_that_differ_by_direction_survive():
    database = GraphDatabase([[0, 1], [1, 0]], [0, 2], edge_labels=["there", "back"])
    assert from_networkx(database.to_networkx()) == database


def test_isolated_nodes_survive():
    assert sorted(one(3).to_networkx()[0].nodes) == [0, 1, 2]


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    message = r"to_networkx needs networkx: install it with pip install 'networkx"
    with pytest.raises(ImportError, match=message):
        zoo()["star"].to_networkx()


@pytest.mark.parametrize("parameter", ["node_label", "edge_label", "weight", "target"])
def test_names_that_no_graph_has_are_errors(parameter):
    graph = nx.Graph(level=1)
    graph.add_node(0, kind="a")
    graph.add_edge(0, 1, type="s")
    names = {"node_label": "'kind'", "target": "'level'"}.get(parameter, "'type'")
    with pytest.raises(ValueError, match=f"no graph has {parameter}='Kind': there are {names}"):
        from_networkx([graph, nx.Graph()], **{parameter: "Kind"})


def test_names_of_edges_are_not_asked_of_graphs_without_edges():
    alone = nx.Graph()
    alone.add_node(0, kind="a")
    assert from_networkx([alone], node_label="kind", edge_label="type", weight="length").n_edges == 0
