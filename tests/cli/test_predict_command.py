"""propkernels predict."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from tests.cli.conftest import QUICK, table


def test_predictions_on_the_screen(run, small_folder, model_file):
    result = run("predict", model_file, small_folder)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = table(result.stdout)
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    assert [row["id"] for row in rows] == [str(i) for i in range(40)]
    assert [int(row["prediction"]) for row in rows] == model.predict(graphs).tolist()
    probabilities = [[float(row[f"probability_{c}"]) for c in model.classes_] for row in rows]
    assert np.array_equal(probabilities, model.predict_proba(graphs))
    assert run("predict", model_file, small_folder, "-o", "-").stdout == result.stdout
    assert not Path("-").exists()


def test_predictions_in_a_file(run, small_folder, model_file, tmp_path):
    result = run("predict", model_file, small_folder, "-o", "out.csv")
    assert result.stdout.startswith("Wrote out.csv: 40 predictions, ")
    assert "% of them agree with the data set" in result.stdout
    assert (tmp_path / "out.csv").read_text() == run("predict", model_file, small_folder).stdout
    assert run("predict", model_file, small_folder, "-o", "out.csv").exit_code == 1


def test_data_without_targets(run, small_folder, model_file, tmp_path, monkeypatch):
    folder = shutil.copytree(small_folder, tmp_path / "SMALL")
    (folder / "SMALL_graph_labels.txt").unlink()
    result = run("predict", model_file, folder)
    assert result.stdout == run("predict", model_file, small_folder).stdout
    assert run("predict", model_file, folder, "-o", "out.csv").stdout == "Wrote out.csv: 40 predictions.\n"
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    assert run("predict", model_file, "SMALL").stdout == result.stdout
    assert "has no file SMALL_graph_labels.txt" in run("fit", folder, "-o", "model.pk").stderr


def test_sets_of_classes(run, small_folder, model_file):
    rows = table(run("predict", model_file, small_folder, "--coverage", "0.8").stdout)
    model, graphs = pk.load_model(model_file), pk.datasets.read_tu(small_folder).graphs
    names = model.classes_.astype(str)
    assert [row["set"] for row in rows] == ["|".join(names[one]) for one in model.predict_set(graphs, 0.8)]


@pytest.mark.slow
def test_numbers_with_their_uncertainty(run, numbers):
    data = pk.datasets.open_source(numbers)
    process = pk.PropagationRegressor(kernel=pk.WeisfeilerLehman(t_max=1), solver="gp", random_state=0)
    pk.save_model(process.fit(data.graphs, data.target[:, 0]), "gp.pk")
    rows = table(run("predict", "gp.pk", numbers).stdout)
    assert set(rows[0]) == {"id", "prediction", "std"}
    run("fit", numbers, "-o", "svr.pk", "--target", 0, *QUICK)
    assert set(table(run("predict", "svr.pk", numbers).stdout)[0]) == {"id", "prediction"}
    rows = table(run("predict", "svr.pk", numbers, "--coverage", "0.8").stdout)
    assert set(rows[0]) == {"id", "prediction", "low", "high"}
    assert all(float(row["low"]) < float(row["high"]) for row in rows)


def test_targets_that_are_no_numbers_do_not_stop_predictions(run, tmp_path):
    """A table of new molecules may have measurements of some, as bounds."""
    pytest.importorskip("rdkit")
    (tmp_path / "old.csv").write_text("smiles,y\nCCO,1\nCCN,2\nCCC,3.5\nCCCC,4\n")
    assert run("fit", "old.csv", "-o", "m.pk", *QUICK).exit_code == 0
    (tmp_path / "new.csv").write_text("smiles,y\nCCO,5.1\nCCN,>10000\nCCC,6\n")
    result = run("predict", "m.pk", "new.csv")
    assert (result.exit_code, len(table(result.stdout))) == (0, 3)
    assert "such as '>10000'" in result.stderr
    assert "it is not used" in result.stderr
