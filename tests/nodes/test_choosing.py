"""Choice among views: stretched decisions, averages, and classes without training nodes."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models.choose import MOST_KERNELS, Problem
from propkernels.nodes import choosing
from propkernels.nodes.choosing import ABSENT, Candidate, Labeled, fit
from propkernels.nodes.views import Block, Sheet, View

VIEWS = [View((Block("structure", last=t),)) for t in range(5)]
RNG = np.random.default_rng(0)


def problem(columns, strata=None, weights=None):
    n = len(columns)
    return Problem(
        np.arange(n), columns, np.zeros(n, dtype=np.int64) if strata is None else strata, 0, weights
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_stretched_decisions_are_those_of_a_regression_with_one_factor(weighted):
    truth = RNG.normal(size=(40, 2))
    decisions = 0.1 * truth + RNG.normal(size=(40, 2)) / 50 + 3.0
    weights = RNG.integers(1, 4, size=40).astype(float) if weighted else np.ones(40)
    candidate = Candidate.stretched(
        VIEWS[0], 1.0, decisions, problem(truth, weights=weights if weighted else None)
    )
    columns = np.zeros((80, 3))  # the factor, and one offset per column
    columns[:, 0] = decisions.T.ravel()
    columns[:40, 1] = columns[40:, 2] = 1.0
    root = np.sqrt(np.tile(weights, 2))
    expected = np.linalg.lstsq(root[:, None] * columns, root * truth.T.ravel(), rcond=None)[0]
    np.testing.assert_allclose([candidate.factor, *candidate.offsets], expected)
    np.testing.assert_allclose(candidate.held_out, candidate.factor * decisions + candidate.offsets)


def test_missing_targets_count_nothing_for_the_factor():
    truth = RNG.normal(size=(20, 1))
    decisions = truth / 2 + 1.0
    gaps = truth.copy()
    gaps[::4] = np.nan
    decisions[::4] = 100.0
    candidate = Candidate.stretched(VIEWS[0], 1.0, decisions, problem(gaps))
    assert candidate.factor == pytest.approx(2.0)
    assert candidate.offsets == pytest.approx([-2.0])


def test_decisions_that_point_the_wrong_way_are_left_as_they_are():
    truth = RNG.normal(size=(20, 1))
    candidate = Candidate.stretched(VIEWS[0], 1.0, -truth, problem(truth))
    assert (candidate.held_out == -truth).all()
    assert candidate.factor == 1.0


def test_the_rule_has_the_decisions_that_were_chosen():
    """On the nodes that are held out, a rule fitted to the training nodes decides as was chosen."""
    graph = pk.datasets.make_molecules(20, random_state=0).graphs
    n = graph.n_nodes
    target = (graph.degrees + RNG.normal(size=n))[:, None]
    inputs, _ = pk.nodes.inputs.learn_inputs(graph, "both", True, 0)
    labeled = Labeled.gather(Sheet(graph, inputs), problem(target), target, VIEWS)
    order = RNG.permutation(n)
    train, held = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    choice = choosing.choose(labeled, VIEWS, [(train, held)], (0.1, 1.0), 0)
    assert 1 <= len(choice.chosen) <= MOST_KERNELS
    assert (choice.held == held).all()
    rule = choosing.fit_rule(labeled.at(train), choice.chosen, None, 0)
    np.testing.assert_allclose(rule.decide(labeled.sheet, None)[held], choice.held_out, atol=1e-9)
    alone = [
        Candidate.stretched(candidate.view, 1.0, candidate.held_out, problem(target[held]))
        for candidate in choice.chosen
    ]
    errors = [np.mean((candidate.held_out - target[held]) ** 2) for candidate in alone]
    assert np.mean((choice.held_out - target[held]) ** 2) <= min(errors) + 1e-12


def test_a_class_without_training_nodes_is_never_decided():
    rows, target = np.array([[1.0], [0.9], [-1.0], [-0.8]]), np.array([0, 0, 2, 2])
    columns = np.where(target[:, None] == np.arange(3), 1.0, -1.0)
    (machine,) = fit(rows, problem(columns, target), [1.0])
    decisions = machine.decisions(rows)
    assert (decisions[:, 1] == ABSENT).all()
    assert decisions.argmax(axis=1).tolist() == [0, 0, 2, 2]


def test_of_many_nodes_in_folds_a_sample_decides(monkeypatch):
    monkeypatch.setattr(choosing, "MOST_GRAPHS", 60)
    graph = pk.datasets.make_molecules(20, random_state=0).graphs
    n = graph.n_nodes
    inputs, _ = pk.nodes.inputs.learn_inputs(graph, "both", True, 0)
    target = graph.degrees[:, None].astype(float)
    labeled = Labeled.gather(Sheet(graph, inputs), problem(target), target, VIEWS[:2])
    halves = np.arange(n) % 2 == 0
    folds = [
        (np.flatnonzero(halves), np.flatnonzero(~halves)),
        (np.flatnonzero(~halves), np.flatnonzero(halves)),
    ]
    several = choosing.choose(labeled, VIEWS[:2], folds, (1.0,), 0)
    assert len(np.unique(several.held)) == len(several.held) == 60
    assert len(choosing.choose(labeled, VIEWS[:2], folds[:1], (1.0,), 0).held) == (~halves).sum()
