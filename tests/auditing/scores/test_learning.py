"""Scores, simple things, learning curve and calibration."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.scores.baselines import (
    _left_out_error,
    baseline_predictions,
    counts_by_graph,
    simple_tables,
)
from propkernels.auditing.scores.closed_form import Held
from propkernels.auditing.scores.learning import Task, calibration_of, draw_folds, learning_of, reliability
from propkernels.auditing.scores.targets import Target


def study(target, classes=None, n=60):
    graphs = pk.datasets.make_molecules(n, random_state=0).graphs
    kernel = pk.PropagationKernel(base_kernel="intersection", t_max=2, normalize=True, random_state=0)
    kernels = list(kernel.fit_transform_cumulative(graphs))
    classes = np.arange(n) if classes is None else classes
    return learning_of(graphs, kernels, target, classes, 0, lambda what: None)


@pytest.mark.slow
def test_shuffled_targets_cannot_be_learned():
    """The nested score of noise is that of the majority, within its error."""
    values = np.random.default_rng(1).permutation(np.arange(60) % 2)
    found = study(Target(values, ("a", "b")))
    assert abs(found.scores[-1].mean - 0.5) < 0.2


@pytest.mark.slow
def test_classes_of_molecules_are_learned():
    data = pk.datasets.make_molecules(60, random_state=0)
    found = study(Target(data.target, ("a", "b")))
    assert found.scores[-1].mean > 0.75
    assert found.scores[0].name == "majority class"
    assert found.scores[0].mean == pytest.approx(np.bincount(data.target).max() / 60, abs=0.02)
    assert len(found.by_step) == 3
    sizes = [size for size, _, _ in found.curve]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 48
    assert (found.predictions == data.target).mean() == pytest.approx(found.scores[-1].mean)


@pytest.mark.slow
def test_graphs_with_a_duplicate_are_scored_apart():
    data = pk.datasets.make_molecules(60, random_state=0)
    classes = np.arange(60)
    classes[1] = classes[0]
    found = study(Target(data.target, ("a", "b")), classes)
    assert found.score_with_duplicate is not None or found.score_without is None


def test_simple_tables():
    graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    tables = simple_tables(graphs)
    assert tables["counting nodes and edges"][:, 0].tolist() == graphs.graph_sizes.tolist()
    assert tables["counting node labels"].sum(axis=1).tolist() == graphs.graph_sizes.tolist()
    assert tables["counting degrees"].sum() == graphs.n_nodes
    wide = counts_by_graph(np.arange(80), np.zeros(80, dtype=int), 1)
    assert wide.shape == (1, 50)
    assert wide[0, -1] == 31


def test_simple_things_find_what_is_simple():
    graphs = pk.datasets.make_molecules(80, random_state=2).graphs
    target = Target((graphs.graph_sizes > np.median(graphs.graph_sizes)).astype(np.int64), ("small", "large"))
    task, folds = Task(target), draw_folds(target, 0)
    guesses = baseline_predictions(graphs, task.columns, folds)
    right = task.predictions(guesses["counting nodes and edges"]) == target.values
    assert right.mean() > 0.9


def test_additive_model_leaves_out_one_graph_in_closed_form():
    """The error by which the penalty is chosen, against machines without each graph."""
    random = np.random.default_rng(0)
    known, wanted = random.normal(size=(12, 3)), random.normal(size=(12, 1))
    known, wanted = known - known.mean(axis=0), wanted - wanted.mean(axis=0)
    values, axes = np.linalg.eigh(known.T @ known)
    found = _left_out_error(known @ axes, values, wanted, 2.0)
    errors = []
    for i in range(12):
        others = np.delete(np.arange(12), i)
        middle, center = known[others].mean(axis=0), wanted[others].mean(axis=0)
        part = known[others] - middle
        weights = np.linalg.solve(part.T @ part + 2.0 * np.eye(3), part.T @ (wanted[others] - center))
        errors.append((wanted[i] - center - (known[i] - middle) @ weights) ** 2)
    assert found == pytest.approx(float(np.mean(errors)))


def test_reliability():
    sure = np.array([0.55, 0.55, 0.95, 0.95])
    found = reliability(sure, np.array([True, False, True, True]))
    assert found.counts == (2, 2)
    assert found.observed == (0.5, 1.0)
    assert found.error == pytest.approx(0.05)
    assert 0 < found.by_chance < 0.5


def test_intervals_hold_as_often_as_they_say():
    random = np.random.default_rng(0)
    target = Target(random.normal(size=2000), ())
    task, everyone = Task(target), np.arange(2000)
    folds = [(everyone[:1000], everyone[1000:]), (everyone[1000:], everyone[:1000])]
    noise = task.columns + random.normal(size=(2000, 1))
    held = [Held(noise[test], noise[train]) for train, test in folds]
    found = calibration_of(held, task, folds)
    np.testing.assert_allclose(found.observed, found.confidence, atol=0.03)
    assert found.error < 0.03
