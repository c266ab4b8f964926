"""propkernels demo."""

import pytest

import propkernels as pk
from propkernels.cli import demo_command as demo


def test_table_and_what_to_do_next(run, monkeypatch):
    small = [pk.datasets.make_molecules(60, random_state=0)]
    monkeypatch.setattr(demo, "load_all", lambda: small)
    result = run("demo")
    assert result.exit_code == 0
    assert "make_molecules" in result.stdout
    assert "propkernels evaluate MUTAG" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_data_is_there_without_any_file(run):
    assert [data.name for data in demo.load_all()] == ["FAMILIES", "DIGITS", "make_molecules"]


@pytest.mark.slow
def test_a_page_to_explore(run, tmp_path, monkeypatch):
    some = pk.datasets.load("FAMILIES").sample(60)
    monkeypatch.setattr(pk.datasets, "load", lambda name: {"FAMILIES": some}[name])
    result = run("demo", "--html", str(tmp_path / "demo.html"))
    assert result.exit_code == 0
    assert "Open it in a browser" in result.stderr
    assert (tmp_path / "demo.html").read_text(encoding="utf-8").startswith("<!doctype html>")
