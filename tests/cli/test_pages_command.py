"""propkernels explore, audit and demo."""

import json
from pathlib import Path

import numpy as np
import pytest

import propkernels as pk
from tests.explorer.conftest import embedded

# explore command


@pytest.mark.slow
def test_a_page_of_a_sample_with_a_fitted_model(run, small_folder, model_file, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    result = run("explore", small_folder, "-o", page, "--first", 10, "--model", model_file, "--open")
    assert result.exit_code == 0, result.stderr
    assert opened == [str(page)]
    text = page.read_text(encoding="utf-8")
    for words in ("<title>SMALL</title>", "10 graphs", "given model", "A sample of 10 of 40."):
        assert words in text
    assert len(embedded(text, "ex-meta")["classes"]) == 2


def page_of(run, *arguments):
    """Return the settings of the page that a command writes."""
    result = run("explore", *arguments, "-o", "page.html")
    assert result.exit_code == 0, result.stderr
    html = Path("page.html").read_text(encoding="utf-8")
    return html, embedded(html, "ex-meta")


@pytest.fixture
def drugs(tmp_path):
    pytest.importorskip("rdkit")
    chains = ["C", "CC", "CCC", "CCCC", "C1CCCC1", "c1ccccc1"]
    rows = [
        f"{end}{chain},{end} on {chain},{len(chain)},{int(end == 'O')}" for chain in chains for end in "OF"
    ]
    path = tmp_path / "drugs.csv"
    path.write_text("\n".join(["smiles,name,mass,active", *rows]), encoding="utf-8")
    return path


@pytest.mark.slow
def test_names_classes_and_columns_of_a_table_are_on_the_page(run, drugs):
    words = ("--target", "active", "--id-column", "name", "--class-names", "idle,active")
    _, meta = page_of(run, drugs, *words)
    assert meta["ids"][0] == "O on C"
    assert meta["classes"] == ["idle", "active"]
    assert meta["details"]["SMILES"][0] == "OC"
    assert "mass" in [column["name"] for column in meta["columns"]]
    assert meta["atoms"]


@pytest.mark.slow
def test_molecules_are_called_by_name_and_left_out_ones_are_counted(run, drugs):
    with drugs.open("a", encoding="utf-8") as table:
        table.write("\nC1CC,open ring,4,1")
    html, meta = page_of(run, drugs, "--target", "active", "--errors", "skip")
    assert "12 molecules" in html
    assert "1 input that cannot be read is left out." in html
    assert meta["ids"][0] == "O on C"
    assert "name" not in meta["details"]


@pytest.mark.slow
def test_images_and_point_clouds_are_drawn_at_their_places(run, tmp_path):
    _, meta = page_of(run, "DIGITS", "--first", 24)
    assert meta["pixels"] == 1
    numbers = pk.datasets.load("DIGITS").sample(24).extras["numbers"]
    assert meta["ids"] == [str(number) for number in numbers], "those of the whole data set"
    for kind in ("flat", "round"):
        (tmp_path / "clouds" / kind).mkdir(parents=True)
    rng = np.random.default_rng(0)
    for i in range(12):
        kind = ("flat", "round")[i % 2]
        np.save(tmp_path / "clouds" / kind / f"{i}.npy", rng.normal(size=(12, 3)) * [1, 1, i % 2])
    html, meta = page_of(run, tmp_path / "clouds")
    assert meta["classes"] == ["flat", "round"]
    assert "places" in [array["name"] for array in embedded(html, "ex-data")["graphs"]["arrays"]]


# audit command


@pytest.mark.slow
def test_sentences_and_reports(run, small_folder, tmp_path):
    options = ("-o", "report.html", "-o", "report.json", "--t-max", 1, "--jobs", 1)
    result = run("audit", small_folder, *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Audit of ")
    assert "Wrote report.html (" in result.stdout
    found = json.loads((tmp_path / "report.json").read_text())
    printed = " ".join(result.stdout.split())
    assert all(sentence["text"] in printed for sentence in found["sentences"])
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


# demo command


@pytest.mark.slow
def test_a_page_to_explore(run, tmp_path, monkeypatch):
    some = pk.datasets.load("FAMILIES").sample(60)
    monkeypatch.setattr(pk.datasets, "load", lambda name: {"FAMILIES": some}[name])
    result = run("demo")
    assert result.exit_code == 0
    assert "Open it in a browser" in result.stderr
    assert (tmp_path / "demo.html").read_text(encoding="utf-8").startswith("<!doctype html>")
