"""TU data sets, read as graphs: nodes and edges in order, faults named by file and line."""

import numpy as np
import pytest

from propkernels.datasets import read_tu
from propkernels.datasets.tu import TuFiles
from tests.datasets.tiny import TINY, read, with_changes, write_folder, write_zip


def edges(data):
    rows, columns = data.graphs.adjacency.tocoo().coords
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def test_the_tiny_set(tmp_path):
    data = read(tmp_path, README="A tiny set.\n")
    assert data.name == "TINY"
    assert data.graphs.graph_ptr.tolist() == [0, 3, 6]
    assert edges(data) == [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]
    assert data.graphs.node_labels is not None
    assert data.graphs.node_labels.tolist() == [0, 3, 0, 7, 3, 9]
    assert data.target.tolist() == [1, -1]
    assert data.target.dtype == np.int64
    assert data.description == "A tiny set."
    assert data.graphs.node_attributes is data.graphs.edge_labels is None
    assert data.extras == {}
    assert repr(data) == "Dataset(TINY: 2 graphs, 6 nodes, 3 edges, 4 node labels, 2 classes)"
    repeated = read(tmp_path / "twice", A=TINY["A"] * 2)
    assert repeated.graphs == data.graphs
    assert repeated.graphs.is_unweighted
    one_way = read(tmp_path / "one way", A="1,2\n")
    assert edges(one_way) == [(0, 1)]
    assert one_way.graphs.is_directed
    assert one_way.graphs.graph_sizes.tolist() == [3, 3]
    gap = read(tmp_path / "gap", A="", graph_labels="1\n0\n1\n", graph_indicator="1\n1\n1\n3\n3\n3\n")
    assert gap.graphs.graph_sizes.tolist() == [3, 0, 3]
    assert gap.graphs.n_edges == 0


def test_folder_and_zip_are_the_same(tmp_path):
    folder = read(tmp_path)
    for inside in ("TINY", "", "some/where"):
        archive = read_tu(write_zip(tmp_path / "any.zip", TINY, folder=inside))
        assert archive.graphs == folder.graphs
        assert archive.name == "TINY"


# the traps


def test_unsorted_indicator(tmp_path):
    # the same graphs, with the file's nodes 1..6 being nodes 4, 1, 5, 2, 3, 6 of the tiny set
    data = read(
        tmp_path,
        graph_indicator="2\n1\n2\n1\n1\n2\n",
        A="2,4\n4,2\n4,5\n5,4\n1,3\n3,1\n",
        node_labels="7\n0\n3\n3\n0\n9\n",
        node_attributes="4\n1\n5\n2\n3\n6\n",
        coordinates="4,0\n1,0\n5,0\n2,0\n3,0\n6,0\n",
        edge_labels="12\n21\n23\n32\n45\n54\n",
    )
    labels = "12\n21\n23\n32\n45\n54\n"
    sorted_set = read(tmp_path / "sorted", node_attributes="1\n2\n3\n4\n5\n6\n", edge_labels=labels)
    assert data.graphs == sorted_set.graphs
    assert data.extras["coordinates"][:, 0].tolist() == [1, 2, 3, 4, 5, 6]


def test_edge_labels_follow_their_edges(tmp_path):
    data = read(tmp_path, A="5,4\n4,5\n3,2\n2,3\n2,1\n1,2\n", edge_labels="1\n2\n3\n4\n5\n6\n")
    assert data.graphs.edge_labels is not None
    assert dict(zip(edges(data), data.graphs.edge_labels.tolist(), strict=True)) == {
        (4, 3): 1, (3, 4): 2, (2, 1): 3, (1, 2): 4, (1, 0): 5, (0, 1): 6,
    }  # fmt: skip


def test_repeated_lines_that_differ_are_parallel_edges(tmp_path):
    data = read(tmp_path, A="1,2\n2,1\n1,2\n1,2\n", edge_labels="5\n6\n7\n5\n")
    assert data.graphs.has_parallel_edges
    labels = data.graphs.edge_labels
    assert labels is not None
    assert sorted(zip(edges(data), labels.tolist(), strict=True)) == [((0, 1), 5), ((0, 1), 7), ((1, 0), 6)]
    assert data.graphs.is_unweighted
    data = read(tmp_path / "other", A="1,2\n2,1\n1,2\n", edge_attributes="1,2\n1,2\n1,3\n")
    assert data.graphs.adjacency.nnz == 3


def test_several_columns_of_labels_are_tuples(tmp_path):
    data = read(tmp_path, node_labels="1,2\n1,3\n1,2\n0,-1\n1,3\n5,5\n", edge_labels="1,1\n" * 6)
    assert data.graphs.node_labels is not None
    assert data.graphs.node_labels.tolist() == [(1, 2), (1, 3), (1, 2), (0, -1), (1, 3), (5, 5)]
    assert data.graphs.edge_label_column is not None
    assert data.graphs.edge_label_column.present == ((1, 1),)


def test_regression_targets(tmp_path):
    one = read(tmp_path, graph_labels=None, graph_attributes=" 0.5\n1\n")
    assert one.target.tolist() == [0.5, 1.0]
    assert one.n_classes is None
    assert repr(one).endswith("1 target column)")
    several = read(tmp_path / "b", graph_labels=None, graph_attributes="1,2\n3,4\n")
    assert several.target.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    both = read(tmp_path / "c", graph_attributes="1.5\n2.5\n")
    assert both.target.tolist() == [1, -1]
    assert both.extras["graph_attributes"].tolist() == [[1.5], [2.5]]


def test_extra_files(tmp_path):
    data = read(
        tmp_path,
        coordinates="1, 2, 3\n" * 6,
        normals="0, 0, 1\n" * 6,
        smiles="CC O\r\n[Cl-]\r\n",
        map_id2im="1\ta.bmp\n",
        label_readme="0: carbon\n",
    )
    assert data.extras["coordinates"].shape == data.extras["normals"].shape == (6, 3)
    assert data.extras["smiles"] == ["CC O", "[Cl-]"]
    assert data.extras["map_id2im"] == ["1\ta.bmp"]
    assert data.description == "0: carbon"
    assert "label_readme" not in data.extras


# bad files

N, INDICATOR, LABELS = "TINY_node", "TINY_graph_indicator.txt", "TINY_graph_labels.txt"
BAD = [
    ({"A": "1, 2\n2, 7\n"}, f"line 2 names node 7, but {INDICATOR} has the nodes"),
    ({"A": "1, 2\n0, 1\n"}, "TINY_A.txt, line 2 names node 0, but"),
    ({"A": "1, 2\n2, 1\n3, 4\n"}, "line 3 joins node 3 of graph 1 and node 4 of graph 2"),
    ({"A": "1, 2\n2,"}, "TINY_A.txt, line 2 has 1 value instead of 2"),
    ({"A": "1, 2\n2, one\n"}, "TINY_A.txt, line 2: 'one' is not a whole number"),
    ({"node_labels": "0\n3\n"}, f"{N}_labels.txt has 2 lines, but {INDICATOR} has 6"),
    ({"node_attributes": "0.5\n" * 5}, f"{N}_attributes.txt has 5 lines, but {INDICATOR}"),
    ({"node_attributes": "1\ninf\n" * 3}, "line 2: 'inf' is not a finite number"),
    ({"edge_labels": "1\n" * 7}, "TINY_edge_labels.txt has 7 lines, but TINY_A.txt has 6"),
    ({"edge_attributes": "1\n" * 5}, "_edge_attributes.txt has 5 lines, but TINY_A.txt"),
    ({"coordinates": "1\n"}, f"TINY_coordinates.txt has 1 lines, but {INDICATOR} has 6"),
    ({"smiles": "C\n"}, f"TINY_smiles.txt has 1 lines, but {LABELS} has 2"),
    ({"node_label_names": "C\n"}, f"{N}_label_names.txt has 1 lines, but a label is"),
    ({"graph_labels": "1\n"}, f"{INDICATOR}, line 4 names graph 2, but {LABELS[:-4]}"),
    ({"graph_labels": "1\n1\n1\n"}, f"but the last graph that {INDICATOR} names is 2"),
    ({"graph_indicator": "0\n0\n0\n1\n1\n1\n"}, "line 1 names graph 0, but graphs are counted from 1"),
    ({"graph_labels": "", "graph_indicator": ""}, f"{LABELS} is empty"),
    ({"graph_indicator": None}, f"the data set TINY has no file {INDICATOR}"),
    ({"graph_labels": None}, f"the data set TINY has no file {LABELS}"),
]


def test_without_a_target(tmp_path):
    data = read_tu(write_folder(tmp_path, with_changes(graph_labels=None)), target_required=False)
    assert data.target.shape == (2, 0)
    assert data.graphs == read(tmp_path / "whole").graphs
    assert "0 target columns" in repr(data)


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_files(tmp_path, changes, message):
    with pytest.raises(ValueError) as caught:
        read(tmp_path, **changes)
    assert message in str(caught.value)
    with pytest.raises(ValueError) as again:
        read_tu(write_zip(tmp_path / "TINY.zip", with_changes(**changes)))
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize(
    ("values", "n_edges"), [("5\n6\n5", 2), ("nan\n6\nnan", 2), ("5\n6\n7", 3), (None, 2)]
)
def test_repeated_lines_are_compared(values, n_edges):
    files = {"A": b"1,2\n2,1\n1,2", "graph_indicator": b"1\n1", "graph_labels": b"0"}
    files |= {} if values is None else {"edge_attributes": values.encode()}
    graphs = TuFiles("X", files).assemble().graphs
    assert graphs.adjacency.nnz == n_edges
    assert graphs.is_unweighted


def test_graphs_that_are_only_counted_are_in_proportion_to_the_file(tmp_path):
    files = {"A": "", "graph_indicator": "1\n9000000000\n"}
    folder = write_folder(tmp_path / "TINY", files)
    message = "9,000,000,000 graphs are declared beside 2 lines of TINY_graph_indicator.txt, which allow"
    with pytest.raises(ValueError, match=message):
        read_tu(folder, target_required=False)
