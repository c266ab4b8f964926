"""Graphs of python-igraph."""

import numpy as np
import pytest

import propkernels as pk

igraph = pytest.importorskip("igraph")


def molecule():
    graph = igraph.Graph([(0, 1), (1, 2)])
    graph.vs["label"] = ["C", "C", "O"]
    graph.es["label"] = ["single", "double"]
    graph.es["weight"] = [1.0, 2.0]
    return graph


def test_labels_and_weights():
    graphs = pk.from_igraph([molecule()], node_label="label", edge_label="label", weight="weight")
    assert graphs.node_labels.tolist() == ["C", "C", "O"]
    assert graphs.edge_labels.tolist() == ["single", "single", "double", "double"]
    np.testing.assert_array_equal(graphs.adjacency.toarray(), [[0, 1, 0], [1, 0, 2], [0, 2, 0]])


def test_directed_graphs_keep_their_direction():
    graphs = pk.from_igraph([igraph.Graph([(0, 1)], directed=True)])
    assert graphs.is_directed
    assert graphs.adjacency.toarray().tolist() == [[0, 1], [0, 0]]


def test_back_and_forth():
    graphs = pk.datasets.make_molecules(5, random_state=0).graphs
    assert pk.from_igraph(pk.convert.to_igraph(graphs)) == graphs


def test_graphs_without_nodes():
    assert pk.from_igraph([igraph.Graph(), igraph.Graph(2)]).graph_sizes.tolist() == [0, 2]


def test_faults_name_the_graph():
    negative = molecule()
    negative.es["weight"] = [1.0, -1.0]
    with pytest.raises(ValueError, match=r"graph 1: edge .* has weight -1\.0"):
        pk.from_igraph([molecule(), negative])
    with pytest.raises(TypeError, match="igraph"):
        pk.from_igraph([5])


@pytest.mark.parametrize("parameter", ["node_label", "edge_label", "weight", "target"])
def test_names_that_no_graph_has_are_errors(parameter):
    graph = igraph.Graph([(0, 1)])
    graph.vs["kind"], graph.es["type"], graph["level"] = ["a", "b"], ["s"], 1
    with pytest.raises(ValueError, match=f"no graph has {parameter}='Kind': there are"):
        pk.from_igraph([graph], **{parameter: "Kind"})
