"""Commands on tables of molecules, and on tables of edges and nodes."""

import json
from itertools import pairwise

import pytest


@pytest.fixture
def molecules(tmp_path):
    rows = [f"{'C' * (i % 5 + 1)}{'O' if i % 2 else 'N'},{i % 2}" for i in range(40)]
    (tmp_path / "mols.csv").write_text("\n".join(["structure_text,is_active", *rows]) + "\n")
    return tmp_path / "mols.csv"


COLUMNS = ("--smiles", "structure_text", "--target", "is_active")


@pytest.mark.slow
def test_fit_and_predict_on_files_of_molecules(run, molecules):
    fitted = run("fit", molecules, "-o", "model.pk", "--t-max", "1", *COLUMNS)
    assert fitted.exit_code == 0, fitted.output
    predicted = run("predict", "model.pk", molecules, *COLUMNS)
    assert predicted.exit_code == 0, predicted.output
    assert predicted.output.count("\n") >= 41
    for command in (
        ("explain", "model.pk", molecules, "--graph", "3"),
        ("similar", molecules, "-g", "1"),
        ("evaluate", molecules, "--t-max", "1", "--folds", "2"),
    ):
        result = run(*command, *COLUMNS)
        assert result.exit_code == 0, result.output


@pytest.fixture
def proteins(tmp_path):
    """Tables of ten chains whose residues have names, in the current folder."""
    edges, nodes, graphs = ["graph,source,target"], ["graph,node,aa,bfactor"], ["graph,target"]
    for i in range(10):
        names = [f"{'AB'[i % 2]}:{k + 1}" for k in range(4 + i % 3)]
        nodes += [f"p{i},{name},{'GLV'[(i + k) % 3]},{k + 0.5}" for k, name in enumerate(names)]
        edges += [f"p{i},{one},{other}" for one, other in pairwise(names)]
        graphs.append(f"p{i},{i % 2}")
    for kind, lines in (("edges", edges), ("nodes", nodes), ("graphs", graphs)):
        (tmp_path / f"{kind}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_nodes_are_explained_by_name(run, proteins):
    assert run("fit", "edges.csv,nodes.csv,graphs.csv", "-o", "model.pk", "--jobs", 1).exit_code == 0
    words = ("explain", "model.pk", "edges.csv,nodes.csv,graphs.csv", "--graph", 3, "--top", 2)
    assert "B:" in run(*words).output
    first = json.loads(run(*words, "--format", "json").stdout)[0]
    assert first["name"] == f"B:{first['node'] + 1}"
