"""Statistics of a few graphs, counted by hand."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.statistics import Spread, statistics_of


def three_graphs():
    """A path with a loop, two isolated nodes, and a graph without nodes."""
    path = nx.path_graph(3)
    path.add_edge(0, 0)
    graphs = [path, nx.empty_graph(2), nx.empty_graph(0)]
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "label")
    graphs[0].nodes[2]["label"] = "O"
    graphs[1].nodes[0]["label"] = None
    nx.set_edge_attributes(path, "single", "bond")
    return pk.from_networkx(graphs, edge_label="bond")


def test_counts():
    found = statistics_of(three_graphs(), None, {"C": "carbon"})
    assert (found.n_graphs, found.n_nodes, found.n_edges) == (3, 5, 3)
    assert (found.empty_graphs, found.isolated_nodes, found.disconnected_graphs) == (1, 2, 1)
    assert found.node_labels.values == ("carbon", "O")
    assert found.node_labels.counts == (3, 1)
    assert found.node_labels.missing == 1
    assert found.edge_labels.n_texts == 1
    assert found.components.most == 2
    assert Spread.of(np.array([])) is None
    whole, parts = Spread.of(np.arange(100)), Spread.of(np.array([0.5, 0.25, 0.25]))
    assert (sum(whole.counts), sum(parts.counts)) == (100, 3)
    assert (whole.least, whole.median, whole.most) == (0, 49.5, 99)
    assert dict(found.extreme)[2] == "fewest nodes"
    assert found.target is None


def test_labels_with_the_same_text_are_counted_together():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["CCO", "CC=O"], node_labels=("symbol", "invariants"))
    labels = statistics_of(graphs, None, {}).node_labels
    assert (labels.values, labels.counts) == (("C", "O"), (4, 2))
    assert labels.n_texts == 2


def test_attributes():
    path = nx.path_graph(3)
    table = np.array([[1.0, 7.0], [np.nan, 7.0], [3.0, 7.0]])
    graphs = pk.from_networkx([path]).with_attributes(table)
    first, second = statistics_of(graphs, None, {}).node_attributes
    assert (first.missing, first.constant, first.spread.least, first.spread.most) == (1, False, 1.0, 3.0)
    assert second.constant


def test_edges_of_directed_graphs_count_once_each():
    graphs = pk.from_networkx([nx.DiGraph([(0, 1), (1, 0), (1, 2)]), nx.path_graph(3)])
    found = statistics_of(graphs, None, {})
    assert found.n_edges == 5
    assert found.isolated_nodes == 0
