"""propkernels datasets."""

import csv
import io
import json

import propkernels as pk


def test_datasets_prints_the_catalogue(run):
    shown = run("datasets").stdout
    assert shown.startswith(str(pk.datasets.list_datasets()))
    assert max(map(len, str(pk.datasets.list_datasets()).splitlines())) <= 80


def test_formats_for_programs(run):
    records = json.loads(run("datasets", "--format", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(run("datasets", "--format", "csv").stdout)))
    assert [record["name"] for record in records] == [line["name"] for line in lines]
    assert len(records) > 5


def test_shell_completion(run, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # there may be no shell above us
    shown = run("--show-completion", "bash")
    assert shown.exit_code == 0
    assert "complete" in shown.stdout
