"""Self-training: machines also learn from the surest predictions of unlabeled nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels.explain.decision_columns import by_class
from propkernels.models.folds import Folds
from propkernels.models.least_squares import Linear
from propkernels.nodes.choosing import Arm, Choice, Goal, Labeled, fit_arms, mean_by_share
from propkernels.nodes.members import NodeMember, ViewMap
from propkernels.nodes.spreading import TargetHops

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
GUESSED = 0.6  # share of the pool whose predicted class is taken as known: the surest of each class
FEWEST_LANDMARKS = 300  # of radial machines that learn from guesses
GUESS_WEIGHT = 0.2  # weight of such a node beside 1 for a labeled one


@dataclass(frozen=True)
class Guesses:
    """Nodes whose predicted class is taken as known.

    Attributes
    ----------
    places : ndarray of int64
        Places among the rows of labeled nodes and pool.
    classes : ndarray of int64
    """

    places: Indices
    classes: NDArray[np.int64]


def guess(labeled: Labeled, decisions: Matrix) -> Guesses:
    """Return the surest nodes of the pool, by the lead of their class over the next one, class by class."""
    scores = by_class(decisions)
    ordered = np.sort(scores, axis=1)
    lead, predicted = ordered[:, -1] - ordered[:, -2], scores.argmax(axis=1)
    kept = []
    for number in np.unique(predicted):
        members = np.flatnonzero(predicted == number)
        surest = members[np.argsort(-lead[members], kind="stable")]
        kept.append(surest[: int(np.ceil(GUESSED * len(members)))])
    chosen = np.sort(np.concatenate(kept))
    return Guesses(labeled.pool[chosen], predicted[chosen])


def fit_guessing(
    labeled: Labeled, arms: Sequence[Arm], train: Indices, targets: TargetHops | None, seed: int
) -> list[tuple[ViewMap, Linear]]:
    """Return machines of all arms that also learn from guessed classes of the pool, in two rounds [1]_.

    References
    ----------
    .. [1] Q. Li, Z. Han and X.-M. Wu (2018). Deeper insights into graph convolutional networks for
       semi-supervised learning. AAAI Conference on Artificial Intelligence, 3538-3545.
    """
    goal = labeled.goal.at(train)
    assert goal.classes is not None
    fitted = fit_arms(labeled, arms, train, goal, targets, seed)
    shares = np.ones(len(train)) if goal.weights is None else goal.weights
    for _ in range(2):
        guesses = guess(labeled, _mean_decisions(labeled, arms, fitted, labeled.pool, targets))
        weights = np.full(len(guesses.places), GUESS_WEIGHT * shares.mean())
        both = Goal(
            np.vstack([goal.columns, target_columns(guesses.classes, goal.columns.shape[1])]),
            np.concatenate([goal.classes, guesses.classes]),
            True,
            np.concatenate([shares, weights]),
        )
        places = np.concatenate([train, guesses.places])
        fitted = fit_arms(labeled, arms, places, both, targets, seed, max(FEWEST_LANDMARKS, len(train)))
    return fitted


def _mean_decisions(
    labeled: Labeled,
    arms: Sequence[Arm],
    fitted: Sequence[tuple[ViewMap, Linear]],
    places: Indices,
    targets: TargetHops | None,
) -> Matrix:
    """Return the mean decisions of the machines of all arms on the nodes at some places."""
    found = [
        machine.decisions(view_map.rows(labeled.parts(arm.view, places, targets)))
        for arm, (view_map, machine) in zip(arms, fitted, strict=True)
    ]
    return mean_by_share(arms, found)


def target_columns(classes: Indices, n_columns: int) -> Matrix:
    """Return 1 for the class of a column and -1 for others; a single column is that of the second class."""
    positive = np.array([1]) if n_columns == 1 else np.arange(n_columns)
    return np.where(classes[:, None] == positive, 1.0, -1.0)


def fit_guessing_members(
    labeled: Labeled, arms: Sequence[Arm], targets: TargetHops | None, seed: int
) -> list[NodeMember]:
    """Return one member per arm, fitted to all labeled nodes and to guessed classes."""
    fitted = fit_guessing(labeled, arms, np.arange(len(labeled.nodes)), targets, seed)
    return [view_map.member(machine) for view_map, machine in fitted]


def guessing_helps(labeled: Labeled, choice: Choice, folds: Folds, seed: int) -> Matrix | None:
    """Return the held-out decisions of machines that guess; None if their loss is not smaller."""
    losses, decisions = [], []
    for (train, held), targets in zip(folds, choice.hops, strict=True):
        if labeled.goal.at(train).is_constant:
            continue
        fitted = fit_guessing(labeled, choice.arms, train, targets, seed)
        decisions.append(_mean_decisions(labeled, choice.arms, fitted, held, targets))
        losses.append(labeled.goal.at(held).losses(decisions[-1]))
    before = labeled.goal.at(choice.held).losses(choice.held_decisions())
    return np.concatenate(decisions) if np.concatenate(losses).mean() < before.mean() else None
