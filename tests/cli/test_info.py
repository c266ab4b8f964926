"""propkernels info and propkernels datasets."""

import numpy as np

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


def test_missing_package_is_said_to_be_missing(run, monkeypatch):
    monkeypatch.setattr("propkernels.cli.info.PACKAGES", ("no-such-package",))
    assert "no-such-package  not installed" in run("info").stdout


def test_datasets_prints_the_catalogue(run):
    shown = run("datasets").stdout
    assert shown.startswith(str(pk.datasets.list_datasets()))
    assert max(map(len, shown.splitlines())) <= 100
