"""propkernels counterfactuals."""

import csv
import io
import json
import re

import numpy as np
import pytest

import propkernels as pk


@pytest.fixture(scope="module")
def model_file(small_folder, tmp_path_factory):
    """A model of SMALL."""
    data = pk.datasets.read_tu(small_folder)
    kernel = pk.PropagationKernel(propagation=pk.Diffusion(0.5, "none"), t_max=1)
    model = pk.PropagationClassifier(kernel=kernel, C=10.0, cv=2, random_state=0)
    path = tmp_path_factory.mktemp("model") / "model.pk"
    pk.save_model(model.fit(data.graphs, data.target), path)
    return path


def test_the_table_is_that_of_python(run, model_file, small_folder):
    result = run("counterfactuals", model_file, small_folder, "--graph", 3, "--top", 4, "--budget", 3000)
    data = pk.datasets.read_tu(small_folder)
    expected = pk.load_model(model_file).counterfactuals(data.graphs[3], n=4, budget=3000)
    assert result.exit_code == 0
    assert str(expected) in result.stdout
    assert "Graph 3 of SMALL" in result.stdout


def test_the_decision_has_the_sign_that_explain_prints(run, model_file, small_folder):
    for graph in (3, 4):
        explained = run("explain", model_file, small_folder, "-g", graph).stdout
        edited = run("counterfactuals", model_file, small_folder, "-g", graph, "--max-edits", 1).stdout
        decisions = [re.search(r"decision ([+-]\d+\.\d+)", text).group(1) for text in (explained, edited)]
        assert float(decisions[0]) == pytest.approx(float(decisions[1]), abs=1e-4)


@pytest.mark.slow
def test_for_programs(run, model_file, small_folder):
    common = ("counterfactuals", model_file, small_folder, "-g", 3, "--max-edits", 1, "--allow", "relabel")
    records = json.loads(run(*common, "--format", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(run(*common, "--format", "csv").stdout)))
    assert [line["edits"] for line in lines] == [record["edits"] for record in records]
    assert all(record["edits"].startswith("relabel") for record in records)


@pytest.mark.slow
def test_targets_and_sentences(run, model_file, small_folder, tmp_path):
    common = ("counterfactuals", model_file, small_folder, "--graph")
    assert "the class 7 does not exist" in run(*common, 0, "--to", 7).stderr
    assert "got 99" in run(*common, 99).stderr
    assert "each kind of allowed edits" in run(*common, 0, "--allow", "paint").stderr
    data = pk.datasets.read_tu(small_folder)
    regressor = pk.PropagationRegressor(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, random_state=0)
    numbers = tmp_path / "numbers.pk"
    pk.save_model(regressor.fit(data.graphs, data.graphs.graph_sizes + np.arange(40) / 7), numbers)
    assert "must be a number" in run("counterfactuals", numbers, small_folder, "-g", 0, "--to", "x").stderr
    found = run("counterfactuals", numbers, small_folder, "-g", 0, "--to", 1, "--max-edits", 1)
    assert found.exit_code == 0
    detector = tmp_path / "detector.pk"
    pk.save_model(pk.GraphIndex(kernel=pk.WeisfeilerLehman(t_max=1)).fit(data.graphs), detector)
    assert run("counterfactuals", detector, small_folder, "-g", 0).exit_code == 1
