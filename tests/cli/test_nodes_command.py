"""propkernels nodes fit, and nodes predict."""

import csv

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.cli.nodes_command import noted_columns
from propkernels.datasets.graph_tables import read_nodes


@pytest.fixture
def tables(tmp_path):
    """Two groups of nodes, half of them labelled, as two files."""
    graph = nx.stochastic_block_model([20, 20], [[0.3, 0.02], [0.02, 0.3]], seed=0)
    lines = ["from,to", *(f"n{u},n{v}" for u, v in graph.edges)]
    (tmp_path / "edges.csv").write_text("\n".join(lines))
    rows = [f"n{i},{'ab'[i // 20] if i % 2 else ''},{i % 7}" for i in range(40)]
    (tmp_path / "nodes.csv").write_text("\n".join(["name,topic,size", *rows]))
    return tmp_path


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.slow
def test_predictions_are_those_of_python(run, tables):
    options = ("--nodes", "nodes.csv", "--target", "topic", "--jobs", 1)
    result = run("nodes", "fit", "edges.csv", *options, "-o", "model.pk", "--predictions", "all.csv")
    assert result.exit_code == 0, result.stderr
    rows = rows_of(tables / "all.csv")
    found = read_nodes(tables / "edges.csv", tables / "nodes.csv", "topic")
    y = np.array(found.target, dtype=object)
    model = pk.NodeClassifier(random_state=0).fit(found.graph, y)
    assert [row["prediction"] for row in rows] == model.predict().tolist()
    assert [row["node"] for row in rows] == [f"n{i}" for i in range(40)]
    again = run(
        "nodes",
        "predict",
        "model.pk",
        "edges.csv",
        "--nodes",
        "nodes.csv",
        "--target",
        "topic",
        "-o",
        "new.csv",
    )
    assert again.exit_code == 0, again.stderr
    assert rows_of(tables / "new.csv") == rows


def test_tables_are_read_in_their_order(tables):
    found = read_nodes(tables / "edges.csv", tables / "nodes.csv", "topic")
    assert found.names[:2] == ["n0", "n1"]
    assert found.target[:2] == [None, "a"]
    assert found.graph.node_attributes[8].tolist() == [1.0]
    assert read_nodes(tables / "edges.csv", directed=True).graph.is_directed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--target", "subject"), "has no column 'subject'"),
        (("--target", "size", "--attributes", "topic"), "has topic 'a', which is not a number"),
        (("--target", "topic", "--attributes", "weight"), "has no column 'weight'"),
    ],
)
def test_refusals(run, tables, options, words):
    result = run("nodes", "fit", "edges.csv", "--nodes", "nodes.csv", "-o", "model.pk", *options)
    assert result.exit_code != 0
    assert words in result.stderr


@pytest.mark.slow
def test_columns_are_known_by_their_names_and_directions_stay(run, tables):
    rows = [f"n{i},{'ab'[i // 20] if i % 2 else ''},{i % 7},{i // 20 + i % 3}" for i in range(40)]
    (tables / "nodes.csv").write_text("\n".join(["name,topic,size,age", *rows]))
    moved = [",".join(row.split(",")[k] for k in (0, 3, 1, 2)) for row in ["name,topic,size,age", *rows]]
    (tables / "moved.csv").write_text("\n".join(moved))
    fit = run(
        *("nodes", "fit", "edges.csv", "--nodes", "nodes.csv", "--target", "topic", "--directed"),
        *("--jobs", 1, "-o", "model.pk"),
    )
    assert fit.exit_code == 0, fit.stderr
    for name, extra in (("nodes", ("--directed",)), ("moved", ())):
        result = run(
            "nodes", "predict", "model.pk", "edges.csv", "--nodes", f"{name}.csv", "-o", name, *extra
        )
        assert result.exit_code == 0, result.stderr
    assert rows_of(tables / "moved") == rows_of(tables / "nodes")
    without = run("nodes", "predict", "model.pk", "edges.csv", "-o", "none.csv")
    assert "the column 'size' is needed: give the table of nodes, too" in without.stderr


def test_an_edge_that_is_listed_twice_is_one(tmp_path):
    (tmp_path / "edges.csv").write_text("from,to\na,b\na,b\nb,c\nc,b\n")
    graph = read_nodes(tmp_path / "edges.csv").graph
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("note", ["{", "1", "[1]", '{"labels": 2}', '{"weight": [1]}'])
def test_notes_that_are_no_names_are_refused(note):
    with pytest.raises(ValueError, match="notes no columns"):
        noted_columns({"columns": note})
