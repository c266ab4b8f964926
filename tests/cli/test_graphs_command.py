"""propkernels similar, novelty, nodes and featurize."""

import csv
import json
import shutil

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.cli.nodes_command import noted_columns
from propkernels.datasets.graph_tables import read_nodes

# similar command


def rows(result):
    """Cells of the printed table: graph, similarity, target, nodes."""
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["graph", "similarity"])
    return [line.split() for line in lines[start + 1 :]]


def test_table_says_what_python_says(run, small_folder):
    found = rows(run("similar", small_folder, "-g", 3, "-k", 4, "--t-max", 2, "--seed", 5))
    data = pk.datasets.read_tu(small_folder)
    kernel = pk.PropagationKernel(t_max=2, random_state=5)
    similarities, ids = pk.GraphIndex(kernel=kernel).fit(data.graphs).query(data.graphs[3], k=5)
    expected = [
        [str(i), f"{value:.4f}", str(data.target[i]), str(data.graphs.graph_sizes[i])]
        for i, value in zip(ids, similarities, strict=True)
        if i != 3
    ]
    assert found == expected


def test_a_saved_index_is_searched(run, small_folder, tmp_path):
    data = pk.datasets.read_tu(small_folder)
    index = pk.GraphIndex(kernel=pk.WeisfeilerLehman(t_max=2), similarity="jaccard")
    pk.save_model(index.fit(data.graphs, ids=[f"m{i}" for i in range(40)]), tmp_path / "index.pk")
    result = run("similar", "index.pk", "--from", small_folder, "-g", 3, "-k", 4, "--format", "json")
    expected = index.query(data.graphs[3], k=4)
    found = json.loads(result.stdout)
    assert [record["graph"] for record in found] == expected.ids.tolist()
    assert [record["similarity"] for record in found] == expected.similarities.tolist()
    result = run("similar", "index.pk", "--from", small_folder, "-g", 3, "-k", 4, "-o", "similar.csv")
    assert result.stdout.endswith("\nWrote similar.csv.\n")
    lines = (tmp_path / "similar.csv").read_text().splitlines()
    assert lines == ["graph,similarity", *(f"{one['graph']},{one['similarity']}" for one in found)]
    assert "similar.csv exists" in run("similar", "index.pk", "-g", 3, "-o", "similar.csv").stderr
    table = run("similar", "index.pk", "--from", small_folder, "-g", 3)
    assert "by the Jaccard similarity of\nWeisfeiler-Lehman (t_max 2)" in table.stdout


def test_graph_of_another_data_set(run, small_folder, tmp_path):
    other = shutil.copytree(small_folder, tmp_path / "OTHER")
    (other / "SMALL_graph_labels.txt").unlink()
    found = rows(run("similar", small_folder, "--from", other, "-g", 3, "-k", 1))
    assert found[0][:2] == ["3", "1.0000"]
    assert all(len(row) == 3 for row in rows(run("similar", other, "-g", 0)))


def test_molecules_are_compared_as_fingerprints_are(run, tmp_path):
    pytest.importorskip("rdkit")
    smiles = ["CO", "NC", "FC", "OCC", "CC", "c1ccccc1"]
    (tmp_path / "m.csv").write_text("\n".join(["smiles", *smiles]) + "\n")
    result = run("similar", "m.csv", "-g", 0, "-k", 5)
    assert result.exit_code == 0, result.output
    assert "by the Jaccard similarity of" in result.stdout
    rows = [
        line.split() for line in result.stdout.splitlines() if line.split() and line.split()[-1] in smiles
    ]
    assert rows[0][-1] == "OCC"  # shares its hydroxyl; amine and fluoride share a methyl alone
    shared = run("similar", "m.csv", "-g", 0, "-k", 5, "--kernel", "propagation")
    assert "by propagation kernel (t_max 5)" in shared.stdout


# novelty command


def test_scores_are_those_of_python(run, small_folder, tmp_path):
    result = run("novelty", small_folder, small_folder, "-o", "scores.csv", "--seed", 3, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader((tmp_path / "scores.csv").read_text().splitlines()))
    graphs = pk.datasets.read_tu(small_folder).graphs
    detector = pk.NoveltyDetector(random_state=3).fit(graphs)
    np.testing.assert_allclose([float(row["score"]) for row in rows], detector.score_samples(graphs))
    np.testing.assert_allclose([float(row["p_value"]) for row in rows], detector.predict_p(graphs))
    assert [row["novel"] == "yes" for row in rows] == (detector.predict(graphs) == -1).tolist()
    assert "are unlike the" in result.stdout
    result = run("novelty", small_folder, small_folder, "--format", "json", "--top", 3)
    assert len(json.loads(result.stdout)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("options", [("-o", "scores.csv", "-o", "graph.png"), ("-o", "graph.png")])
def test_explained_graph_is_drawn(run, small_folder, tmp_path, options):
    pytest.importorskip("matplotlib")
    result = run("novelty", small_folder, small_folder, "-g", 2, *options)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "scores.csv").exists() == ("scores.csv" in options)
    assert "Graph 2 of " in result.stdout
    assert "first_unseen_t" in result.stdout


# featurize command

pytest.importorskip("pyarrow")


@pytest.fixture
def database(small_data, tmp_path):
    path = tmp_path / "graphs.parquet"
    small_data.graphs.to_parquet(path, target=small_data.target, row_group_size=5)
    return path


def test_features_are_written_and_resumed(run, database, small_data, monkeypatch):
    monkeypatch.setattr("propkernels.cli.featurize_command.NODES_PER_PART", 300)
    command = ("featurize", database, "-o", "out", "--n-features", 1024, "--t-max", 2, "-j", 1)
    first = run(*command)
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("1 file, ")
    assert "Wrote out: 40 graphs, 1,024 columns" in first.stdout
    opened = pk.scale.open_features("out")
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0)
    assert (opened.to_scipy() != features.fit_transform(small_data.graphs)).nnz == 0
    expected = opened.to_scipy()
    opened.path(0).unlink()
    again = run(*command)
    assert f"Resuming: {opened.n_parts - 1} of {opened.n_parts} parts" in again.stdout
    assert (pk.scale.open_features("out").to_scipy() != expected).nnz == 0


def test_molecules_with_faults(run, tmp_path, monkeypatch):
    monkeypatch.setattr("propkernels.cli.featurize_command.NODES_PER_PART", 1)
    pytest.importorskip("rdkit")
    (tmp_path / "drugs.csv").write_text("molecule,dose\nnothing,2\nCCO,1\n")
    command = ("featurize", "drugs.csv", "-o", "out", "--smiles", "molecule", "--target", "dose")
    failed = run(*command, "-j", 1)
    assert failed.exit_code == 1
    assert "1 of 2 parts failed, all others are complete: part 0 (" in failed.stderr
    skipped = run(*command[:3], "skipped", *command[4:], "--errors", "skip")
    assert skipped.exit_code == 0
    assert skipped.stderr.startswith("propkernels: skipped")
    assert pk.scale.open_features("skipped").target.tolist() == [1]


# nodes command


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
    options = ("--nodes", "nodes.csv", "--target", "topic", "-o", "new.csv")
    again = run("nodes", "predict", "model.pk", "edges.csv", *options)
    assert again.exit_code == 0, again.stderr
    assert rows_of(tables / "new.csv") == rows


@pytest.mark.slow
def test_key_columns_of_nodes_have_any_name(run, tables):
    rows = [row.split(",") for row in (tables / "edges.csv").read_text().splitlines()[1:]]
    lines = [f"{number},{a},{b}" for number, (a, b, *_) in enumerate(rows)]
    (tables / "roads.csv").write_text("\n".join(["km,begin,end", *lines]))
    keys = [part for key in ("source=begin", "target=end", "weight=km") for part in ("--column", key)]
    options = ("--nodes", "nodes.csv", "--target", "topic")
    assert run("nodes", "fit", "roads.csv", *options, *keys, "-o", "roads.pk").exit_code == 0
    found = read_nodes(tables / "roads.csv", keys={"source": "begin", "target": "end", "weight": "km"})
    assert found.graph.adjacency.sum() == 2 * sum(range(len(rows)))
    assert sorted(found.names) == sorted({end for row in rows for end in row[:2]})
    again = run("nodes", "predict", "roads.pk", "roads.csv", *options[:2], *keys[:4], "-o", "roads.csv.out")
    assert again.exit_code == 0
    by_place = run("nodes", "fit", "roads.csv", *options, "-o", "x.pk")  # km and begin come first
    assert "the column 'end' has nodes, and is not one of the first two: name both" in by_place.stderr
    one = run("nodes", "fit", "roads.csv", *options, *keys[:2], "-o", "x.pk")
    assert "roads.csv: name both ends by --column source=... --column target=..." in one.stderr
    wrong = run("nodes", "fit", "roads.csv", *options, "--column", "graph=km", "-o", "x.pk")
    assert "must be one of 'node', 'source', 'target', 'weight'" in wrong.stderr


def test_columns_are_known_by_their_names(run, tables):
    rows = [f"n{i},{'ab'[i // 20] if i % 2 else ''},{i % 7},{i // 20 + i % 3}" for i in range(40)]
    (tables / "nodes.csv").write_text("\n".join(["name,topic,size,age", *rows]))
    moved = [",".join(row.split(",")[k] for k in (0, 3, 1, 2)) for row in ["name,topic,size,age", *rows]]
    (tables / "moved.csv").write_text("\n".join(moved))
    fit = run(
        *("nodes", "fit", "edges.csv", "--nodes", "nodes.csv", "--target", "topic"),
        *("--jobs", 1, "-o", "model.pk"),
    )
    assert fit.exit_code == 0, fit.stderr
    for name in ("nodes", "moved"):
        result = run("nodes", "predict", "model.pk", "edges.csv", "--nodes", f"{name}.csv", "-o", name)
        assert result.exit_code == 0, result.stderr
    assert rows_of(tables / "moved") == rows_of(tables / "nodes")
    without = run("nodes", "predict", "model.pk", "edges.csv", "-o", "none.csv")
    assert "nodes has no column 'size'" in without.stderr


@pytest.mark.parametrize("note", ["{", "1", "[1]", '{"weight": null, "label": 2}', '{"weight": [1]}'])
def test_notes_that_are_no_names_are_refused(note):
    with pytest.raises(ValueError, match="notes no columns"):
        noted_columns({"columns": note})
