"""propkernels explain."""

import json
import re
import shutil
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import Diffusion
from tests.cli.conftest import QUICK


def test_contributions_are_those_of_python(run, small_folder, model_file):
    result = run("explain", model_file, small_folder, "--graph", 5, "--top", 3)
    assert (result.exit_code, result.stderr) == (0, "")
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    prediction = model.predict(graphs[[5]])[0]
    expected = model.explain(graphs[[5]])
    lines = result.stdout.splitlines()
    assert lines[0] == f"Graph 5 of SMALL: predicted {prediction}."
    rows = [line.split() for line in lines[4:7]]
    assert [row[0] for row in rows] == [str(node["node"]) for node in expected.top_nodes(0, 3)]
    assert [row[2] for row in rows] == [f"{node['total']:+.4f}" for node in expected.top_nodes(0, 3)]
    assert f"decision {expected.decisions[0]:+.4f}." in lines[-1]
    assert (
        "Contributions for class 0" in run("explain", model_file, small_folder, "-g", 0, "--class", 0).stdout
    )


@pytest.mark.slow
def test_picture(run, small_folder, model_file, tmp_path):
    result = run("explain", model_file, small_folder, "-g", 2, "-o", "picture.png")
    assert result.stdout.endswith("Wrote picture.png.\n")
    image = matplotlib.image.imread(tmp_path / "picture.png")
    assert min(image.shape[:2]) > 300
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 20
    assert run("explain", model_file, small_folder, "-g", 2, "-o", "picture.svg").exit_code == 0
    assert "<svg" in (tmp_path / "picture.svg").read_text()
    assert [path.name for path in sorted(tmp_path.glob("*.*"))] == ["picture.png", "picture.svg"]


def test_regression_is_explained(run, numbers):
    run("fit", numbers, "-o", "model.pk", "--target", 1, *QUICK)
    assert "Contributions for a larger prediction" in run("explain", "model.pk", numbers, "-g", 1).stdout
    edits = run("explain", "model.pk", numbers, "-g", 1, "--flips", "--class", 1)
    assert edits.exit_code == 0, edits.stderr


def test_nodes_are_explained_by_name(run, tmp_path):
    """Tables of ten chains whose residues have names."""
    edges, nodes, graphs = ["graph,source,target"], ["graph,node,aa,bfactor"], ["graph,target"]
    for i in range(10):
        names = [f"{'AB'[i % 2]}:{k + 1}" for k in range(4 + i % 3)]
        nodes += [f"p{i},{name},{'GLV'[(i + k) % 3]},{k + 0.5}" for k, name in enumerate(names)]
        edges += [f"p{i},{one},{other}" for one, other in pairwise(names)]
        graphs.append(f"p{i},{i % 2}")
    for kind, lines in (("edges", edges), ("nodes", nodes), ("graphs", graphs)):
        (tmp_path / f"{kind}.csv").write_text("\n".join(lines) + "\n")
    assert run("fit", "edges.csv,nodes.csv,graphs.csv", "-o", "model.pk", "--jobs", 1).exit_code == 0
    words = ("explain", "model.pk", "edges.csv,nodes.csv,graphs.csv", "--graph", 3, "--top", 2)
    assert "B:" in run(*words).output
    first = json.loads(run(*words, "--format", "json").stdout)[0]
    assert first["name"] == f"B:{first['node'] + 1}"


def test_atoms_of_a_known_set_are_called_by_name(run, small_folder, model_file, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "MUTAG"
    folder.mkdir(parents=True)
    for path in small_folder.glob("*.txt"):
        shutil.copy(path, folder / path.name.replace("SMALL", "MUTAG"))
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path / "data"))
    names = ["C", "N", "O", "F", "I", "Cl", "Br"]
    command = ("explain", model_file, "MUTAG", "-g", 5, "--top", 3)
    result = run(*command)
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    expected = model.explain(graphs[[5]]).top_nodes(0, 3)
    shown = [line.split()[1] for line in result.stdout.splitlines()[4:7]]
    assert shown == [names[node["label"]] for node in expected]
    records = json.loads(run(*command, "--format", "json").stdout)
    assert [record["label"] for record in records] == shown


# --flips


@pytest.fixture(scope="module")
def sum_model(small_folder, tmp_path_factory):
    """A model of SMALL with the sum of neighbors."""
    data = pk.datasets.read_tu(small_folder)
    kernel = pk.PropagationKernel(propagation=Diffusion(0.5, "none"), t_max=1)
    model = pk.PropagationClassifier(kernel=kernel, C=10.0, cv=2, random_state=0)
    path = tmp_path_factory.mktemp("model") / "model.pk"
    pk.save_model(model.fit(data.graphs, data.target), path)
    return path


def test_the_table_of_edits_is_that_of_python(run, sum_model, small_folder):
    command = ("explain", sum_model, small_folder, "--graph", 3, "--flips", "--top", 4)
    result = run(*command)
    data = pk.datasets.read_tu(small_folder)
    expected = pk.load_model(sum_model).counterfactuals(data.graphs[3], 2, 4)
    assert result.exit_code == 0
    assert " ".join(str(expected).split()) in " ".join(result.stdout.split())
    assert "Graph 3 of SMALL" in result.stdout
    records = json.loads(run(*command, "--format", "json").stdout)
    assert [record["edits"] for record in records] == [record["edits"] for record in expected.records()]


def test_the_decision_has_the_sign_of_the_contributions(run, sum_model, small_folder):
    for graph in (3, 4):
        explained = run("explain", sum_model, small_folder, "-g", graph).stdout
        edited = run("explain", sum_model, small_folder, "-g", graph, "--flips").stdout
        decisions = [re.search(r"decision ([+-]\d+\.\d+)", text).group(1) for text in (explained, edited)]
        assert float(decisions[0]) == pytest.approx(float(decisions[1]), abs=1e-4)
