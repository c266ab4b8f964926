"""Probabilities from scores: Platt scaling, kept as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Multinomial logistic model of scores.

    Attributes
    ----------
    coefficients : ndarray of shape (scores, classes)
    intercepts : ndarray of shape (classes,)
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]

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

    def probabilities(self, scores: Matrix) -> Matrix:
        """Return class probabilities, one row per graph."""
        return np.asarray(softmax(scores @ self.coefficients + self.intercepts, axis=1))
