"""What unlabeled nodes teach: guessed classes, and shares of classes.

Self-training: machines also learn from the surest predictions of unlabeled nodes [1]_.

Labeled nodes are often drawn class by class, so that their classes have other shares than those of the whole
graph. Chances ``softmax(b d_k + c_k)`` are learned from decisions d on held-out nodes, the shares of the
classes among unlabeled nodes are those that explain their chances best (expectation maximization [2]_, [3]_),
and half of the change is made, since estimated shares are uncertain. Offsets ``c_k / b`` also correct classes
that machines decide for too often.

References
----------
.. [1] Q. Li, Z. Han and X.-M. Wu (2018). Deeper insights into graph convolutional networks for
   semi-supervised learning. AAAI Conference on Artificial Intelligence, 3538-3545.
.. [2] M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to new a
   priori probabilities: a simple procedure. Neural Computation 14 (1), 21-41.
.. [3] A. Alexandari, A. Kundaje and A. Shrikumar (2020). Maximum likelihood with bias-corrected calibration
   is hard-to-beat at label shift adaptation. International Conference on Machine Learning, 222-232.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from propkernels.explain.decisions import by_class
from propkernels.models.folds import Folds
from propkernels.models.least_squares import Linear
from propkernels.nodes.choosing import FEWEST_HELD, Arm, Choice, Goal, Labeled, fit_arms, mean_by_share
from propkernels.nodes.members import NodeMember, ViewMap
from propkernels.nodes.spreading import TargetHops

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
GUESSED = 0.6  # share of the pool whose predicted class is taken as known: the surest of each class
FEWEST_LANDMARKS = 300  # of radial machines that learn from guesses
GUESS_WEIGHT = 0.2  # weight of such a node beside 1 for a labeled one
MOVED = 0.5  # share of the change of log chances that is made
MOST_UNLABELED = 20_000  # unlabeled nodes that shares are estimated from
LOG_SLOPE = 1.0  # middle of the prior of log b, whose deviation is 1
BIAS_DEVIATION = 0.5  # of the prior of c_k, whose middle is 0
ROUNDS = 100  # of expectation maximization


def guess(decisions: Matrix) -> tuple[Indices, Indices]:
    """Return places and classes of the surest decisions, by the lead of their class, class by class."""
    scores = by_class(decisions)
    ordered = np.sort(scores, axis=1)
    lead, predicted = ordered[:, -1] - ordered[:, -2], scores.argmax(axis=1)
    kept = []
    for number in np.unique(predicted):
        members = np.flatnonzero(predicted == number)
        surest = members[np.argsort(-lead[members], kind="stable")]
        kept.append(surest[: int(np.ceil(GUESSED * len(members)))])
    chosen = np.sort(np.concatenate(kept))
    return chosen, predicted[chosen]


def fit_guessing(
    labeled: Labeled, arms: Sequence[Arm], train: Indices, targets: TargetHops | None, seed: int
) -> list[tuple[ViewMap, Linear]]:
    """Return machines of all arms that also learn from guessed classes of the pool, in two rounds."""
    goal = labeled.goal.at(train)
    assert goal.classes is not None
    fitted = fit_arms(labeled, arms, train, goal, targets, seed)
    shares = np.ones(len(train)) if goal.weights is None else goal.weights
    for _ in range(2):
        chosen, guessed = guess(_mean_decisions(labeled, arms, fitted, labeled.pool, targets))
        # 1 for the class of a column and -1 for others; a single column is that of the second class
        n_columns = goal.columns.shape[1]
        positive = np.array([1]) if n_columns == 1 else np.arange(n_columns)
        both = Goal(
            np.vstack([goal.columns, np.where(guessed[:, None] == positive, 1.0, -1.0)]),
            np.concatenate([goal.classes, guessed]),
            True,
            np.concatenate([shares, np.full(len(chosen), GUESS_WEIGHT * shares.mean())]),
        )
        places = np.concatenate([train, labeled.pool[chosen]])
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


def shift_of(held: Matrix, truth: Indices, unlabeled: Matrix, n_classes: int) -> NDArray[np.float64] | None:
    """Return what is added to decisions, (decisions,); None if there are too few nodes to tell.

    Parameters
    ----------
    held : ndarray, (held-out nodes, decisions)
    truth : ndarray of int64, (held-out nodes,)
        Their classes.
    unlabeled : ndarray, (unlabeled nodes, decisions)
        In random order.
    n_classes : int
    """
    too_few = len(truth) < FEWEST_HELD * n_classes or len(np.unique(truth)) < n_classes
    if too_few or not len(unlabeled):
        return None
    slope, biases = chances_of(by_class(held), truth)
    before = np.bincount(truth) / len(truth)
    chances = softmax(slope * by_class(unlabeled[:MOST_UNLABELED]) + biases, axis=1)
    logits = MOVED * np.log(estimate_shares(chances, before, len(truth)) / before)
    offsets = (biases + logits) / slope
    return offsets if held.shape[1] > 1 else np.diff(offsets) / 2


def chances_of(scores: Matrix, truth: Indices) -> tuple[float, NDArray[np.float64]]:
    """Return the most likely b and c of ``softmax(b d_k + c_k)``, given normal priors of log b and c_k."""
    from scipy.optimize import minimize

    rows, n = np.arange(len(truth)), len(truth)
    middle = np.append(LOG_SLOPE, np.zeros(scores.shape[1]))
    stiffness = np.append(1.0, np.full(scores.shape[1], 1 / BIAS_DEVIATION**2))

    def loss(parameters: Any) -> tuple[float, Any]:
        slope, gap = np.exp(parameters[0]), parameters - middle
        logs = log_softmax(slope * scores + parameters[1:], axis=1)
        excess = np.exp(logs)
        excess[rows, truth] -= 1
        slopes = np.append(slope * np.sum(excess * scores), excess.sum(axis=0)) + stiffness * gap
        return float((stiffness @ gap**2 / 2 - logs[rows, truth].sum()) / n), slopes / n

    bounds = [(-5, 5), *[(-20, 20)] * scores.shape[1]]
    found = minimize(loss, middle, jac=True, method="L-BFGS-B", bounds=bounds)
    return float(np.exp(found.x[0])), np.asarray(found.x[1:])


def estimate_shares(chances: Matrix, before: NDArray[np.float64], n_held: int) -> NDArray[np.float64]:
    """Return the shares of classes that explain chances learned under the shares ``before``.

    ``n_held`` nodes with the shares ``before`` count as well, so that few unlabeled nodes change little.
    """
    shares = before
    for _ in range(ROUNDS):
        posterior = chances * (shares / before)
        posterior /= posterior.sum(axis=1, keepdims=True)
        shares = (posterior.sum(axis=0) + n_held * before) / (len(chances) + n_held)
    return shares
