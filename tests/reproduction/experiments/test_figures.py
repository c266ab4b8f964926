"""Experiments behind figures, and those without published numbers, on tiny data."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.datasets import Dataset
from reproduction.engine.cells import Store
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.runner import run
from reproduction.engine.sections import State
from reproduction.experiments import grids, noise, partial_runtime, peers, point_graphs, sensitivity


def sections_after(module, jobs, store):
    outcome = run(jobs, store, n_jobs=1)
    return module.sections(State(store, jobs, outcome.absent))


@pytest.mark.slow
def test_heat_maps(tiny, tmp_path):
    cells = tuple(sensitivity.cell("MUTAG", w, t) for w in (-5,) for t in (0, 2))
    other = tuple(sensitivity.cell("FIRSTMM_DB", -1, t) for t in (0, 2))
    jobs = [Job(cells, "MUTAG", sensitivity.work), Job(other, "FIRSTMM_DB", sensitivity.work)]
    (section,) = sections_after(sensitivity, jobs, Store(tmp_path))
    assert [row[:2] for row in section.rows] == [
        ("MUTAG", "plain"),
        ("MUTAG", "normalized"),
        ("FIRSTMM_DB", "plain"),
        ("FIRSTMM_DB", "normalized"),
    ]
    assert "the paper: from 88.2 to 82.9 %" in section.notes[-1]
    assert section.figures["sensitivity"]().axes


def test_a_part_of_nci1_is_named(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(sensitivity, "SUBSET", 20)
    jobs = [Job((sensitivity.cell("NCI1", -5, 0, quick=True),), "NCI1", sensitivity.work)]
    (section,) = sections_after(sensitivity, jobs, Store(tmp_path))
    assert section.notes == ["NCI1: a random subset of 20 graphs."]


@pytest.mark.slow
def test_noise(tiny, tmp_path):
    jobs = [noise.task("LABELS", "MUTAG", kind, share).job(1) for kind in noise.KINDS for share in (0, 100)]
    (section,) = sections_after(noise, jobs, Store(tmp_path))
    assert section.columns[3:] == ("0 %", "100 %")
    hidden, flipped = section.rows
    assert hidden[:3] == ("MUTAG", "hidden", "LABELS")
    assert hidden[3] == flipped[3]  # nothing is hidden, nothing flipped
    assert section.figures["noise"]().axes


def test_partial_runtime(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(partial_runtime, "STEPS", (0, 2))
    (section,) = sections_after(partial_runtime, partial_runtime.jobs(Scope(repeats=2)), Store(tmp_path))
    assert [row[0] for row in section.rows] == ["PK", "WL", "LP+WL"]
    assert "LP+WL / PK" in section.notes[0]
    assert section.figures["partial_runtime"]().axes


@pytest.mark.parametrize("module", [sensitivity, noise, partial_runtime, point_graphs, grids, peers])
def test_what_was_not_run_says_so(module, tmp_path):
    sections = module.sections(State(Store(tmp_path), module.jobs(Scope(quick=True))))
    text = " ".join(str((section.notes, section.rows)) for section in sections)
    assert "not run" in text or "not installed" in text


def test_point_graphs(tmp_path):
    rng = np.random.default_rng(0)
    coordinates, normals = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    graphs = [(pk.graphs.knn_graph(coordinates[start : start + 30]), [0] * 30) for start in (0, 30)]
    database = pk.check_graphs(graphs)
    attribute = 1 - pk.graphs.curvature(database.adjacency, normals, mean=True)
    database = pk.GraphDatabase(
        database.adjacency, database.graph_ptr, node_labels=[0] * 60, node_attributes=attribute[:, None]
    )
    data = Dataset(
        "FIRSTMM_DB", database, np.array([0, 1]), (), {"coordinates": coordinates, "normals": normals}
    )
    ((_, value),) = point_graphs.work(data, [point_graphs.cell()], Context(Store(tmp_path)))
    assert value["equal graphs"] == 2
    assert value["edges in both"] == value["edges in the files"] == value["edges here"] == database.n_edges
    assert value["points with the same attribute"] == 60
    assert len(point_graphs.notes(value)) == 2


def pictures(n=36):
    rng = np.random.default_rng(0)
    target = np.arange(n) % 3
    images = [rng.random((12, 12, 3)) * (0.4 + 0.2 * label) for label in target]
    palette = pk.images.KMeansColors(3, random_state=0).fit_transform(images)
    return Dataset("PLANTS", palette, target, (), {"images": images})


@pytest.mark.slow
def test_grids(tmp_path, monkeypatch):
    from reproduction.engine import runner

    monkeypatch.setattr(runner, "load_source", lambda name: pictures())
    monkeypatch.setattr("reproduction.protocols.nested.INNER_FOLDS", 2)
    jobs = grids.jobs(Scope(repeats=1, datasets=("PLANTS",)))
    accuracies, runtimes = sections_after(grids, jobs, Store(tmp_path))
    assert [row[1] for row in accuracies.rows] == list(grids.ROWS)
    assert accuracies.is_stand_in
    assert len(runtimes.rows) == 3
