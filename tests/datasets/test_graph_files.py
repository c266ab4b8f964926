"""Graph files: every format gives the graphs that were written, and faults are one sentence."""

import json

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import open_source
from tests.kinds_of_input import networkx_graphs, write_kind

pytest.importorskip("pandas")


@pytest.mark.parametrize("kind", ["json", "jsonl", "edges"])
def test_graphs_equal_those_of_networkx(kind, tmp_path):
    data = open_source(write_kind(kind, tmp_path))
    written = networkx_graphs() if kind.startswith("json") else sorted_like(kind, data.graphs.ids)
    plain = {"node_label": None, "node_attributes": None, "edge_label": None}
    expected = pk.from_networkx(written, node_label="kind", edge_label="type", node_attributes=["mass"])
    if kind == "edges":
        expected = pk.from_networkx(written, **plain)
    assert np.array_equal(np.sort(data.graphs.degrees), np.sort(expected.degrees))
    kernel = pk.WeisfeilerLehman(t_max=2)
    assert np.array_equal(kernel.fit_transform(data.graphs), kernel.fit_transform(expected))
    assert data.target.tolist() == [graph.graph["target"] for graph in written]
    if kind != "edges":
        assert data.graphs.node_attributes.shape == (72, 1)


def sorted_like(kind, ids):
    graphs = networkx_graphs()
    return [graphs[int(name.split("/g")[1].removesuffix(f".{kind}"))] for name in ids]


def test_directed_graphs_among_others(tmp_path):
    links = [nx.node_link_data(graph, edges="edges") for graph in (nx.DiGraph([(0, 1)]), nx.Graph([(0, 1)]))]
    (tmp_path / "x.json").write_text(json.dumps(links))
    graphs = open_source(tmp_path / "x.json", target_required=False).graphs
    assert graphs.adjacency.toarray()[:2, :2].tolist() == [[0, 1], [0, 0]]
    assert graphs.adjacency.toarray()[2:, 2:].tolist() == [[0, 1], [1, 0]]


def test_lists_of_numbers_are_attributes(tmp_path):
    nodes = [{"id": "a", "attributes": [1, 2.5]}, {"id": "b", "attributes": [0, 0]}]
    (tmp_path / "x.json").write_text(json.dumps({"nodes": nodes, "links": [{"source": "a", "target": "b"}]}))
    graphs = open_source(tmp_path / "x.json", target_required=False).graphs
    assert graphs.node_attributes.tolist() == [[1, 2.5], [0, 0]]


def test_classes_of_edge_lists_may_be_numbers(tmp_path):
    for name, text in (("1/a.edges", "a b 0.5\n"), ("0/b.edges", "a b 2\nb c 1\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    data = open_source(tmp_path)
    assert data.target.tolist() == [0, 1]
    assert data.graphs.adjacency.sum() == 2 * (2 + 1 + 0.5)
