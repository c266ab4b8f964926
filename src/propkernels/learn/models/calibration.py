"""Probabilities from scores: Platt scaling, kept as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

Matrix = NDArray[np.float64]


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
