"""python -m reproduction on tiny data: cells are kept, tables printed, the report written and updated."""

import csv

import pytest

from reproduction.__main__ import PAGES, main
from reproduction.engine.cells import Cell, Store
from reproduction.engine.jobs import Job
from reproduction.engine.runner import run
from reproduction.experiments.labelled import task

pytestmark = pytest.mark.usefixtures("tiny")
CELL = Cell.of("labelled", "PK", "MUTAG", 1, folds=10)


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


def test_absent_data_and_differences_are_flagged(command, tmp_path):
    printed = command("datasets", "--jobs", 1)
    assert "absent: COX2 is not here" in printed
    with (tmp_path / "results" / "dataset_statistics_and_properties.csv").open() as file:
        rows = {row[0]: row for row in csv.reader(file)}
    assert rows["MUTAG"][1] == "40 (188)"
    assert rows["MUTAG"][-1].startswith("differs: graphs")
    assert len(rows) == 17


@pytest.mark.slow
def test_measured_stands_beside_published_and_is_kept_for_the_report(command, tmp_path):
    arguments = ("labelled", "--quick", "--dataset", "MUTAG", "--jobs", 1)
    first, second = command(*arguments), command(*arguments)
    assert "84.5 ± 0.6" in first
    assert "5 cells computed, 0 were there before" in first
    assert "0 cells computed, 5 were there before" in second
    command("report", "--document", "docs/results.md")
    text = (tmp_path / "docs" / "results.md").read_text()
    assert "| MUTAG | PK |" in text
    assert "absent: NCI109 is not here" in text
    assert "not run yet" in text
    assert (tmp_path / "docs" / "pictures" / "filters.png").is_file()
    assert (tmp_path / "docs" / "results" / "labeled_graphs_accuracies.csv").is_file()


def keep(store, accuracy, repeats, row="PK", dataset="MUTAG"):
    judged = {"accuracy": accuracy, "folds": [accuracy, accuracy], "chosen": [["2", 10.0]] * 2}
    for repeat in range(repeats):
        value = {"plain": judged, "normalized": judged, "kernel_seconds": accuracy / 1000}
        store.keep(task(row, dataset).cell(repeat), value)


@pytest.mark.slow
def test_an_update_keeps_rows_with_more_repeats(command, tmp_path):
    first, second, document = Store(tmp_path / "first"), Store(tmp_path / "second"), tmp_path / "results.md"
    keep(first, 81.0, 3)
    keep(first, 82.0, 1, "WL")
    command("report", "-o", first.folder, "--document", document)
    document.write_text(document.read_text().replace("### Missing and noisy information", "### As it was"))
    keep(second, 71.0, 1)
    keep(second, 72.0, 1, "WL")
    command("report", "-o", second.folder, "--document", document, "--update")
    text = document.read_text()
    assert "| MUTAG | PK | 81.0 ± 0.0 |" in text
    assert "| MUTAG | WL | 72.0 ± 0.0 |" in text
    assert "| MUTAG | PK | 0.081 |" in text  # the runtime goes with the accuracy
    assert "- 1 of 20 rows come from an earlier run, with more repeats than the latest." in text
    assert "### As it was" in text  # what the store knows nothing of
    assert "1 of 2 accuracies (50 %)" not in text.split("##")[0]
    command("report", "-o", second.folder, "--document", document)
    assert "| MUTAG | PK | 71.0 ± 0.0 |" in document.read_text()


def test_a_cell_comes_back_or_says_why_not(tmp_path):
    store, other = Store(tmp_path), Cell.of("labelled", "PK", "MUTAG", 1, folds=5)
    assert CELL not in store
    store.keep(CELL, {"accuracy": 84.5})
    with pytest.raises(TypeError):
        store.keep(CELL, {"accuracy": object()})
    assert store[CELL] == {"accuracy": 84.5}
    assert [path.name for path in store.path(CELL).parent.iterdir()] == [CELL.file_name]
    store.path(CELL).rename(store.path(other))
    with pytest.raises(ValueError, match="other settings"):
        store[other]
    store.path(other).write_text('{"value": ')
    with pytest.raises(ValueError, match=other.file_name):
        store[other]


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
    outcome = run([job], store, tell=news.append)
    assert (outcome.computed, outcome.kept) == (2, 2)
    assert [(one.done, one.total) for one in news] == [(1, 2), (2, 2)]
