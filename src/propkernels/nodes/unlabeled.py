"""Shares of classes among unlabeled nodes, which decisions move towards.

Labeled nodes are often drawn class by class, so that their classes have other shares than those of the whole
graph. With the slope b of calibrated probabilities, biases ``c_k`` are half of those for which the mean
chances ``softmax(b d_k + c_k)`` of held-out nodes are the shares of their classes. The shares among unlabeled
nodes are those that explain their chances best (expectation maximization [1]_, [2]_), and half of the change
is made: halves, since both are estimates.

References
----------
.. [1] M. Saerens, P. Latinne and C. Decaestecker (2002). Adjusting the outputs of a classifier to new a
   priori probabilities: a simple procedure. Neural Computation 14 (1), 21-41.
.. [2] A. Alexandari, A. Kundaje and A. Shrikumar (2020). Maximum likelihood with bias-corrected calibration
   is hard-to-beat at label shift adaptation. International Conference on Machine Learning, 222-232.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from propkernels._utils.typing import Indices, Matrix
from propkernels.explain.decisions import by_class
from propkernels.models.calibrate import calibrate

FEWEST_HELD = 10  # held-out nodes per class, on average; from fewer, no shares are estimated
MOVED = 0.5  # share of each change of log chances that is made
MOST_UNLABELED = 20_000  # unlabeled nodes that shares are estimated from
ROUNDS = 100  # of fixed points


def shift_of(held: Matrix, truth: Indices, unlabeled: Matrix, n_classes: int) -> NDArray[np.float64]:
    """Return what is added to decisions, (decisions,); zeros if there are too few nodes to tell.

    Parameters
    ----------
    held : ndarray, (held-out nodes, decisions)
    truth : ndarray of int64, (held-out nodes,)
        Their classes.
    unlabeled : ndarray, (unlabeled nodes, decisions)
    n_classes : int
    """
    too_few = len(truth) < FEWEST_HELD * n_classes or len(np.unique(truth)) < n_classes
    if too_few or not len(unlabeled):
        return np.zeros(held.shape[1])
    slope, before = calibrate(held, truth).slopes[0], np.bincount(truth) / len(truth)
    scores, biases = slope * by_class(held), np.zeros(n_classes)
    for _ in range(ROUNDS):
        mean = softmax(scores + biases, axis=1).mean(axis=0)
        biases += np.log(before / mean.clip(np.finfo(float).tiny)) / 2
    biases *= MOVED
    chances = softmax(slope * by_class(unlabeled) + biases, axis=1)
    logits = MOVED * np.log(estimate_shares(chances, before, len(truth)) / before)
    offsets = (biases + logits) / slope
    return offsets if held.shape[1] > 1 else np.diff(offsets) / 2


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
