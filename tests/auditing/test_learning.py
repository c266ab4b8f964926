"""Scores of baselines and kernels, suspects, and the targets that they are computed from."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.learning import additive, counts_by_graph, learning_of, simple_tables, suspects_of
from propkernels.auditing.statistics import Target, check_audit_target
from propkernels.models.folds import choosing_folds

EVERYONE = np.arange(4)


def test_simple_tables():
    graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    tables = simple_tables(graphs)
    assert tables["counting nodes and edges"][:, 0].tolist() == graphs.graph_sizes.tolist()
    assert tables["counting node labels"].sum(axis=1).tolist() == graphs.graph_sizes.tolist()
    assert tables["counting degrees"].sum() == graphs.n_nodes
    wide = counts_by_graph(np.arange(80), np.zeros(80, dtype=int), 1)
    assert wide.shape == (1, 50)
    assert wide[0, -1] == 31
    attributes = np.random.default_rng(0).normal(size=(graphs.n_nodes, 2))
    found = simple_tables(graphs.with_attributes(attributes))["averaging attributes"]
    own = attributes[graphs.graph_ids == 3]
    np.testing.assert_allclose(found[3], np.concatenate([own.mean(axis=0), own.std(axis=0)]))


def test_new_rows_are_on_the_curve_of_the_known_ones():
    known = np.linspace(0, 1, 200)[:, None]
    found = additive(known, np.abs(known - 0.5), np.array([[0.0], [0.5], [1.0]]))
    assert found.shape == (3, 1)
    assert found[1, 0] < 0.15 < 0.35 < min(found[0, 0], found[2, 0])


def study(values, classes):
    graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    kernel = pk.PropagationKernel(base_kernel="intersection", t_max=2, normalize=True, random_state=0)
    kernels = list(kernel.fit_transform_cumulative(graphs))
    return learning_of(graphs, kernels, Target(values, ("a", "b")), classes, 0, lambda what: None)


def test_noise_is_not_learned_and_molecules_are():
    target, classes = pk.datasets.make_molecules(60, random_state=0).target, np.arange(60) // 2
    noise = study(np.random.default_rng(1).permutation(np.arange(60) % 2), np.arange(60))
    assert abs(noise.scores[-1].mean - 0.5) < 0.2
    assert noise.score_with_duplicate is None
    found = study(target, classes)
    assert found.scores[-1].mean > 0.75
    assert found.scores[0].name == "majority class"
    assert found.scores[0].mean == pytest.approx(np.bincount(target).max() / 60, abs=0.02)
    assert len(found.by_step) == 3
    sizes = [size for size, _, _ in found.curve]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 48
    assert found.curve[-1][1:] == (found.scores[-1].mean, found.scores[-1].error)
    right = found.predictions == target
    assert right.mean() == pytest.approx(found.scores[-1].mean)
    folds = choosing_folds(target, 5, seed=0)
    twins = np.concatenate([test[np.isin(classes[test], classes[train])] for train, test in folds])
    assert found.score_with_duplicate == pytest.approx(right[twins].mean())
    assert found.score_without == pytest.approx(np.delete(right, twins).mean())


def test_suspects_have_their_names_and_the_nearest_graphs_of_other_classes():
    values = np.repeat([0, 1], 20)
    kernel = (values[:, None] == values) * 0.5 + np.eye(40) * 0.5
    kernel[0, 1] = kernel[1, 0] = 0.6
    flipped = values.copy()
    flipped[0] = 1
    suspects = suspects_of(kernel, 1.0, Target(flipped, ("a", "b")), 0, np.arange(100, 140))
    (suspect,) = suspects.listed
    assert suspects.graphs == (100,)
    assert (suspect.graph, suspect.given, suspect.predicted) == (100, "b", "a")
    assert suspect.neighbors[0] == (101, "a", 0.6)
    assert suspect.margin > 0


def test_errors_far_above_the_others_are_suspects():
    values = np.linspace(0.0, 1.0, 60)
    kernel = np.exp(-np.square(values[:, None] - values) / 0.02)
    values = values.copy()
    values[30] += 5.0
    assert suspects_of(kernel, 1.0, Target(values, ()), 0, np.arange(60)).graphs[0] == 30


def test_classes_are_columns_of_1_and_minus_1():
    two, three = Target(np.array([0, 1, 1, 0]), ("a", "b")), Target(np.array([0, 1, 2, 2]), ("a", "b", "c"))
    assert two.columns.tolist() == [[-1], [1], [1], [-1]]
    decisions = np.array([[-0.5], [0.5], [-0.1], [-2.0]])
    assert two.predictions(decisions).tolist() == [0, 1, 0, 0]
    assert two.score(decisions, EVERYONE) == 0.75
    assert three.columns.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [-1, -1, 1]]
    assert three.score(three.columns, EVERYONE) == 1.0
    assert three.score(three.columns[[1, 1, 1, 3]], EVERYONE) == 0.5


def test_targets_of_test_graphs_may_lack_classes():
    train = check_audit_target(["x", "y", "z"], 3, ("X", "Y", "Z"))
    test = check_audit_target(["z", "x"], 2, (), like=train)
    assert test.values.tolist() == [2, 0]
    assert [test.name(value) for value in test.values] == ["Z", "X"]
