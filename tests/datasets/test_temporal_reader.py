"""Reader of graphs in time: layout, and faults by file and line."""

import numpy as np
import pytest

import propkernels as pk

pytest.importorskip("pandas")
FILES = {
    "A": "1, 2\n2, 3\n4, 5\n",
    "edge_attributes": "1\n2\n7\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "0\n1\n",
    "node_labels": "0, 0, 2, 1\n0, 0\n0, 1\n0, 0\n0, 0\n",
}


def folder(path, **changed):
    for kind, text in (FILES | changed).items():
        if text is not None:
            (path / f"met_{kind}.txt").write_text(text)
    return path


def test_graphs_labels_and_times(tmp_path):
    data = pk.datasets.read_temporal(folder(tmp_path))
    assert data.name == "met"
    assert data.target.tolist() == [0, 1]
    assert data.graphs.graph_sizes.tolist() == [5, 2]  # vertex 1 changes its label after its contact
    assert data.graphs[0].node_labels.tolist() == [0, 1, 0, 0, 1]
    np.testing.assert_array_equal(data.graphs.moments.times, [1, 2, 1, 2, 2, 7, 7])


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("edge_attributes", "1\n2\n", "has 2 times for 3 contacts"),
        ("A", "1, 2\n2, 3\n4, 9\n", "line 3 names node 9, but .* has the nodes 1 to 5"),
        ("A", "1, 2\n2, 4\n4, 5\n", "line 2 joins node 2 of graph 1 and node 4 of graph 2"),
        ("node_labels", "0, 1.7\n0, 0\n0, 1\n0, 0\n0, 0\n", "line 1: .* whole numbers as labels"),
        ("node_labels", "0, inf\n0, 0\n0, 1\n0, 0\n0, 0\n", "line 1: .* whole numbers as labels"),
        ("edge_attributes", None, "is missing: it has the times of the contacts"),
        ("node_labels", "0, 0\n", "has 1 lines for 5 vertices"),
        ("node_labels", "0, 0\n0, 0\n0\n0, 0\n0, 0\n", "line 3"),
    ],
)
def test_faults_name_file_and_line(tmp_path, kind, text, message):
    with pytest.raises(ValueError, match=f"met_{kind}.txt.*{message}"):
        pk.datasets.read_temporal(folder(tmp_path, **{kind: text}))
