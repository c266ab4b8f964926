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


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "{", "cannot be read as JSON"),
        ("x.json", "[" * 100_000, "cannot be read as JSON"),
        ("x.json", '{"a": 1}', "graph 0 is not a node-link graph"),
        ("x.json", '{"nodes": [], "links": [{"source": 1}]}', "'target' is missing"),
        ("x.json", '{"nodes": [{"id": [1]}], "links": []}', "a part of it is of the wrong kind"),
        ("x.edges", "a b c d\n", "line 1 has 4 words"),
        ("x.edges", b"\xff\xfe", "cannot be read as an edge list"),
    ],
)
def test_faults_are_one_sentence(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        open_source(path, target_required=False)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("x.graphml", "networkx.read_graphml and pass the graphs to pk.from_networkx"),
        ("x.DOT", "networkx.nx_pydot.read_dot and pass the graphs to pk.from_networkx"),
        ("x.gv", "networkx.nx_pydot.read_dot and pass the graphs to pk.from_networkx"),
        ("x.gxl", "a parser of XML and pass the graphs to pk.from_networkx"),
        ("x.ply", "trimesh.load and pass the vertices to pk.from_points"),
    ],
)
def test_files_that_other_libraries_read(name, remedy, tmp_path):
    path = tmp_path / name
    path.write_text("x")
    for read, place in ((open_source, path), (pk.datasets.load, str(path)), (pk.scale.partition, path)):
        with pytest.raises(ValueError) as caught:
            read(place)
        assert str(caught.value) == f"{place}: read it with {remedy}"
    with pytest.raises(ValueError) as caught:
        open_source(tmp_path)
    assert str(caught.value) == f"{path}: read it with {remedy}"


def test_classes_of_edge_lists_may_be_numbers(tmp_path):
    for name, text in (("1/a.edges", "a b 0.5\n"), ("0/b.edges", "a b 2\nb c 1\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    data = open_source(tmp_path)
    assert data.target.tolist() == [0, 1]
    assert data.graphs.adjacency.sum() == 2 * (2 + 1 + 0.5)


def test_folders_of_several_formats_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"nodes": [], "links": []}')
    (tmp_path / "b.edges").write_text("a b\n")
    with pytest.raises(ValueError, match=r"has files of several formats \(.edges, .json\)"):
        open_source(tmp_path, target_required=False)
