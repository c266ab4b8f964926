"""Decision columns of trained machines: their classes, scores and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]
LARGEST = 1e150  # largest absolute number of a calibration, and of a score that it takes


def vote(decisions: Matrix, n_classes: int) -> NDArray[np.int64]:
    """Return the class with the most votes of the pairs; ties go to the first class, as in libsvm."""
    votes = np.zeros((n_classes, len(decisions)), dtype=np.int32)
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        votes[i] += decisions[:, p] > 0
        votes[j] += decisions[:, p] <= 0
    return votes.argmax(axis=0)


def class_scores(decisions: Matrix, n_classes: int) -> Matrix:
    """Return one score per class from the decisions of pairs, as SVC's ``decision_function_shape="ovr"``.

    A score is the number of votes, plus the sum of decisions scaled to (-1/3, 1/3), which only orders
    classes with equally many votes.
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
        One column per pair of classes, positive for the first class (libsvm); otherwise one column per class
        against the rest, or, with two classes, a single column that is positive for the second class.
    multilabel : bool
        One column per label, positive if the graph has the label.
    """

    n_classes: int
    pairwise: bool
    multilabel: bool = False

    def check_classes(self, classes: Any, calibration: Calibration | None) -> None:
        """Raise ValueError unless classes and probabilities of a stored model are those of the decisions."""
        require(np.ndim(classes) == 1 and self.n_classes == len(classes) >= 2, "classes differ")
        if calibration is not None:
            require(calibration.multilabel == self.multilabel, "probabilities are of other targets")
            shape = (self.n_scores, self.n_classes)
            require(calibration.coefficients.shape == shape, "probabilities are of other classes")

    def columns(self, classes: NDArray[np.int64]) -> Matrix:
        """Return targets 1 and -1 of least squares: one column per class, a single column for two classes."""
        if self.pairwise or self.multilabel:
            raise ValueError("only columns of classes against the rest are targets of least squares")
        positive = np.arange(self.n_classes)[1 if self.n_classes == 2 else 0 :]
        return np.where(classes[:, None] == positive, 1.0, -1.0)

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        if self.multilabel:
            return self.n_classes
        n_pairs = self.n_classes * (self.n_classes - 1) // 2
        return n_pairs if self.pairwise or self.n_classes == 2 else self.n_classes

    @property
    def n_scores(self) -> int:
        """Number of scores that are calibrated jointly; labels are calibrated one by one."""
        return 1 if self.multilabel or self.n_classes == 2 else self.n_classes

    def predictions(self, decisions: Matrix) -> NDArray[np.int64]:
        """Return the class number of each row; with several labels, 0 or 1 per label."""
        if self.multilabel:
            return (decisions > 0).astype(np.int64)
        if self.pairwise:
            return vote(decisions, self.n_classes)
        if self.n_classes == 2:
            return (decisions[:, 0] > 0).astype(np.int64)
        return decisions.argmax(axis=1)

    def scores(self, decisions: Matrix) -> Matrix:
        """Return one score per class; for two classes, a single score of the second class."""
        if not self.pairwise:
            return decisions
        return -decisions if self.n_classes == 2 else class_scores(decisions, self.n_classes)

    def margins(self, decisions: Matrix) -> Matrix:
        """Return how far each class is ahead of its strongest rival: (graphs, classes).

        With several labels, (graphs, labels, 2): the margins of 0 and of 1.

        Examples
        --------
        >>> DecisionLayout(3, pairwise=True).margins(np.array([[0.5, 2.0, -1.0]]))
        array([[ 0.5, -1. , -2. ]])
        """
        if self.multilabel:
            return np.stack([-decisions, decisions], axis=2)
        margins = np.full((len(decisions), self.n_classes), np.inf)
        for p, (i, j) in enumerate(combinations(range(self.n_classes), 2)):
            gap = self._pair(decisions, p, i, j)
            margins[:, i], margins[:, j] = np.minimum(margins[:, i], gap), np.minimum(margins[:, j], -gap)
        return margins

    def _pair(self, decisions: Matrix, pair: int, first: int, second: int) -> NDArray[np.float64]:
        """Return the decisions of a pair of classes, positive for the first class."""
        if self.pairwise:
            return decisions[:, pair]
        return -decisions[:, 0] if self.n_classes == 2 else decisions[:, first] - decisions[:, second]

    def of_pairs(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weights of the columns from weights of pairs of classes, positive for the first class.

        If columns are classes, the decision of a pair is the difference of two columns.
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
        raise TypeError(f"{type(kernel).__name__} has no method self_similarities for k(x, x) of new graphs")
    diagonal = kernel.self_similarities(graphs)
    return (diagonal > 0).astype(np.float64) if kernel.normalize else np.asarray(diagonal, dtype=np.float64)


@dataclass(frozen=True)
class Calibration:
    """Multinomial logistic model of scores.

    Attributes
    ----------
    coefficients : ndarray of shape (scores, classes), or (1, labels)
    intercepts : ndarray of shape (classes,)
    multilabel : bool
        Whether each score has a separate logistic model, for one label.
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]
    multilabel: bool = False

    def _check_parts(self) -> None:
        """Raise if coefficients and intercepts do not match."""
        require(self.coefficients.ndim == 2 and self.intercepts.ndim == 1, "every class needs coefficients")
        require(self.coefficients.shape[1] == len(self.intercepts), "every class needs an intercept")
        for numbers in (self.coefficients, self.intercepts):
            require(bool((np.abs(numbers) <= LARGEST).all()), "numbers of a calibration are at most 1e150")

    @classmethod
    def learn(cls, scores: Matrix, target: NDArray[np.int64]) -> Calibration:
        """Return a calibration fitted to scores of held-out graphs.

        A class without scores (it is in no fold) gets probability 0.
        """
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1e3, max_iter=1000).fit(scores, target)
        if len(model.classes_) == 2:
            zero = np.zeros_like(model.coef_[0])
            return cls(np.column_stack([zero, model.coef_[0]]), np.array([0.0, model.intercept_[0]]))
        return cls(model.coef_.T.copy(), model.intercept_.copy())

    @classmethod
    def learn_columns(cls, scores: Matrix, target: Matrix) -> Calibration:
        """Return one logistic model per label, fitted to the graphs whose entry is not NaN."""
        models = []
        for column, values in zip(scores.T, target.T, strict=True):
            observed = ~np.isnan(values)
            labels = values[observed].astype(np.int64)
            if len(np.unique(labels)) < 2:
                models.append((1.0, 0.0))
                continue
            model = cls.learn(column[observed, None], labels)
            models.append((float(model.coefficients[0, 1]), float(model.intercepts[1])))
        slopes, intercepts = np.array(models).T
        return cls(slopes[None, :], intercepts, True)

    def probabilities(self, scores: Matrix) -> Matrix:
        """Return probabilities of classes, or of labels, one row per graph."""
        scores = np.clip(scores, -LARGEST, LARGEST)  # products with coefficients stay finite
        if self.multilabel:
            return np.asarray(expit(scores * self.coefficients + self.intercepts))
        return np.asarray(softmax(scores @ self.coefficients + self.intercepts, axis=1))
