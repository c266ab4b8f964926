"""Choice among views: partners of the best, and classes without training nodes."""

import numpy as np

from propkernels.decisions.ridge import FeatureClassification
from propkernels.nodes.choosing import ABSENT, MOST_MEMBERS, Arm, Choice, fit_classes, partners
from propkernels.nodes.views import Block, View

VIEWS = [View((Block("attributes", last=t),)) for t in range(6)]


def arm(view, *losses):
    return Arm(VIEWS[view], 1.0, [np.array(losses, dtype=float)], [np.zeros((len(losses), 1))])


def test_views_within_one_standard_error_are_partners():
    best, near, far = arm(0, 0, 0, 0, 1), arm(1, 0, 0, 1, 0), arm(2, 1, 1, 1, 1)
    assert partners([far, best, near], True) == [best, near]
    assert partners([far, best, near], False) == [best]


def test_a_view_is_a_partner_once_and_partners_are_few():
    twice = Arm(VIEWS[0], 10.0, [np.zeros(4)])
    found = partners([arm(view, 0, 0, 0, 0) for view in range(6)] + [twice], True)
    assert len(found) == MOST_MEMBERS
    assert len({one.view for one in found}) == MOST_MEMBERS


def test_the_score_is_that_of_the_best_arm():
    arms = [arm(0, 0, 0, 0, 1), arm(1, 1, 1, 1, 1)]
    assert Choice(arms, arms, np.arange(4)).score(True) == 0.75
    assert Choice(arms, arms, np.arange(4)).score(False) == -0.25
    assert np.isnan(Choice(arms, arms, np.arange(0)).score(True))


def test_a_class_without_training_nodes_is_never_decided():
    rows, target = np.array([[1.0], [0.9], [-1.0], [-0.8]]), np.array([0, 0, 2, 2])
    maker = FeatureClassification()
    (machine,) = fit_classes(maker, rows, target, [1.0], None, np.array([0, 1, 2]))
    decisions = machine.decisions(rows)
    assert (decisions[:, 1] == ABSENT).all()
    assert decisions.argmax(axis=1).tolist() == [0, 0, 2, 2]
