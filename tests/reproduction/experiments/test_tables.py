"""Tables of accuracies: every cell of the paper has a job, and every method runs."""

import numpy as np
import pytest

from reproduction.engine.cells import Store
from reproduction.engine.jobs import Scope
from reproduction.engine.published import published, rows_and_columns
from reproduction.engine.runner import run
from reproduction.experiments import attributed, labelled, noise, partially_labelled, point_clouds
from reproduction.protocols.recipes import Recipe
from reproduction.registry import experiments

TABLES = ("labelled", "partially_labelled", "attributed", "point_clouds", "grids")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("quick", [False, True])
def test_no_cell_of_the_paper_is_missing(table, quick):
    places = {cell.place[1:] for job in experiments()[table].jobs(Scope(quick=quick)) for cell in job.cells}
    for row, column in rows_and_columns(table):
        if published(table, row, column).accuracy is not None:
            assert (row, column) in places


@pytest.mark.slow
@pytest.mark.parametrize("name", list(experiments()))
def test_quick_cells_are_full_cells(name):
    """Where they are not, as on a part of NCI1, the settings say so."""
    full = {cell for job in experiments()[name].jobs(Scope()) for cell in job.cells}
    quick = {cell for job in experiments()[name].jobs(Scope(quick=True)) for cell in job.cells}
    assert all('"graphs": 400' in cell.settings for cell in quick - full)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(experiments()))
def test_cells_have_files_of_their_own(name):
    cells = [cell for job in experiments()[name].jobs(Scope()) for cell in job.cells]
    assert len({cell.file_name.casefold() for cell in cells}) == len(cells)


def test_what_a_quick_run_leaves_out_says_why():
    skipped = [job for job in attributed.jobs(Scope(quick=True)) if job.skipped]
    assert skipped
    assert all("min on one core" in job.skipped or "those of PROTEINS" in job.skipped for job in skipped)
    assert not any(job.skipped for job in attributed.jobs(Scope()))


def smaller(task):
    """The same task, with fewer folds and candidates."""
    from dataclasses import replace

    recipe = Recipe(task.recipe.kernels, (0, 2), task.recipe.is_random, task.recipe.is_slow)
    return replace(task, recipe=recipe, costs=task.costs[:2], n_folds=2)


TASKS = [
    *(labelled.task(row, "MUTAG") for row in labelled.RECIPES),
    *(partially_labelled.task(row, "MSRC_9", 40) for row in partially_labelled.RECIPES),
    *(attributed.task(row, "ENZYMES") for row in attributed.ROWS),
    *(task for task in point_clouds.tasks() if task.row != "P2K labels+attr"),
    *(noise.task(row, "MUTAG", kind, 40) for row in noise.RECIPES for kind in noise.KINDS),
]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.experiment} {task.row} {task.column}")
def test_every_method_runs(task, tiny, tmp_path):
    task, store = smaller(task), Store(tmp_path)
    job = task.job(2)
    assert run([job], store, n_jobs=1).computed == 2
    for cell in job.cells:
        value = store[cell]
        assert set(task.variants) <= set(value)
        for variant in task.variants:
            judged = value[variant]
            assert judged["accuracy"] == pytest.approx(np.mean(judged["folds"]), abs=1e-3)
            assert len(judged["folds"]) == len(judged["chosen"])
        assert value["kernel_seconds"] >= 0


@pytest.mark.slow
def test_a_slow_kernel_is_kept(tiny, tmp_path):
    task, store = smaller(attributed.task("SP attr", "ENZYMES")), Store(tmp_path)
    run([task.job(1)], store)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "kernels").iterdir()}
    assert {path.suffix for path in files} == {".npz"}
    assert run([task.job(2)], store).computed == 1
    assert all(path.stat().st_mtime_ns == time for path, time in files.items())


def test_random_kernels_are_drawn_anew(tiny, tmp_path):
    store = Store(tmp_path)
    task = smaller(labelled.task("PK", "MUTAG"))
    graphs = tiny("MUTAG").graphs
    from reproduction.engine.jobs import Context

    first, second = (task.kernels(graphs, repeat, Context(store))[0]["2"] for repeat in (0, 1))
    assert not np.array_equal(first, second)
