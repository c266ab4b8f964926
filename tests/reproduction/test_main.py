"""python -m reproduction on tiny data: cells are chosen, kept and printed, and the report comes from them."""

import csv
from pathlib import Path

import pytest

from reproduction.__main__ import PAGES, main
from reproduction.engine.cells import Cell, Store
from reproduction.engine.jobs import Job, Scope, run
from reproduction.experiments import labelled, partially_labelled
from reproduction.registry import experiments

pytestmark = pytest.mark.usefixtures("tiny")
CELL = Cell.of("labelled", "PK", "MUTAG", 1, folds=10)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder, and return what it prints."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        main([str(argument) for argument in arguments])
        return capsys.readouterr().out

    return call


def test_without_a_name_it_lists_everything(command):
    listed = command()
    assert all(name in listed for name in ("labelled", "worked_example", *PAGES))


def test_unknown_names_are_one_sentence(command):
    with pytest.raises(SystemExit, match="the experiment 'tables' does not exist: choose among datasets"):
        command("tables")


def test_absent_data_and_differences_are_flagged(command):
    printed = command("datasets", "--jobs", 1)
    assert "absent: COX2 is not here" in printed
    assert "| MUTAG | 40 (188) |" in printed


@pytest.mark.slow
def test_cells_are_chosen_kept_and_shown(command, tmp_path):
    arguments = ("labelled", "--dataset", "MUTAG", "--method", "LABELS", "--method", "SP", "--jobs", 1)
    first, second = command(*arguments, "--repeats", 2), command(*arguments, "--repeats", 3)
    assert "[2] (85.8)" in first
    assert "4 cells computed, 0 were there before" in first
    assert "2 cells computed, 4 were there before" in second
    lines = (tmp_path / "reproduction" / "records" / "paper_labelled.jsonl").read_text().splitlines()
    assert len(lines) == 6 + 2  # settings once for each row
    command("report", "--document", "docs/results.md")
    assert "| LABELS |" in (tmp_path / "docs" / "results.md").read_text()


@pytest.mark.slow
def test_the_pages_are_those_of_the_committed_records(tmp_path, command):
    """On a fresh clone, without data sets, every byte of the page and its tables comes from the records."""
    command("report", "-o", ROOT / "reproduction" / "records", "--document", tmp_path / "results.md")
    measured = ROOT / "docs" / "measured"
    assert (tmp_path / "results.md").read_text() == (measured / "results.md").read_text()
    for path in (tmp_path / "results").iterdir():
        assert path.read_text() == (measured / "results" / path.name).read_text(), path.name
    sentence = next(
        line for line in (measured / "results.md").read_text().splitlines() if "PK and P2K, " in line
    )
    assert sentence.removeprefix("- ").removesuffix(".") in " ".join((ROOT / "README.md").read_text().split())


def keep(store, row, accuracies, column="MSRC_21 20 %"):
    dataset, share, _ = column.split()
    for repeat, accuracy in enumerate(accuracies):
        judged = {"folds": [accuracy, accuracy], "kernel": ["2", "2"], "C": [0.1, 0.1]}
        value = {"plain": {"paper": judged}, "kernel_seconds": 0.5, "seconds": 3600.0}
        store.keep(partially_labelled.task(row, dataset, int(share)).cell(repeat), value)


def test_the_page_counts_marks_and_answers(command, tmp_path):
    store = Store(tmp_path / "cells")
    keep(store, "PK", [90.0, 91.0, 92.0, 90.5, 91.5])
    keep(store, "WL", [85.0, 85.5, 87.0, 85.0, 86.5])
    keep(store, "LP+WL", [85.8, 85.7, 85.9, 85.8, 85.6])
    command("report", "-o", store.folder, "--document", "results.md")
    page = Path("results.md").read_text()
    assert "| **PK and P2K** | 43 | 33 | 9 | 1 | 42 | 27 | 0 | 1 | 0 |" in page  # 42 of an earlier run
    assert "| baselines | 104 | 67 | 30 | 7 | 102 | 57 | 0 | 2 | 0 |" in page
    assert "took 15.0 processor hours" in page
    assert (
        "Of the paper's 43 accuracies of PK and P2K, 33 match within two standard errors, 9 are better"
        in page
    )
    assert "| *79.4* (78.8) |" in page
    assert "| MSRC_21 20 % | PK | 91.0 ± 0.4 | 86.9 ± 0.3 | +4.1 | 5 | (1) |" in page
    assert "**91.0 ± 0.4** [5] **(86.9)**" in page  # significantly first, here and in the paper
    assert "85.8 ± 0.4 [5] (85.4)" in page
    assert (
        "PK is significantly first in 1 of 1 columns (the paper: 1). **That PK is first holds here.**" in page
    )
    with Path("results/baselines_beside_the_paper.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if "earlier" not in row["repeats"]]
    assert [row["verdict"] for row in rows] == ["matches", "matches"]


def test_a_scope_is_data_sets_and_methods():
    def wanted(**settings):
        scope = Scope(**settings)
        return {job.cells[0].place[1:] for job in partially_labelled.jobs(scope) if scope.wants(job)}

    assert wanted(datasets=("MSRC_9 20 %",), methods=("WL",)) == {("WL", "MSRC_9 20 %")}
    assert wanted(datasets=("MSRC_9",), methods=("PK",)) > {
        ("PK", "MSRC_9 80 %"),
        ("PK Eq. 14", "MSRC_9 80 %"),
    }
    assert {len(job.cells) for job in labelled.jobs(Scope(repeats=4))} == {4}
    assert {len(job.cells) for job in labelled.jobs(Scope())} == {10}


def test_a_cell_comes_back_or_says_why_not(tmp_path):
    store, other = Store(tmp_path), Cell.of("labelled", "PK", "MUTAG", 1, folds=5)
    store.keep(CELL, {"accuracy": 84.5})
    with pytest.raises(TypeError):
        store.keep(other, {"accuracy": object()})
    again = Store(tmp_path)
    assert again[CELL] == {"accuracy": 84.5}
    assert other not in again  # other settings are another cell
    with store.path("labelled").open("a") as file:
        file.write('["PK", ')
    with pytest.raises(ValueError, match=r"line 3 of .*paper_labelled.jsonl is not readable: delete it"):
        CELL in Store(tmp_path)  # noqa: B015


def test_an_interrupted_run_goes_on(tmp_path):
    computed = []

    def work(data, cells, context):
        for cell in cells:
            if len(computed) == 2:
                computed.append("stop")
                raise KeyboardInterrupt
            computed.append(cell)
            yield cell, {}

    store, job = Store(tmp_path), Job(tuple(Cell.of("x", "r", "c", n) for n in range(4)), None, work)
    with pytest.raises(KeyboardInterrupt):
        run([job], store)
    news = []
    outcome = run([job], Store(tmp_path), tell=news.append)
    assert (outcome.computed, outcome.kept) == (2, 2)
    assert [(one.done, one.total) for one in news] == [(1, 2), (2, 2)]


@pytest.mark.parametrize("name", list(experiments()))
def test_cells_have_records_of_their_own(name):
    cells = [cell.key for job in experiments()[name].jobs(Scope()) for cell in job.cells]
    assert len(set(cells)) == len(cells)
