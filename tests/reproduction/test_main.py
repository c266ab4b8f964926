"""python -m reproduction."""

import csv

import pytest
from typer.testing import CliRunner

from reproduction.__main__ import app

pytestmark = pytest.mark.usefixtures("tiny")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


def test_without_a_name_it_lists_the_experiments(run):
    result = run()
    assert result.exit_code == 0
    for name in ("labelled", "attributed", "sensitivity", "worked_example"):
        assert name in result.stdout


def test_a_table_is_printed_and_saved(run, tmp_path):
    result = run("datasets", "--jobs", 1)
    assert result.exit_code == 0
    assert "40 (188)" in result.stdout
    assert "absent: COX2 is not here" in result.stdout
    with (tmp_path / "results" / "dataset_statistics_and_properties.csv").open() as file:
        rows = {row[0]: row for row in csv.reader(file)}
    assert rows["MUTAG"][1] == "40 (188)"
    assert len(rows) == 17


@pytest.mark.slow
def test_measured_stands_beside_published_and_is_kept_for_the_report(run, tmp_path):
    command = ("labelled", "--quick", "--dataset", "MUTAG", "--jobs", 1)
    first, second = run(*command), run(*command)
    assert first.exit_code == second.exit_code == 0
    assert "84.5 ± 0.6" in first.stdout
    assert "5 cells computed, 0 were there before" in first.stdout
    assert "0 cells computed, 5 were there before" in second.stdout
    assert "left" in first.stderr
    assert len(list((tmp_path / "results" / "labelled").glob("*.json"))) == 5
    result = run("report", "--document", "docs/measured/results.md")
    assert result.exit_code == 0
    text = (tmp_path / "docs" / "measured" / "results.md").read_text()
    assert "| MUTAG | PK |" in text
    assert "absent: NCI109 is not here" in text
    assert "not run yet" in text
    assert (tmp_path / "docs" / "measured" / "pictures" / "filters.png").is_file()
    assert (tmp_path / "docs" / "measured" / "results" / "labeled_graphs_accuracies.csv").is_file()


def test_absent_data_are_not_a_failure(run):
    result = run("labelled", "--quick", "--dataset", "NCI109", "--jobs", 1)
    assert result.exit_code == 0
    assert "absent: NCI109 is not here" in result.stdout


@pytest.mark.slow
def test_figures_are_saved(run, tmp_path):
    result = run("worked_example", "filters")
    assert result.exit_code == 0
    for name in ("worked_example", "filters"):
        assert (tmp_path / "results" / f"{name}.png").stat().st_size > 1000
    assert not list((tmp_path / "results").glob("*.svg"))


def test_unknown_names_are_one_sentence(run):
    result = run("tables")
    assert result.exit_code == 1
    assert "the experiment 'tables' does not exist" in result.stderr
