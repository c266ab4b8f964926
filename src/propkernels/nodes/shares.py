"""Shares of classes: decisions move towards the classes that unlabeled nodes have, by their predictions.

Labeled nodes are often drawn class by class, so that their classes have other shares than those of the whole
graph. Chances ``softmax(b d_k + c_k)`` are learned from decisions d on held-out nodes, the shares of the
classes among unlabeled nodes are those that explain their chances best (expectation maximization [1]_, [2]_),
and half of the change is made, since estimated shares are uncertain. Offsets ``c_k / b`` also correct classes
that machines decide for too often.

References
----------
.. [1] M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to new a
   priori probabilities: a simple procedure. Neural Computation 14 (1), 21-41.
.. [2] A. Alexandari, A. Kundaje and A. Shrikumar (2020). Maximum likelihood with bias-corrected calibration
   is hard-to-beat at label shift adaptation. International Conference on Machine Learning, 222-232.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from propkernels.explain.decision_columns import by_class
from propkernels.nodes.members import NodeMember

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
MOVED = 0.5  # share of the change of log chances that is made
FEWEST_HELD = 10  # held-out nodes per class, on average; from fewer, no shares are estimated
MOST_UNLABELED = 20_000  # unlabeled nodes that shares are estimated from
LOG_SLOPE = 1.0  # middle of the prior of log b, whose deviation is 1
BIAS_DEVIATION = 0.5  # of the prior of c_k, whose middle is 0
ROUNDS = 100  # of expectation maximization


@dataclass(frozen=True)
class Shift:
    """What is added to decisions, and to the logits of classes.

    Attributes
    ----------
    offsets : ndarray, (decisions,)
    logits : ndarray, (classes,)
    """

    offsets: NDArray[np.float64]
    logits: NDArray[np.float64]

    def of(self, member: NodeMember) -> NodeMember:
        """Return a member with shifted decisions."""
        return replace(member, intercepts=member.intercepts + self.offsets)


def learn_shift(held: Matrix, truth: Indices, unlabeled: Matrix) -> Shift:
    """Return the shift of decisions.

    Parameters
    ----------
    held : ndarray, (held-out nodes, decisions)
    truth : ndarray of int64, (held-out nodes,)
        Their classes; each class must occur.
    unlabeled : ndarray, (unlabeled nodes, decisions)
    """
    slope, biases = chances_of(by_class(held), truth)
    before = np.bincount(truth) / len(truth)
    chances = softmax(slope * by_class(unlabeled) + biases, axis=1)
    logits = MOVED * np.log(estimate_shares(chances, before, len(truth)) / before)
    offsets = (biases + logits) / slope
    return Shift(offsets if held.shape[1] > 1 else np.diff(offsets) / 2, logits)


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
