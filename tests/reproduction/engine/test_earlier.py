"""Bringing a document up to date."""

import csv

import pytest

from reproduction.engine.cells import Store
from reproduction.engine.results import write_results
from reproduction.engine.sections import Chapter, Section, everything
from reproduction.experiments.labelled import task
from reproduction.registry import experiments


def keep(store, accuracy, repeats, row="PK", dataset="MUTAG"):
    judged = {"accuracy": accuracy, "folds": [accuracy, accuracy], "chosen": [["2", 10.0]] * 2}
    for repeat in range(repeats):
        value = {"plain": judged, "normalized": judged, "kernel_seconds": accuracy / 1000}
        store.keep(task(row, dataset).cell(repeat), value)


def write(store, folder, update=True):
    chapters = [everything(experiments()[name], store, {}) for name in ("labelled", "noise")]
    write_results(chapters, folder / "results.md", update)
    with (folder / "results" / "labeled_graphs_accuracies.csv").open(encoding="utf-8") as file:
        rows = {row[:2]: row for row in map(tuple, csv.reader(file))}
    return (folder / "results.md").read_text(encoding="utf-8"), rows


@pytest.fixture
def first(tmp_path):
    """A document of three repeats of PK and one of WL."""
    store = Store(tmp_path / "first")
    keep(store, 81.0, 3)
    keep(store, 82.0, 1, "WL")
    write(store, tmp_path / "docs")
    return tmp_path / "docs"


@pytest.mark.slow
def test_more_repeats_stay_and_others_are_replaced(first, tmp_path):
    store = Store(tmp_path / "second")
    keep(store, 71.0, 1)
    keep(store, 72.0, 1, "WL")
    keep(store, 73.0, 1, "PK", "NCI109")
    text, rows = write(store, first)
    assert rows["MUTAG", "PK"][2].startswith("81.0")
    assert rows["MUTAG", "WL"][2].startswith("72.0")
    assert rows["NCI109", "PK"][2].startswith("73.0")
    assert "- 1 of 20 rows come from an earlier run, with more repeats than the latest." in text
    assert "| MUTAG | PK | 0.081 |" in text  # the runtime goes with the accuracy
    assert "| MUTAG | WL | 0.072 |" in text
    assert "3 accuracies" in text.split("##")[1]


@pytest.mark.slow
def test_without_update_the_store_alone_counts(first, tmp_path):
    store = Store(tmp_path / "second")
    keep(store, 71.0, 1)
    text, rows = write(store, first, update=False)
    assert rows["MUTAG", "PK"][2].startswith("71.0")
    assert rows["MUTAG", "WL"][2] == ""
    assert "rows come from an earlier run" not in text


@pytest.mark.slow
def test_experiments_without_results_stay_word_for_word(first, tmp_path):
    document = first / "results.md"
    text = document.read_text(encoding="utf-8")
    assert "not run yet" in text.split("`python -m reproduction noise`")[1]
    document.write_text(text.replace("### Missing and noisy information", "### As it was"), encoding="utf-8")
    assert "### As it was" in write(Store(tmp_path / "second"), first)[0]


@pytest.mark.slow
def test_updating_with_the_same_results_changes_nothing(first, tmp_path):
    before = (first / "results.md").read_text(encoding="utf-8")
    assert write(Store(tmp_path / "first"), first)[0] == before


@pytest.mark.slow
def test_a_table_with_other_columns_is_not_merged(first, tmp_path):
    from reproduction.engine.earlier import with_better_rows

    section = Section("Labeled Graphs: accuracies", ("data", "method", "repeats"), [("MUTAG", "PK", "1")])
    chapter = Chapter(experiments()["labelled"], [section])
    assert with_better_rows(chapter, first / "results") == chapter


@pytest.mark.slow
def test_figures_that_cannot_be_drawn_now_stay_linked(first, tmp_path):
    document = first / "results.md"
    title = "### Labeled Graphs: accuracies"
    line = "![Labeled Graphs: accuracies](pictures/earlier.png)"
    text = document.read_text(encoding="utf-8")
    assert title in text
    document.write_text(text.replace(title, f"{title}\n\n{line}"), encoding="utf-8")
    assert write(Store(tmp_path / "second"), first)[0].count(line) == 1
    assert line not in write(Store(tmp_path / "second"), first, update=False)[0]
