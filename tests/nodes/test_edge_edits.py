"""Counterfactuals of nodes: every edited graph is decided by the model as if it had been given."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.counterfactuals import Edit
from propkernels.nodes.edge_edits import edge_edits, edited

ADJACENCY = nx.to_scipy_sparse_array(nx.barbell_graph(6, 2), format="csr")
Y = np.array([0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1])


@pytest.fixture(scope="module")
def model():
    return pk.NodeClassifier(C=1.0, random_state=0).fit(ADJACENCY, Y)


def test_edits_are_at_the_node_or_between_its_neighbors():
    graph = pk.check_graphs([nx.Graph([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)])])
    texts = [str(edit) for edit in edge_edits(graph, 0, 5)]
    assert texts == ["remove edge 0-1", "remove edge 0-2", "remove edge 1-2", "add edge 0-3"]
    changed = edited(graph, edge_edits(graph, 0, 5)[2:])
    assert changed.adjacency[1, 2] == 0
    assert changed.adjacency[0, 3] == changed.adjacency[3, 0] == 1


def test_edges_keep_their_labels():
    plain = nx.Graph(
        [(0, 1, {"label": "a"}), (0, 2, {"label": "b"}), (1, 2, {"label": "b"}), (2, 3, {"label": "b"})]
    )
    graph = pk.from_networkx([plain])
    changed = edited(graph, [Edit("remove_edge", 0, 1), Edit("add_edge", 0, 3)])
    plain.remove_edge(0, 1)
    plain.add_edge(0, 3, label="b")
    assert changed == pk.from_networkx([plain])


@pytest.mark.slow
def test_decisions_are_those_of_the_model(model):
    found = model.counterfactuals(6, max_edits=2, n=5)
    assert found.n_decided > 0
    for item in found:
        given = item.graph.database
        assert abs(model.decision_function(given, Y)[6] - item.decision) < 1e-9
        assert item.prediction == model.predict(given, Y)[6]
    if found.reached:
        assert all(item.prediction != found.prediction_before for item in found)
