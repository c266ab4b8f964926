"""Predictions with details, and part by part."""

import pytest

from propkernels.cli import arguments
from tests.cli.conftest import table

Chem = pytest.importorskip("rdkit.Chem")
pandas = pytest.importorskip("pandas")

RADICALS = ["C", "CC", "CCC", "C(C)C", "c1ccccc1", "C1CCCC1", "CCCC", "CC(C)C"]
SMILES = [f"{group}{radical}" for radical in RADICALS for group in ("O", "N", "F", "Cl")]
QUICK = ("--t-max", 1, "--folds", 2, "--C", 1, "--jobs", 1, "--kernel", "wl")


@pytest.fixture
def model(run, tmp_path):
    lines = [f"{text},{len(text) + 0.5}" for text in SMILES]
    (tmp_path / "train.csv").write_text("\n".join(["smiles,value", *lines]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(["smiles", *SMILES[::3], "not one", "CCCCCO"]) + "\n")
    result = run("fit", "train.csv", "--smiles", "smiles", "--target", "value", "-o", "model.pk", *QUICK)
    assert result.exit_code == 0, result.stderr
    return "model.pk"


OPTIONS = ("--errors", "skip", "--coverage", 0.8, "--details", "--nearest", "train.csv", "--jobs", 1)


@pytest.mark.slow
def test_details_nearest_and_skipped_rows(run, model, tmp_path):
    result = run("predict", model, "new.csv", *OPTIONS, "--skipped", "skipped.csv")
    rows = table(result.stdout)
    assert [int(row["id"]) for row in rows] == [*range(len(SMILES[::3])), len(SMILES[::3]) + 1]
    for i, row in enumerate(rows[:-1]):
        assert float(row["low"]) <= float(row["high"])
        assert float(row["unseen"]) == 0
        assert int(row["nearest"]) == 3 * i
        assert float(row["similarity"]) == 1
    assert all(row["smarts_1"] and float(row["contribution_1"]) for row in rows)
    (left_out,) = table((tmp_path / "skipped.csv").read_text())
    assert left_out == {"id": str(len(SMILES[::3])), "reason": "'not one' cannot be read as SMILES"}


@pytest.fixture
def small_parts(monkeypatch):
    """Files of any size are read part by part."""
    monkeypatch.setattr(arguments, "LARGE", 10)
    monkeypatch.setattr(arguments, "NODES_PER_PART", 20)


def write_formats(folder, smiles):
    """Write molecules with names as CSV, Parquet and SDF."""
    names = [f"m{i}" for i in range(len(smiles))]
    pandas.DataFrame({"smiles": smiles, "name": names}).to_csv(folder / "new.csv", index=False)
    pandas.DataFrame({"smiles": smiles, "name": names}).to_parquet(folder / "new.parquet")
    with Chem.SDWriter(str(folder / "new.sdf")) as writer:
        for text, name in zip(smiles, names, strict=True):
            mol = Chem.MolFromSmiles(text)
            mol.SetProp("name", name)
            writer.write(mol)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["new.csv", "new.parquet", "new.sdf"])
def test_part_by_part_is_the_same(run, model, tmp_path, monkeypatch, file):
    smiles = [*SMILES[::3], "CCCCCO"]
    write_formats(tmp_path, smiles)
    options = (*OPTIONS, "--id-column", "name")
    at_once = run("predict", model, file, *options).stdout
    explained = run("explain", model, file, "-g", 7).stdout
    monkeypatch.setattr(arguments, "LARGE", 10)
    monkeypatch.setattr(arguments, "NODES_PER_PART", 20)
    assert run("predict", model, file, *options).stdout == at_once
    assert [row["id"] for row in table(at_once)] == [f"m{i}" for i in range(len(smiles))]
    assert run("explain", model, file, "-g", 7).stdout == explained
    beyond = run("explain", model, file, "-g", 100)
    assert f"has graphs 0 to {len(smiles) - 1}, got 100" in " ".join(beyond.stderr.split())


@pytest.mark.slow
def test_parts_without_a_molecule_leave_one_header(run, model, tmp_path, small_parts):
    (tmp_path / "new.csv").write_text("\n".join(["smiles", *["not one"] * 30, *SMILES[:4]]) + "\n")
    assert run("predict", model, "new.csv", *OPTIONS).stdout.count("prediction") == 1
    (tmp_path / "new.csv").write_text("\n".join(["smiles", *["not one"] * 30]) + "\n")
    result = run("predict", model, "new.csv", *OPTIONS, "-o", "none.csv")
    assert (result.exit_code, "new.csv" in result.stderr) == (1, True)
    assert not (tmp_path / "none.csv").exists()
