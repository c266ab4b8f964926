"""propkernels convert, and every command on a file of molecules."""

import json
from itertools import pairwise

import pytest

import propkernels as pk


@pytest.fixture
def molecules(tmp_path):
    rows = [f"{'C' * (i % 5 + 1)}{'O' if i % 2 else 'N'},{i % 2}" for i in range(40)]
    (tmp_path / "mols.csv").write_text("\n".join(["structure_text,is_active", *rows]) + "\n")
    return tmp_path / "mols.csv"


COLUMNS = ("--smiles-column", "structure_text", "--target-column", "is_active")


@pytest.mark.slow
@pytest.mark.parametrize("out", ["mols.parquet", "MOLS.zip", "MOLS", "mols_edges.csv"])
def test_from_a_table_of_molecules_to_any_form(run, molecules, out):
    result = run("convert", molecules, out, *COLUMNS)
    assert result.exit_code == 0, result.output
    assert "Wrote" in result.output
    assert "40 graphs" in result.output
    assert ("Atoms are labeled by their symbols" in result.output) == (not out.endswith(".parquet"))
    data = pk.datasets.open_source(molecules.parent / out)
    assert len(data.graphs) == 40
    assert data.target.tolist() == [i % 2 for i in range(40)]
    again = run("convert", molecules, out, *COLUMNS)
    assert again.exit_code == 1
    assert "already" in again.output
    assert run("convert", molecules, out, "--force", *COLUMNS).exit_code == 0


def test_what_is_left_out_is_listed(run, tmp_path):
    (tmp_path / "x.csv").write_text("smiles,y\nCC,1\nC1C,0\n")
    failed = run("convert", "x.csv", "x.parquet")
    assert failed.exit_code == 1
    assert "row 1 ('C1C' cannot be read as SMILES)" in failed.output
    assert not (tmp_path / "x.parquet").exists()
    result = run("convert", "x.csv", "x.parquet", "--errors", "skip")
    assert result.exit_code == 0
    assert "Skipped 1:" in result.output
    assert "1: 'C1C' cannot be read as SMILES" in result.output


@pytest.mark.slow
def test_fit_and_predict_on_files_of_molecules(run, molecules):
    fitted = run("fit", molecules, "-o", "model.pk", "--t-max", "1", *COLUMNS)
    assert fitted.exit_code == 0, fitted.output
    predicted = run("predict", "model.pk", molecules, *COLUMNS)
    assert predicted.exit_code == 0, predicted.output
    assert predicted.output.count("\n") >= 41
    for command in (
        ("explain", "model.pk", molecules, "--graph", "3"),
        ("similar", molecules, "--to", "1"),
        ("kernel", molecules, "-o", "K.npz"),
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


def test_names_of_nodes_and_attributes_travel(run, proteins):
    result = run("convert", "edges.csv,nodes.csv,graphs.csv", "new_edges.csv")
    assert result.exit_code == 0, result.output
    assert f"Dataset({proteins.name}: 10 graphs" in result.output.replace("\n", "")
    lines = (proteins / "new_nodes.csv").read_text().splitlines()
    assert lines[0] == "graph,node,label,bfactor"
    assert lines[1] == "p0,A:1,G,0.5"
    assert (proteins / "new_edges.csv").read_text().splitlines()[1] == "p0,A:1,A:2,1.0"
    before, after = (pk.datasets.open_source(proteins / name) for name in ("edges.csv", "new_edges.csv"))
    assert before.graphs == after.graphs
    assert list(before.extras["node_names"]) == list(after.extras["node_names"])


def test_nodes_are_explained_by_name(run, proteins):
    assert run("fit", "edges.csv,nodes.csv,graphs.csv", "-o", "model.pk", "--jobs", 1).exit_code == 0
    words = ("explain", "model.pk", "edges.csv,nodes.csv,graphs.csv", "--graph", 3, "--top", 2)
    assert "B:" in run(*words).output
    first = json.loads(run(*words, "--format", "json").stdout)[0]
    assert first["name"] == f"B:{first['node'] + 1}"
