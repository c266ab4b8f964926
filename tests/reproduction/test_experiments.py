"""Experiments of the paper on tiny data: every cell has a job, every method runs, the page follows."""

from dataclasses import replace
from pathlib import Path

import pytest

import propkernels as pk
from propkernels.propagation import LabelPropagation
from reproduction.__main__ import main
from reproduction.engine.cells import Store
from reproduction.engine.jobs import Scope, run
from reproduction.engine.published import published, rows_and_columns
from reproduction.experiments import attributed, labelled, partially_labelled, point_clouds, worked_example
from reproduction.protocols.nested import folds_of
from reproduction.registry import experiments
from tests.reproduction.test_pages import TABLES

ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(tiny, tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder, and return what it prints."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        main([str(argument) for argument in arguments])
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("name", list(experiments()))
def test_every_cell_of_the_paper_has_records_of_its_own(name):
    cells = [cell for job in experiments()[name].jobs(Scope()) for cell in job.cells]
    assert len({cell.key for cell in cells}) == len(cells)
    places = {cell.place[1:] for cell in cells}
    for place in rows_and_columns(name) if name in TABLES else ():
        assert place in places or published(name, *place).accuracy is None


TASKS = [
    *(labelled.task(row, "MUTAG") for row in labelled.RECIPES),
    *(partially_labelled.task(row, "MSRC_9", 40) for row in partially_labelled.RECIPES),
    *(attributed.task(row, "ENZYMES") for row in attributed.ROWS),
    *(point_clouds.task(row) for row in point_clouds.RECIPES if row != "P2K labels+attr"),
]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.experiment} {task.row} {task.column}")
def test_every_method_runs(task, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "reproduction.protocols.accuracy.folds_of", lambda target, repeat: folds_of(target, repeat, 2)
    )
    task = replace(task, recipe=replace(task.recipe, steps=task.recipe.steps and (0, 2)))
    store = Store(tmp_path)
    assert run([task.job(2)], store, n_jobs=1).computed == 2
    for cell in task.job(2).cells:
        for variant in task.variants:
            judged = store[cell][variant]
            assert len(judged["paper"]["folds"]) == len(judged["paper"]["kernel"])
            assert ("scaled" in judged) == (cell.repeat < 1 and not task.is_leave_one_out)


def test_the_worked_example_is_the_papers_and_the_kernels():
    first, second = worked_example.compute()
    assert [first.contribution, second.contribution] == [12, 10]
    assert second.probabilities == pytest.approx(
        [1 / 4, 1 / 2, 0, 1 / 3, 1 / 3, 1, 1, 1 / 2, 1 / 2, 1 / 2, 1 / 3, 1 / 4]
    )
    scheme, width = LabelPropagation(clamp="before"), worked_example.BIN_WIDTH
    kernel = pk.PropagationKernel(
        propagation=scheme, t_max=1, bin_width=width, random_state=worked_example.SEED
    )
    assert kernel.fit_transform_cumulative(worked_example.example_graphs())[:, 0, 1].tolist() == [12, 22]


@pytest.mark.slow
def test_cells_are_chosen_kept_and_shown(command, tmp_path):
    arguments = ("labelled", "--dataset", "MUTAG", "--method", "LABELS", "--method", "SP", "--jobs", 1)
    first, second = command(*arguments, "--repeats", 2), command(*arguments, "--repeats", 3)
    assert "[2] (85.8)" in first
    assert "4 cells computed, 0 were there before" in first
    assert "2 cells computed, 4 were there before" in second
    command("report", "--document", "docs/results.md")
    assert "| LABELS |" in (tmp_path / "docs" / "results.md").read_text()


def test_the_page_is_that_of_the_committed_records(tmp_path, command):
    """On a fresh clone, without data sets, every byte of the page and its tables comes from the records."""
    command("report", "-o", ROOT / "reproduction" / "records", "--document", tmp_path / "results.md")
    measured = ROOT / "docs" / "measured"
    assert (tmp_path / "results.md").read_text() == (measured / "results.md").read_text()
    for path in (tmp_path / "results").iterdir():
        assert path.read_text() == (measured / "results" / path.name).read_text(), path.name
