"""Experiments of the paper on tiny data: every cell of the paper has a job, and every method runs."""

from dataclasses import replace

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import Dataset
from reproduction.engine.cells import Store
from reproduction.engine.jobs import Context, Job, Scope, run
from reproduction.engine.published import published, rows_and_columns
from reproduction.engine.sections import State
from reproduction.experiments import (
    attributed,
    grids,
    labelled,
    noise,
    partial_runtime,
    partially_labelled,
    point_clouds,
    point_graphs,
    runtimes,
    sensitivity,
)
from reproduction.protocols.nested import folds_of
from reproduction.registry import experiments


@pytest.mark.parametrize("table", ["labelled", "partially_labelled", "attributed", "point_clouds", "grids"])
def test_no_cell_of_the_paper_is_missing(table):
    places = {cell.place[1:] for job in experiments()[table].jobs(Scope()) for cell in job.cells}
    for row, column in rows_and_columns(table):
        if published(table, row, column).accuracy is not None:
            assert (row, column) in places


TASKS = [
    *(labelled.task(row, "MUTAG") for row in labelled.RECIPES),
    *(partially_labelled.task(row, "MSRC_9", 40) for row in partially_labelled.RECIPES),
    *(attributed.task(row, "ENZYMES") for row in attributed.ROWS),
    *(point_clouds.task(row) for row in point_clouds.RECIPES if row != "P2K labels+attr"),
    *(noise.task(row, "MUTAG", kind, 40) for row in noise.ROWS for kind in noise.KINDS),
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
        assert store[cell]["kernel_seconds"] >= 0


def sections_after(module, jobs, store):
    outcome = run(jobs, store, n_jobs=1)
    return module.sections(State(store, jobs, outcome.absent))


@pytest.mark.slow
def test_heat_maps(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(sensitivity, "STEPS", (0, 5, 10))
    jobs = [Job((sensitivity.cell(name, -5),), name, sensitivity.work) for name in ("MUTAG", "FIRSTMM_DB")]
    (section,) = sections_after(sensitivity, jobs, Store(tmp_path))
    assert [row[:2] for row in section.rows] == [
        (name, variant) for name in ("MUTAG", "FIRSTMM_DB") for variant in ("plain", "normalized")
    ]
    assert "the paper: from 88.2 to 82.9 %" in section.notes[0]
    assert section.figures["sensitivity"]().axes


@pytest.mark.slow
def test_noise(tiny, tmp_path):
    jobs = [noise.task("LABELS", "MUTAG", kind, share).job(1) for kind in noise.KINDS for share in (0, 100)]
    (section,) = sections_after(noise, jobs, Store(tmp_path))
    hidden, flipped = section.rows
    assert hidden[:3] == ("MUTAG", "hidden", "LABELS")
    assert hidden[3] == flipped[3]  # nothing is hidden, nothing flipped
    assert section.figures["noise"]().axes


def test_partial_runtime(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(partial_runtime, "STEPS", (0, 2))
    (section,) = sections_after(partial_runtime, partial_runtime.jobs(Scope(repeats=2)), Store(tmp_path))
    assert [row[0] for row in section.rows] == ["PK", "WL", "LP+WL"]
    assert section.figures["partial_runtime"]().axes


@pytest.mark.parametrize("module", [sensitivity, noise, partial_runtime, point_graphs])
def test_what_was_not_run_says_so(module, tmp_path):
    sections = module.sections(State(Store(tmp_path), module.jobs(Scope())))
    text = " ".join(str((section.notes, section.rows)) for section in sections)
    assert "not run" in text or "not installed" in text


def test_runtimes_are_the_best_of_several(tiny, tmp_path):
    (section,) = sections_after(runtimes, runtimes.jobs(Scope())[:1], Store(tmp_path))
    assert section.rows[0][0] == "MUTAG"
    assert section.rows[0][4:] == ("0.2", "0.2", "1")
    assert float(section.rows[0][3]) == pytest.approx(
        float(section.rows[0][2]) / float(section.rows[0][1]), rel=0.2
    )
    assert "of 1 data sets here, and on 0 of them in the paper" in section.notes[0]


def test_point_graphs(tmp_path):
    rng = np.random.default_rng(0)
    coordinates, normals = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    graphs = [(pk.convert.knn_graph(coordinates[start : start + 30]), [0] * 30) for start in (0, 30)]
    database = pk.check_graphs(graphs)
    attribute = 1 - pk.convert.curvature(database.adjacency, normals, mean=True)
    database = pk.GraphDatabase(
        database.adjacency, database.graph_ptr, node_labels=[0] * 60, node_attributes=attribute[:, None]
    )
    extras = {"coordinates": coordinates, "normals": normals}
    data = Dataset("FIRSTMM_DB", database, np.array([0, 1]), (), extras)
    ((_, value),) = point_graphs.work(data, [point_graphs.cell()], Context(Store(tmp_path)))
    assert value["equal graphs"] == 2
    assert value["edges in both"] == value["edges in the files"] == value["edges here"] == database.n_edges
    assert value["points with the same attribute"] == 60


@pytest.mark.slow
def test_grids(tmp_path, monkeypatch):
    target, rng = np.arange(48) % 3, np.random.default_rng(0)
    images = [rng.random((12, 12, 3)) * (0.4 + 0.2 * label) for label in target]
    palette = pk.images.KMeansColors(3, random_state=0).fit_transform(images)
    data = Dataset("PLANTS", palette, target, (), {"images": images})
    monkeypatch.setattr("reproduction.engine.jobs.load_source", lambda name: data)
    monkeypatch.setattr(grids, "folds_of", lambda target, repeat, groups: folds_of(target, repeat, 4, groups))
    accuracies, runtimes = sections_after(grids, grids.jobs(Scope(repeats=1))[:1], Store(tmp_path))
    assert [row[0] for row in accuracies.rows] == list(grids.ROWS)
    assert len(runtimes.rows) == 3
