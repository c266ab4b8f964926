"""propkernels similar."""

import csv
import io
import json
import re
import shutil

import numpy as np
import pytest

import propkernels as pk


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
    table = run("similar", "index.pk", "--from", small_folder, "-g", 3)
    assert "by the Jaccard similarity of\nWeisfeilerLehman(t_max=2)" in table.stdout


def test_graph_of_another_data_set(run, small_folder, tmp_path):
    other = shutil.copytree(small_folder, tmp_path / "OTHER")
    found = rows(run("similar", small_folder, "--from", other, "-g", 3, "-k", 1))
    assert found[0][:2] == ["3", "1.0000"]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["wl", "labels", "shortest-path", "graph-hopper", "auto"])
def test_kernels(run, small_folder, kernel):
    assert len(rows(run("similar", small_folder, "-g", 0, "--kernel", kernel, "-k", 3))) == 3


def test_without_targets(run, small_folder, tmp_path):
    folder = shutil.copytree(small_folder, tmp_path / "SMALL")
    (folder / "SMALL_graph_labels.txt").unlink()
    assert all(len(row) == 3 for row in rows(run("similar", folder, "-g", 0)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("SMALL", "-g", 40), "SMALL has graphs 0 to 39, got 40"),
        (("SMALL", "-g", 1, "--kernel", "p2k"), "attributes are requested, but the graphs have no node"),
        (("kernel.pk", "--from", "SMALL", "-g", 1), "kernel.pk contains a PropagationKernel, not an index"),
        (("index.pk", "-g", 1), "index.pk is an index: name the data set of the query graph with --from"),
        (("index.pk", "--from", "SMALL", "-g", 40), "SMALL has graphs 0 to 39, got 40"),
    ],
)
def test_errors(run, small_folder, tmp_path, options, message):
    pk.save_model(pk.PropagationKernel(), tmp_path / "kernel.pk")
    pk.save_model(pk.GraphIndex().fit(pk.datasets.read_tu(small_folder).graphs), tmp_path / "index.pk")
    result = run("similar", *(small_folder if word == "SMALL" else word for word in options))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"propkernels: {message}")
    assert result.stderr.count("\n") == 1


def test_graph_must_be_named(run, small_folder):
    assert run("similar", small_folder).exit_code == 2


def test_formats_for_programs(run, small_folder):
    command = ("similar", small_folder, "-g", 3, "-k", 2, "--format")
    as_json = json.loads(run(*command, "json").stdout)
    as_csv = list(csv.DictReader(io.StringIO(run(*command, "csv").stdout)))
    assert [list(record) for record in as_json] == [["graph", "similarity", "target", "nodes"]] * 2
    assert [{key: str(value) for key, value in record.items()} for record in as_json] == as_csv
    assert f"{as_json[0]['similarity']:.4f}" == rows(run(*command, "table"))[0][1]


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
    assert "by PropagationKernel(t_max=5)" in shared.stdout


def test_graphs_are_called_by_their_names(run):
    result = run("similar", "FAMILIES", "-g", 316, "-k", 1)
    assert "graph 316 of FAMILIES (trimipramine)" in result.stdout
    assert re.search(r"302 +imipramine +0\.\d{4} +tricyclic", result.stdout)


def test_images_are_listed_by_file(run, tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for i in range(4):
        pixels = rng.integers(0, 255, (6, 6)).astype(np.uint8)
        image.fromarray(pixels).save(tmp_path / f"leaf{i}.png")
    result = run("similar", tmp_path, "-g", 0, "-k", 2, "--format", "json", "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [record["name"] for record in found] == [f"leaf{record['graph']}.png" for record in found]
