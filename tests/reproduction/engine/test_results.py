"""Tables, verdicts and the document."""

import csv
import io

import pytest

from reproduction.engine.cells import Cell, Store
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.results import chapter_text, count_verdicts, csv_text, markdown_table, write_results
from reproduction.engine.sections import Section, State, chapter, everything, find_absent
from reproduction.engine.tables import summaries
from reproduction.experiments.labelled import task
from reproduction.registry import experiments


def judged(*folds):
    return {"accuracy": sum(folds) / len(folds), "folds": list(folds), "chosen": [["2", 10.0]] * len(folds)}


@pytest.fixture
def store(tmp_path):
    """PK matches the paper on MUTAG, normalised LABELS is worse."""
    store = Store(tmp_path / "store")
    for repeat in range(3):
        value = {
            "plain": judged(84.0, 85.0),
            "normalized": judged(70.0, 71.0 + repeat),
            "kernel_seconds": 0.02,
        }
        store.keep(task("PK", "MUTAG").cell(repeat), value)
        low = {"plain": judged(60.0, 61.0), "normalized": judged(62.0, 63.0 + repeat), "kernel_seconds": 0.01}
        store.keep(task("LABELS", "MUTAG").cell(repeat), low)
    return store


def labelled(store, absent=None):
    return chapter(experiments()["labelled"], store, Scope(datasets=("MUTAG", "NCI109")), absent or {})


def test_the_better_variant_is_compared(store):
    state = State(store, [task("PK", "MUTAG").job(10), task("LABELS", "MUTAG").job(10)])
    pk, labels = summaries(state)
    assert (pk.variant, pk.measured.mean, pk.repeats) == ("plain", 84.5, 3)
    assert pk.comparison.verdict == "matches"
    assert (labels.variant, labels.comparison.verdict) == ("normalized", "worse")
    assert pk.chosen == "2"


def test_no_cell_is_silently_missing(store):
    accuracies, runtimes = labelled(store, {"NCI109": "NCI109 is not here"}).sections
    notes = {row[:2]: row[-1] for row in accuracies.rows}
    assert len(notes) == 10
    assert notes["MUTAG", "GH"] == "not run yet"
    assert notes["NCI109", "PK"] == "absent: NCI109 is not here"
    verdicts = [row[accuracies.columns.index("verdict")] for row in accuracies.rows]
    assert list(filter(None, verdicts)) == ["matches", "worse"]
    assert len(runtimes.rows) == 2


def test_runtimes_are_ratios_to_the_papers(store):
    row = labelled(store).sections[1].rows[0]
    assert row == ("MUTAG", "PK", "0.02", "0.2", "10")


@pytest.mark.slow
def test_the_document_has_everything(store, tmp_path):
    document = tmp_path / "docs" / "results.md"
    write_results([labelled(store), chapter(experiments()["filters"], store, Scope(), {})], document)
    text = document.read_text()
    assert (
        "1 of 2 accuracies (50 %) match or beat the paper (1 matches, 0 better, 1 worse); 2 have three"
        in text
    )
    assert "| MUTAG | PK | 84.5 ± 0.0 | 84.5 ± 0.6 | +0.0 |" in text
    assert "![Grid Graph: neighborhoods and filters](pictures/filters.png)" in text
    assert (document.parent / "pictures" / "filters.png").is_file()
    with (document.parent / "results" / "labeled_graphs_runtimes.csv").open() as file:
        assert len(list(csv.reader(file))) == 3


def test_the_same_results_give_the_same_document(store, tmp_path):
    first, second = (chapter_text(labelled(store), "pictures") for _ in range(2))
    assert first == second


def test_tables_leave_out_empty_columns():
    section = Section("T", ("a", "b", "c"), [("1", "", "x|y"), ("2", "", "")])
    assert markdown_table(section).splitlines()[0] == "| a | c |"
    assert "x\\|y" in markdown_table(section)
    assert list(csv.reader(io.StringIO(csv_text(section))))[1] == ["1", "", "x|y"]


COLUMNS = ("data", "method", "paper", "repeats", "verdict", "why")


def table(title, *rows, is_stand_in=False):
    return Section(title, COLUMNS, [("MUTAG", *row) for row in rows], is_stand_in=is_stand_in)


def test_verdicts_are_counted_and_stand_ins_apart():
    class One:
        sections = (
            table(
                "A",
                ("PK", "84.5 ± 0.6", "3", "matches", ""),
                ("WL", "84.0 ± 0.4", "1", "better", ""),
                ("SP", "85.8 ± 0.2", "10", "worse", ""),
                ("GH", "out of time", "3", "no number in the paper", ""),
                ("CSM", "80.0 ± 1.0", "", "", "absent: it is not here"),
                ("A", "80.0 ± 1.0", "", "", "not run yet"),
            ),
            table("B", ("PK", "84.5 ± 0.6", "3", "worse", ""), is_stand_in=True),
        )

    first, second = count_verdicts([One()]).splitlines()[2:]
    assert "paper's data**: 2 of 3 accuracies (67 %)" in first
    assert "(1 matches, 1 better, 1 worse); 2 have three repeats or more." in first
    assert first.endswith("1 more are of data sets that are absent. 1 more were not run; the tables say why.")
    assert "stand-ins**: 0 of 1" in second


def test_quick_and_full_results_come_together(store):
    """Cells that only a quick run has are taken as well, and none twice."""
    seen = []

    class Spy:
        name, title, about = "x", "X", ""

        @staticmethod
        def jobs(scope):
            shared = Job((Cell.of("x", "r", "c", 0),), None, None)
            return (
                [shared, Job((Cell.of("x", "r", "c", 0, part=1),), None, None)] if scope.quick else [shared]
            )

        @staticmethod
        def sections(state):
            seen.extend(state.jobs)
            return []

    everything(Spy, store, {})
    assert [job.cells[0].settings for job in seen] == ["{}", '{"part": 1}']


def test_only_data_of_missing_cells_are_looked_for(store, tiny):
    jobs = [task("PK", "MUTAG").job(3), task("PK", "NCI109").job(1)]
    assert find_absent(jobs, store) == {"NCI109": "NCI109 is not here"}
