"""propkernels novelty."""

import csv
import json

import numpy as np
import pytest

import propkernels as pk


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


def test_json_is_json(run, small_folder):
    result = run("novelty", small_folder, small_folder, "--format", "json", "--top", 3)
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "graph.png"), "-g N"),
        (("-o", "a.csv", "-o", "b.csv"), "one file of scores"),
        (("-g", 10000), "got 10000"),
    ],
)
def test_refusals(run, small_folder, options, words):
    result = run("novelty", small_folder, small_folder, *options)
    assert result.exit_code == 1
    assert words in result.stderr
