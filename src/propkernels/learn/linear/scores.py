"""Decisions of linear models, and what they speak for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

Values = NDArray[np.float64]


def scores_of(features: csr_array, coefficients: Values, intercepts: Values) -> Values:
    """Decisions of all machines, (n, machines)."""
    return np.asarray(features @ coefficients.T + intercepts)


def chosen(scores: Values) -> NDArray[np.int64]:
    """Numbers of the classes that decisions speak for."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return np.argmax(scores, axis=1)


def probabilities_of(scores: Values) -> Values:
    """Probabilities of classes from logistic decisions, one against the rest."""
    positive = expit(scores)
    if scores.shape[1] == 1:
        return np.column_stack([1 - positive[:, 0], positive[:, 0]])
    total = positive.sum(axis=1, keepdims=True)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1 / scores.shape[1])
