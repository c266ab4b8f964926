"""Probabilities of classes, and sets and intervals with a coverage, from held-out decisions.

Probabilities have one temperature, and are more equal for graphs unlike those of training. With one decision
f_c(x) per class and the similarity sim(x) in [0, 1] of a graph to its nearest training graph,

    P(c | x) = softmax_c(slope * sim(x)^power * f_c(x)),

so that the largest probability is that of the largest decision. The slope minimizes the log loss of held-out
decisions. If all n of them are right, every larger slope has a smaller loss, but the next graph is expected
to be wrong with probability 1 / (n + 2): by Laplace's rule of succession, one graph that is right and one
that is wrong are added to the n, with the mean margin to all rivals. Home data cannot tell the power, since
held-out graphs resemble their own class. It is fitted with classes left out: a graph whose class the model
has not seen should get the uniform distribution over the others. These graphs have the total weight
``FOREIGN``: larger weights cost accuracy of probabilities at home. With two classes, nothing is left to
compare if one is left out, and the power is 0.

Sets of classes and intervals of numbers are those of conformal prediction.
Every training graph i has a score R_i from its held-out decision f_-i(x_i): |y_i - f_-i(x_i)| for numbers,
and 1 / (1 + exp(margin)) for classes, where the margin is how far the graph's class is ahead of its strongest
rival. With n scores and r = ceil(coverage (n + 1)), q is the r-th smallest one. The interval of a new graph
is [f(x) - q, f(x) + q]; a class is in its set if the score of the class is at most q, with scores and q of
each class apart (Mondrian), so that each class has the coverage.

Held-out decisions are those of ten folds, without each of which the model is chosen anew (cross-conformal
prediction [1]_, [2]_): the decisions of one model about the graphs that chose it are too good. New graphs are
decided by the model of all graphs, whose guarantee needs decisions that hardly change if a fold is left out.
With few graphs a little more is covered than asked for; measured coverage is in the documentation.

References
----------
.. [1] V. Vovk (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 9-28.
   doi:10.1007/s10472-013-9368-4.
.. [2] R. F. Barber, E. J. Candes, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
   jackknife+. Annals of Statistics 49 (1), 486-507. doi:10.1214/20-AOS1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

from propkernels._utils.checks import check_nonnegative, shown
from propkernels._utils.stored import require
from propkernels._utils.typing import Matrix, Values
from propkernels.explain.decisions import by_class

FOREIGN = 0.01  # total weight of graphs whose class is left out
POWERS = tuple(range(11))
SLOPES = (-4.0, 6.0)  # natural logarithms of the smallest and the largest slope
LEAST_SIMILARITY = 1e-3


@dataclass(frozen=True)
class Calibration:
    """Slope and power of the formula above; several labels have one slope each, and power 0.

    Attributes
    ----------
    slopes : ndarray, (1,) or (labels,)
    power : float
    multilabel : bool
    """

    slopes: Values
    power: float
    multilabel: bool = False

    def _check_parts(self) -> None:
        """Raise if slopes or power are out of range."""
        fits = self.slopes.ndim == 1 and len(self.slopes) and bool((self.slopes > 0).all())
        require(fits and bool(np.isfinite(self.slopes).all()), "slopes of a calibration are positive")
        require(0 <= self.power <= POWERS[-1], "the power of a calibration is out of range")

    def probabilities(self, decisions: Matrix, similarities: Values | None = None) -> Matrix:
        """Return probabilities, (graphs, classes), from decisions; a single column is that of two classes."""
        if self.multilabel:
            return np.asarray(expit(self.slopes * decisions))
        scale = np.full(len(decisions), self.slopes[0])
        if self.power:
            assert similarities is not None
            scale *= similarities.clip(LEAST_SIMILARITY) ** self.power
        return np.asarray(softmax(scale[:, None] * by_class(decisions), axis=1))


def calibrate(
    held_out: Matrix,
    classes: NDArray[np.int64],
    similarities: Values | None = None,
    left_out: Matrix | None = None,
    foreign_similarities: Values | None = None,
) -> Calibration:
    """Fit a calibration to held-out decisions.

    Parameters
    ----------
    held_out : ndarray, (n, classes) or (n, 1)
    classes : ndarray of int64, (n,)
    similarities : ndarray, (n,), optional
        Similarity of each graph to the nearest other training graph.
    left_out : ndarray, (n, classes), optional
        Decisions about each graph with its whole class left out; that of its own class is not used.
    foreign_similarities : ndarray, (n,), optional
        Similarity of each graph to the nearest graph of another class.
    """
    home = by_class(held_out)
    own = np.arange(home.shape[1]) == classes[:, None]
    if left_out is None or home.shape[1] == 2:
        _, slope = _slope([(home, own.astype(np.float64), np.ones(len(home)), 1.0)])
        return Calibration(np.array([slope]), 0.0)
    assert similarities is not None
    assert foreign_similarities is not None
    others = np.where(own, -np.inf, left_out)
    near, far = similarities.clip(LEAST_SIMILARITY), foreign_similarities.clip(LEAST_SIMILARITY)
    uniform = ~own / (home.shape[1] - 1)
    fits = [
        (*_slope([(home, own * 1.0, near**p, 1.0), (others, uniform, far**p, FOREIGN)]), p) for p in POWERS
    ]
    _, slope, power = min(fits)
    return Calibration(np.array([slope]), float(power))


def calibrate_labels(held_out: Matrix, labels: Matrix) -> Calibration:
    """Fit one slope per label to held-out decisions; labels are 0, 1 or NaN."""
    slopes = np.ones(labels.shape[1])
    for column in range(labels.shape[1]):
        known = ~np.isnan(labels[:, column])
        decisions, truth = by_class(held_out[known, column : column + 1]), labels[known, column]
        if len(truth):
            own = np.column_stack([truth == 0, truth == 1]).astype(np.float64)
            slopes[column] = 2 * _slope([(decisions, own, np.ones(len(truth)), 1.0)])[1]
    return Calibration(slopes, 0.0, True)


def _slope(parts: list[tuple[Matrix, Matrix, Values, float]]) -> tuple[float, float]:
    """Return the smallest weighted log loss and its slope; parts: decisions, targets, scales and weight.

    The first part is that of held-out decisions, to which the rule of succession adds two.
    """
    held_out, truth, near, _ = parts[0]
    rivals = np.where(truth > 0, -np.inf, held_out).max(axis=1)
    margin = max(float((near * ((truth * held_out).sum(axis=1) - rivals)).mean()), 0.0)
    rivals_at_once = np.log(truth.shape[1] - 1)

    def loss(logarithm: float) -> float:
        ahead = np.exp(logarithm) * margin - rivals_at_once  # log odds of the graphs that are added
        total = float(np.logaddexp(0.0, ahead) + np.logaddexp(0.0, -ahead)) / len(near)
        for decisions, target, scale, weight in parts:
            chances = log_softmax(np.exp(logarithm) * scale[:, None] * decisions, axis=1)
            chances[target == 0] = 0.0  # also of classes that are left out, whose logarithms are infinite
            total -= weight * float((target * chances).sum(axis=1).mean())
        return total

    found = minimize_scalar(loss, bounds=SLOPES, method="bounded")
    return float(found.fun), float(np.exp(found.x))


@dataclass(frozen=True, eq=False)
class Conformal:
    """Scores of held-out graphs.

    Attributes
    ----------
    scores : list of ndarray
        Sorted scores of each group: a class, a value of a label, or a column of numbers.
    """

    scores: list[Values]

    def _check_parts(self) -> None:
        """Raise unless scores are sorted."""
        require(bool(self.scores), "scores of at least one group are needed")
        for scores in self.scores:
            require(scores.ndim == 1 and bool((np.diff(scores) >= 0).all()), "scores must be sorted")

    @classmethod
    def of(cls, scores: Matrix) -> Conformal:
        """Return the scores of each column, (graphs, groups), without missing ones (NaN)."""
        return cls([np.sort(column[~np.isnan(column)]) for column in scores.T])

    def quantiles(self, coverage: float) -> Values:
        """Return q of each group; infinite if it has too few graphs for the coverage."""
        ranks = [math.ceil(coverage * (len(scores) + 1)) for scores in self.scores]
        return np.array(
            [
                scores[r - 1] if r <= len(scores) else np.inf
                for r, scores in zip(ranks, self.scores, strict=True)
            ]
        )


def check_coverage(coverage: Any) -> float:
    """Return a coverage between 0 and 1, both excluded."""
    checked = check_nonnegative(coverage, "coverage")
    if not 0 < checked < 1:
        raise ValueError(f"coverage must be above 0 and below 1, got {shown(coverage)}")
    return checked
