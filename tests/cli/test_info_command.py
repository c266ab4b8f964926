"""propkernels info and propkernels datasets."""

import csv
import io
import json

import numpy as np
import pytest

import propkernels as pk


def test_versions(run):
    lines = run("info").stdout.splitlines()
    shown = dict(line.split(maxsplit=1) for line in lines)
    assert shown["propkernels"] == pk.__version__
    assert shown["numpy"] == np.__version__


def test_where_data_is_looked_for(run, monkeypatch, tmp_path):
    assert "PROPKERNELS_DATA is not set" in run("info").stdout
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    assert f"data folder   {tmp_path}\n" in run("info").stdout
    assert f"{tmp_path / 'cache'} (does not exist yet)" in run("info").stdout


@pytest.mark.slow
def test_missing_package_is_said_to_be_missing(run, monkeypatch):
    monkeypatch.setattr("propkernels.cli.info_command.PACKAGES", ("no-such-package",))
    assert "no-such-package  not installed" in run("info").stdout


def test_datasets_prints_the_catalogue(run):
    shown = run("datasets").stdout
    assert shown.startswith(str(pk.datasets.list_datasets()))
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("command", ["info", "datasets"])
def test_formats_for_programs(run, command):
    records = json.loads(run(command, "--format", "json").stdout)
    lines = list(csv.DictReader(io.StringIO(run(command, "--format", "csv").stdout)))
    assert [record["name"] for record in records] == [line["name"] for line in lines]
    assert len(records) > 5


def test_shell_completion(run, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # there may be no shell above us
    shown = run("--show-completion", "bash")
    assert shown.exit_code == 0
    assert "complete" in shown.stdout
