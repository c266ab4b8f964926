"""propkernels audit."""

import json

import pytest


@pytest.mark.slow
def test_sentences_and_reports(run, small_folder, tmp_path):
    options = ("-o", "report.html", "-o", "report.json", "--t-max", 1, "--jobs", 1)
    result = run("audit", small_folder, *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Audit of ")
    assert "Wrote report.html (" in result.stdout
    found = json.loads((tmp_path / "report.json").read_text())
    assert all(sentence["text"] in result.stdout for sentence in found["sentences"])
    assert "<!doctype html>" in (tmp_path / "report.html").read_text()
    again = run("audit", small_folder, *options)
    assert again.exit_code == 1
    assert "report.html exists: use --force" in again.stderr


@pytest.mark.slow
def test_test_graphs_are_looked_for(run, small_folder, tmp_path):
    result = run("audit", small_folder, "--test", small_folder, "-o", "report.json", "--t-max", 1)
    assert result.exit_code == 0, result.stderr
    leaks = json.loads((tmp_path / "report.json").read_text())["sameness"]["leaks"]
    assert len(leaks["exact"]) == leaks["n_test"]
    assert "(100 %) are training graphs" in result.stdout


def test_unknown_kind_of_report(run, small_folder):
    result = run("audit", small_folder, "-o", "report.pdf")
    assert result.exit_code == 1
    assert "use .html, .md or .json" in result.stderr
