"""propkernels convert, and every command on a file of molecules."""

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
