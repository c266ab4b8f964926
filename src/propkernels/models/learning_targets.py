"""Targets as machines learn them: numbers of classes, standardized numbers, and the task of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from propkernels.models.scoring import resolve_scorer
from propkernels.models.targets import check_labels, check_numbers, check_several, check_target
from propkernels.models.tasks import Classification, Columns, Regression

Values = NDArray[np.float64]
LEAST_WEIGHT = 1e-280  # sum of weights that machines can still divide by


@dataclass(frozen=True)
class ClassTarget:
    """Target of a classifier.

    Attributes
    ----------
    values : ndarray
        Number of each class, (n,), or labels 0, 1 or NaN, (n, labels).
    classes : ndarray
        The classes, sorted; with several labels, their numbers.
    task : Classification or Columns
    """

    values: NDArray[Any]
    classes: NDArray[Any]
    task: Classification | Columns

    @property
    def multilabel(self) -> bool:
        """Whether there are several labels."""
        return self.values.ndim == 2

    @classmethod
    def of(
        cls, y: Any, n_entries: int, several: bool, weights: Any, class_weight: Any, scoring: Any
    ) -> ClassTarget:
        """Return the target of observed classes, with weights of errors by graph or node and by class.

        Parameters
        ----------
        y : ndarray of shape (n,) or (n, labels)
        n_entries : int
            Number of graphs or nodes, n.
        several : bool
            Whether columns are labels.
        weights : array-like of shape (n,), number, or None
        class_weight : dict, "balanced" or None
        scoring : str, callable or None
        """
        checked, scorer = check_weights(weights, n_entries), resolve_scorer(scoring, True)
        if several:
            labels = check_labels(y, n_entries)
            task = Columns(Classification(checked, scorer), class_weight)
            return cls(labels, np.arange(labels.shape[1]), task)
        values = check_target(y, n_entries)
        if class_weight is not None:
            factors = compute_sample_weight(class_weight, np.asarray(y))
            checked = factors if checked is None else checked * factors
        return cls(values, np.unique(np.asarray(y)), Classification(checked, scorer))


@dataclass(frozen=True)
class NumberTarget:
    """Target of a regressor.

    Attributes
    ----------
    numbers : ndarray of shape (n,) or (n, columns)
        In units of the user.
    values : ndarray
        The same with the mean 0 and the variance 1 per column.
    middle, unit : array or number
        Mean and standard deviation (1 instead of 0) of each column.
    task : Regression or Columns
    """

    numbers: Values
    values: Values
    middle: Any
    unit: Any
    task: Regression | Columns

    @classmethod
    def of(
        cls, y: Any, n_entries: int, several: bool, weights: Any, scoring: Any, places: Any = None
    ) -> NumberTarget:
        """Return the target of observed numbers; ``places`` holds their positions for error messages."""
        numbers = check_several(y, n_entries) if several else check_numbers(y, n_entries, places)
        middle, unit = units_of(numbers)
        each = Regression(check_weights(weights, len(numbers)), resolve_scorer(scoring, False), middle, unit)
        return cls(numbers, (numbers - middle) / unit, middle, unit, Columns(each) if several else each)


def units_of(numbers: NDArray[Any]) -> tuple[Any, Any]:
    """Return the mean and the standard deviation of each column; 1 where numbers are all equal."""
    spread = np.nanstd(numbers, axis=0)
    return np.nanmean(numbers, axis=0), np.where(spread == 0, 1.0, spread)


def check_weights(sample_weight: Any, n_entries: int) -> Values | None:
    """Return one nonnegative weight per graph or node, not all zero; None for None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_entries, float(weights))
    if weights.shape != (n_entries,):
        raise ValueError(f"sample_weight has shape {weights.shape} for {n_entries} targets")
    with np.errstate(over="ignore", invalid="ignore"):
        total = weights.sum()
    if not LEAST_WEIGHT < total < np.inf or (weights < 0).any():
        raise ValueError("sample_weight must be finite, nonnegative and not all zero")
    return weights
