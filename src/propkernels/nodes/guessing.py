"""Self-training: machines also learn from the surest predictions of unlabeled nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.decisions.support_vectors import Machine
from propkernels.decisions.tasks import Task
from propkernels.nodes.choosing import Arm, Choice, Labeled, fit_classes
from propkernels.nodes.members import ViewMap
from propkernels.nodes.spreading import TargetHops
from propkernels.selection.folds import Folds

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
GUESSED = 0.6  # share of the pool whose predicted class is taken as known: the surest of each class
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
    scores = np.column_stack([-decisions, decisions]) if decisions.shape[1] == 1 else decisions
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
    labeled: Labeled,
    arms: Sequence[Arm],
    train: Indices,
    weights: Any,
    maker: Any,
    seed: int,
    every_target: NDArray[Any],
) -> list[tuple[ViewMap, Machine]]:
    """Return machines of all arms that also learn from guessed classes of the pool, in two rounds [1]_.

    References
    ----------
    .. [1] Q. Li, Z. Han and X.-M. Wu (2018). Deeper insights into graph convolutional networks for
       semi-supervised learning. AAAI Conference on Artificial Intelligence, 3538-3545.
    """
    targets = labeled.hops(train) if any(arm.view.uses_targets for arm in arms) else None
    fitted = _fit_arms(labeled, arms, train, targets, weights, maker, seed, every_target, None)
    for _ in range(2):
        rows = [
            machine.decisions(view_map.rows(labeled.parts(arm.view, labeled.pool, targets)))
            for arm, (view_map, machine) in zip(arms, fitted, strict=True)
        ]
        guesses = guess(labeled, np.mean(rows, axis=0))
        fitted = _fit_arms(labeled, arms, train, targets, weights, maker, seed, every_target, guesses)
    return fitted


def _fit_arms(
    labeled: Labeled,
    arms: Sequence[Arm],
    train: Indices,
    targets: TargetHops | None,
    weights: Any,
    maker: Any,
    seed: int,
    every_target: NDArray[Any],
    guesses: Guesses | None,
) -> list[tuple[ViewMap, Machine]]:
    """Return a machine per arm, fitted to labeled nodes and guesses."""
    places, target, shares = train, labeled.target[train], weights
    if guesses is not None:
        places, target = np.concatenate([train, guesses.places]), np.concatenate([target, guesses.classes])
        known = np.ones(len(train)) if weights is None else np.asarray(weights)
        shares = np.concatenate([known, np.full(len(guesses.places), GUESS_WEIGHT * known.mean())])
    fitted = []
    for arm in arms:
        view_map = ViewMap(arm.view, labeled.parts(arm.view, places, targets), seed)
        fitted.append((view_map, fit_classes(maker, view_map.known, target, arm.cost, shares, every_target)))
    return fitted


def guessing_helps(
    labeled: Labeled, choice: Choice, folds: Folds, task: Task, maker: Any, seed: int
) -> Matrix | None:
    """Return the held-out decisions of machines that guess; None if their loss is not smaller."""
    losses, decisions = [], []
    for train, held in folds:
        if task.is_constant(labeled.target[train]):
            continue
        weights = None if task.weights is None else task.weights[train]
        settings = (train, weights, maker, seed, labeled.target)
        fitted = fit_guessing(labeled, choice.arms, *settings)
        targets = labeled.hops(train) if any(arm.view.uses_targets for arm in choice.arms) else None
        found = [
            machine.decisions(view_map.rows(labeled.parts(arm.view, held, targets)))
            for arm, (view_map, machine) in zip(choice.arms, fitted, strict=True)
        ]
        mean = np.mean(found, axis=0)
        decisions.append(mean)
        losses.append(task.losses(_predicted(mean), labeled.target[held]))
    before = task.losses(_predicted(choice.held_decisions()), labeled.target[choice.held])
    return np.concatenate(decisions) if np.concatenate(losses).mean() < before.mean() else None


def _predicted(decisions: Matrix) -> NDArray[np.int64]:
    if decisions.shape[1] == 1:
        return (decisions[:, 0] > 0).astype(np.int64)
    return decisions.argmax(axis=1)
