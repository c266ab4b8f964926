"""Graphs as they stand in files: data of nodes and edges by name."""

from propkernels.datasets.file_graph import FileGraph


def test_ends_of_edges_become_nodes_in_order_of_appearance():
    graph = FileGraph()
    graph.add_node("b", {"kind": "x"})
    graph.add_edge("a", "b", {"type": 1})
    graph.add_edge("c", "a", {})
    assert list(graph.nodes) == ["b", "a", "c"]
    assert graph.nodes["b"] == {"kind": "x"}
    assert graph.edges == [("a", "b", {"type": 1}), ("c", "a", {})]


def test_data_of_a_node_add_up():
    graph = FileGraph()
    graph.add_node(0, {"kind": "x", "mass": 1})
    graph.add_node(0, {"mass": 2})
    graph.add_node(0)
    assert graph.nodes == {0: {"kind": "x", "mass": 2}}


def test_graphs_share_no_data():
    first, second = FileGraph(), FileGraph()
    first.add_edge(0, 1, {})
    first.data["target"] = 1
    assert (second.nodes, second.edges, second.data, second.directed) == ({}, [], {}, False)
