"""Choice among views: partners of the best, shares by log loss, and classes without training nodes."""

import numpy as np
import pytest
from sklearn import metrics

from propkernels.nodes.choosing import (
    ABSENT,
    MOST_MEMBERS,
    SLOPES,
    Arm,
    Choice,
    Goal,
    fit_goal,
    log_loss,
    partners,
    select,
)
from propkernels.nodes.views import Block, View

VIEWS = [View((Block("attributes", last=t),)) for t in range(6)]


def arm(view, *losses):
    return Arm(VIEWS[view], 1.0, [np.array(losses, dtype=float)], [np.zeros((len(losses), 1))])


def test_views_within_one_standard_error_are_partners():
    best, near, far = arm(0, 0, 0, 0, 1), arm(1, 0, 0, 1, 0), arm(2, 1, 1, 1, 1)
    assert partners([far, best, near]) == [best, near]


def test_a_view_is_a_partner_once_and_partners_are_few():
    twice = Arm(VIEWS[0], 10.0, [np.zeros(4)])
    found = partners([arm(view, 0, 0, 0, 0) for view in range(6)] + [twice])
    assert len(found) == MOST_MEMBERS
    assert len({one.view for one in found}) == MOST_MEMBERS


def test_the_score_is_that_of_the_best_arm():
    arms = [arm(0, 0, 0, 0, 1), arm(1, 1, 1, 1, 1)]
    assert Choice(arms, arms, np.arange(4)).score() == 0.75
    assert np.isnan(Choice(arms, arms, np.arange(0)).score())


def deciding(view, cost, decisions):
    parts = [np.array(part, dtype=float) for part in decisions]
    return Arm(VIEWS[view], cost, [np.zeros(len(part)) for part in parts], parts)


def test_the_log_loss_is_that_of_the_best_slope():
    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(50, 3)), rng.integers(3, size=50)
    chances = [np.exp(b * scores) / np.exp(b * scores).sum(axis=1, keepdims=True) for b in SLOPES]
    assert log_loss(scores, truth) == pytest.approx(min(metrics.log_loss(truth, one) for one in chances))


def test_views_that_complete_each_other_are_selected_and_the_best_cost_of_each():
    truth = np.array([0, 0, 1, 1, 2, 2])
    sure = np.eye(3)[truth]
    left, right = sure.copy(), sure.copy()
    left[:2], right[4:] = 1 / 3, 1 / 3  # each tells nothing about one class
    useless = deciding(2, 1.0, [np.zeros((6, 3))])
    wrong = Arm(VIEWS[3], 1.0, [np.ones(6)], [left + right])  # more errors than others
    poor = deciding(0, 0.1, [0.1 - left[:3], 0.1 - left[3:]])
    arms = [wrong, useless, poor, deciding(0, 1.0, [left[:3], left[3:]]), deciding(1, 1.0, [right])]
    found = select(arms, truth, 0)
    assert {(one.view, one.cost, one.share) for one in found} == {(VIEWS[0], 1.0, 0.5), (VIEWS[1], 1.0, 0.5)}
    held = Choice(found, arms, np.arange(6)).held_decisions()
    np.testing.assert_allclose(held, (left + right) / 2)


def test_at_most_four_views_are_selected_and_shares_add_up_to_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    arms = [deciding(i, 1.0, [(2 * truth - 1 + 2 * rng.normal(size=300))[:, None]]) for i in range(6)]
    found = select(arms, truth, 0)
    assert len(found) == MOST_MEMBERS == len({one.view for one in found})
    assert sum(one.share for one in found) == 1.0


def test_a_class_without_training_nodes_is_never_decided():
    rows, target = np.array([[1.0], [0.9], [-1.0], [-0.8]]), np.array([0, 0, 2, 2])
    columns = np.where(target[:, None] == np.arange(3), 1.0, -1.0)
    (machine,) = fit_goal(rows, Goal(columns, target, True, None), [1.0])
    decisions = machine.decisions(rows)
    assert (decisions[:, 1] == ABSENT).all()
    assert decisions.argmax(axis=1).tolist() == [0, 0, 2, 2]
