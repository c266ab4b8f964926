"""Decision columns of trained machines: their classes, scores and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.svm import SVC

from propkernels._utils.arrays import offsets
from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]


def pairwise_coefficients(machine: SVC, n_graphs: int) -> tuple[Matrix, NDArray[np.float64]]:
    """Return coefficients (graphs, pairs of classes) and intercepts of libsvm's one-against-one machines.

    Decision p is ``sum_i coefficients[i, p] K(x, x_i) + intercepts[p]``; positive votes for the first class
    of the pair, as in ``SVC.decision_function(decision_function_shape="ovo")``.
    """
    classes = len(machine.n_support_)
    ends = offsets(machine.n_support_)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    coefficients = np.zeros((n_graphs, len(pairs)))
    for p, (i, j) in enumerate(pairs):
        for own, row in ((i, j - 1), (j, i)):
            support = slice(ends[own], ends[own + 1])
            coefficients[machine.support_[support], p] = machine.dual_coef_[row, support]
    sign = -1.0 if classes == 2 else 1.0  # scikit-learn turns the two-class case around
    return sign * coefficients, sign * np.asarray(machine.intercept_, dtype=np.float64)


def vote(decisions: Matrix, n_classes: int) -> NDArray[np.int64]:
    """Class with most votes of the pairs, the first among equals: libsvm's own rule."""
    votes = np.zeros((len(decisions), n_classes), dtype=np.int64)
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    for p, (i, j) in enumerate(pairs):
        votes[:, i] += decisions[:, p] > 0
        votes[:, j] += decisions[:, p] <= 0
    return votes.argmax(axis=1)


def class_scores(decisions: Matrix, n_classes: int) -> Matrix:
    """One score per class from the pairs' decisions, as SVC's ``decision_function_shape="ovr"``.

    A score is the number of votes, plus the sum of decisions squeezed into (-1/3, 1/3): it orders classes
    with equally many votes, and no others.
    """
    votes, sums = np.zeros((2, len(decisions), n_classes))
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        is_second = decisions[:, p] < 0
        votes[:, i] += ~is_second
        votes[:, j] += is_second
        sums[:, i] += decisions[:, p]
        sums[:, j] -= decisions[:, p]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


@dataclass(frozen=True)
class DecisionLayout:
    """Meaning of decision columns.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    pairwise : bool
        One column for each pair of classes, positive for the first (libsvm); otherwise one for each class
        against the rest, or, with two classes, a single one that is positive for the second.
    multilabel : bool
        One column for each label by itself, positive where the graph has it.
    """

    n_classes: int
    pairwise: bool
    multilabel: bool = False

    def columns(self, classes: NDArray[np.int64]) -> Matrix:
        """Return 1 and -1 as least squares predict them: one column per class, a single one for two."""
        if self.pairwise or self.multilabel:
            raise ValueError("only columns of classes against the rest are targets of least squares")
        own = np.arange(self.n_classes)[1 if self.n_classes == 2 else 0 :]
        return np.where(classes[:, None] == own, 1.0, -1.0)

    @property
    def n_decisions(self) -> int:
        """Number of decisions of so many classes."""
        if self.multilabel:
            return self.n_classes
        n_pairs = self.n_classes * (self.n_classes - 1) // 2
        return n_pairs if self.pairwise or self.n_classes == 2 else self.n_classes

    @property
    def n_scores(self) -> int:
        """Number of scores that are calibrated together: of several labels, each one by itself."""
        return 1 if self.multilabel or self.n_classes == 2 else self.n_classes

    def predictions(self, decisions: Matrix) -> NDArray[np.int64]:
        """Class number of each row; 0 or 1 for each label, if there are several."""
        if self.multilabel:
            return (decisions > 0).astype(np.int64)
        if self.pairwise:
            return vote(decisions, self.n_classes)
        if self.n_classes == 2:
            return (decisions[:, 0] > 0).astype(np.int64)
        return decisions.argmax(axis=1)

    def scores(self, decisions: Matrix) -> Matrix:
        """One score per class; for two classes a single one, for the second."""
        if not self.pairwise:
            return decisions
        return -decisions if self.n_classes == 2 else class_scores(decisions, self.n_classes)

    def of_pairs(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn weights of pairs of classes, positive for the first, into weights of the columns.

        Where columns are classes, a pair's decision is the difference of two columns.
        """
        if self.pairwise:
            return weights
        columns = np.zeros(self.n_classes)
        for weight, (first, second) in zip(weights, combinations(range(self.n_classes), 2), strict=True):
            columns[first] += weight
            columns[second] -= weight
        return columns[1:] if self.n_classes == 2 else columns


def self_similarities(kernel: Any, graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return k(x, x) of new graphs, over all of their bins, for a fitted kernel of this library."""
    if not hasattr(kernel, "self_similarities"):
        raise TypeError(f"{type(kernel).__name__} does not tell how similar a new graph is to itself")
    own = kernel.self_similarities(graphs)
    return (own > 0).astype(np.float64) if kernel.normalize else np.asarray(own, dtype=np.float64)


@dataclass(frozen=True)
class Calibration:
    """Multinomial logistic model of scores.

    Attributes
    ----------
    coefficients : ndarray of shape (scores, classes), or (1, labels)
    intercepts : ndarray of shape (classes,)
    multilabel : bool
        Each score has a logistic model of its own, of one label.
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]
    multilabel: bool = False

    def check_parts(self) -> None:
        """Refuse coefficients that are not those of the classes."""
        require(self.coefficients.ndim == 2 and self.intercepts.ndim == 1, "classes have coefficients")
        require(self.coefficients.shape[1] == len(self.intercepts), "every class needs an intercept")

    @classmethod
    def learn(cls, scores: Matrix, target: NDArray[np.int64]) -> Calibration:
        """Fit to scores of graphs that were not learned from.

        A class that no score was learned for (it is in no fold) gets probability 0.
        """
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1e3, max_iter=1000).fit(scores, target)
        if len(model.classes_) == 2:
            zero = np.zeros_like(model.coef_[0])
            return cls(np.column_stack([zero, model.coef_[0]]), np.array([0.0, model.intercept_[0]]))
        return cls(model.coef_.T.copy(), model.intercept_.copy())

    @classmethod
    def learn_columns(cls, scores: Matrix, target: Matrix) -> Calibration:
        """Fit one model per label, from the graphs that have an entry (not NaN) for it."""
        models = []
        for column, values in zip(scores.T, target.T, strict=True):
            known = ~np.isnan(values)
            labels = values[known].astype(np.int64)
            if len(np.unique(labels)) < 2:
                models.append((1.0, 0.0))
                continue
            one = cls.learn(column[known, None], labels)
            models.append((float(one.coefficients[0, 1]), float(one.intercepts[1])))
        slopes, intercepts = np.array(models).T
        return cls(slopes[None, :], intercepts, True)

    def probabilities(self, scores: Matrix) -> Matrix:
        """Return class probabilities, or those of the labels, one row per graph."""
        if self.multilabel:
            return np.asarray(expit(scores * self.coefficients + self.intercepts))
        return np.asarray(softmax(scores @ self.coefficients + self.intercepts, axis=1))
