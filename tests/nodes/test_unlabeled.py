"""Unlabeled nodes: planted shares of classes are found, and decisions move towards them."""

import numpy as np
import pytest
from scipy.sparse import coo_array

import propkernels as pk
from propkernels.nodes.unlabeled import estimate_shares, shift_of

N_CLASSES = 3


def draw(shares, n, seed, slope=2.0):
    """Return decisions whose chances under equal shares are ``softmax(slope d)``, and classes."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(shares)), np.round(n * np.asarray(shares)).astype(int))
    decisions = rng.normal(size=(len(truth), len(shares))) / np.sqrt(slope)
    decisions[np.arange(len(truth)), truth] += 1.0  # normal with variance 1 / slope: logits slope * d
    return decisions, truth


def test_planted_shares_are_estimated():
    shares = np.array([0.7, 0.2, 0.1])
    decisions, _ = draw(shares, 10_000, 1)
    chances = np.exp(2.0 * decisions)
    chances /= chances.sum(axis=1, keepdims=True)
    found = estimate_shares(chances, np.full(3, 1 / 3), 30)
    assert found == pytest.approx(shares, abs=0.02)


def test_few_unlabeled_nodes_change_little():
    chances = np.array([[0.98, 0.01, 0.01]])
    found = estimate_shares(chances, np.full(3, 1 / 3), 99)
    assert np.abs(found - 1 / 3).max() < 0.01


def test_shifted_decisions_are_right_more_often_where_shares_differ():
    held, truth = draw([1 / 3, 1 / 3, 1 / 3], 600, 2)
    unlabeled, classes = draw([0.8, 0.1, 0.1], 5000, 3)
    shift = shift_of(held, truth, unlabeled, 3)
    before = np.mean(unlabeled.argmax(axis=1) == classes)
    after = np.mean((unlabeled + shift).argmax(axis=1) == classes)
    assert after > before + 0.03
    assert shift[0] > max(shift[1:])


def test_equal_shares_hardly_move_decisions():
    held, truth = draw([0.5, 0.3, 0.2], 2000, 4)
    chances = 2.0 * held + np.log([0.5, 0.3, 0.2])  # calibrated for these shares
    unlabeled, _ = draw([0.5, 0.3, 0.2], 5000, 5)
    shift = shift_of(chances / 2, truth, unlabeled + np.log([0.5, 0.3, 0.2]) / 2, 3)
    assert np.abs(shift - shift.mean()).max() < 0.1


def test_two_classes_have_one_offset():
    held, truth = draw([0.5, 0.5], 400, 6)
    unlabeled, _ = draw([0.9, 0.1], 1000, 7)
    one = shift_of(held[:, [1]] - held[:, [0]], truth, unlabeled[:, [1]] - unlabeled[:, [0]], 2)
    assert one.shape == (1,)
    assert one[0] < 0  # the second class is rare
    few = held[:19, [1]] - held[:19, [0]]
    assert shift_of(few, truth[:19], unlabeled, 2).tolist() == [0.0]
    assert shift_of(held, truth, unlabeled[:0], 2).tolist() == [0.0, 0.0]


@pytest.fixture(scope="module")
def groups():
    """A graph with groups of 240, 40 and 20 nodes and weak attributes; twelve labeled nodes per group."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(N_CLASSES), [240, 40, 20])
    n = len(truth)
    source = np.repeat(np.arange(n), 3)
    target = rng.integers(n, size=len(source))
    edges = (np.concatenate([source, target]), np.concatenate([target, source]))
    adjacency = coo_array((np.ones(2 * len(source)), edges), shape=(n, n)).tocsr()
    adjacency.data[:] = 1.0
    attributes = rng.normal(size=(n, 4)) + np.eye(N_CLASSES, 4)[truth]
    y = np.full(n, -1)
    for k in range(N_CLASSES):
        y[rng.permutation(np.flatnonzero(truth == k))[:12]] = k
    return pk.GraphDatabase(adjacency, [0, n], node_attributes=attributes), y, truth


def fitted(groups, **settings):
    graph, y, _ = groups
    return pk.NodeClassifier(random_state=0, **settings).fit(graph, y)


def test_models_move_towards_frequent_classes(groups):
    _, y, truth = groups
    unlabeled = y == -1
    shifted, weighted = fitted(groups), fitted(groups, class_weight="balanced")
    share = [np.mean(model.predict()[unlabeled] == 0) for model in (shifted, weighted)]
    assert share[0] > share[1]
    assert shifted.predict_proba()[:, 0].mean() > weighted.predict_proba()[:, 0].mean()
    assert np.mean(shifted.predict_proba().argmax(axis=1) == shifted.predict()) > 0.8
    assert np.mean(shifted.predict()[unlabeled] == truth[unlabeled]) > np.mean(
        weighted.predict()[unlabeled] == truth[unlabeled]
    )


def test_shifted_decisions_are_those_of_the_members(groups):
    graph, y, _ = groups
    model = fitted(groups)
    assert model.decision_function(graph, y) == pytest.approx(model.decision_function(), abs=1e-9)
    explanation = model.explain([0])
    total = explanation.neighbor_totals(0).sum() + explanation.intercepts[0]
    assert total == pytest.approx(explanation.decisions[0], abs=1e-9)


def test_few_labels_move_no_decisions(groups):
    graph, y, _ = groups
    few = np.full(len(y), -1)
    for k in range(N_CLASSES):
        few[np.flatnonzero(y == k)[:5]] = k
    plain = pk.NodeClassifier(random_state=0).fit(graph, few)
    weighted = pk.NodeClassifier(random_state=0, class_weight="balanced").fit(graph, few)
    assert plain.decision_function() == pytest.approx(weighted.decision_function())
