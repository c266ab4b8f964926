"""Scikit-learn's scorers: what they see of a machine that predicts one fold, and of a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer_names

from propkernels._utils.checks import shown

Matrix = NDArray[np.float64]
Scorer = Callable[[Any, Any, Any], float]


class _AnyClassifier(ClassifierMixin, BaseEstimator):
    """Stands for a classifier where scikit-learn checks a scorer."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


class _AnyRegressor(RegressorMixin, BaseEstimator):
    """Stands for a regressor where scikit-learn checks a scorer."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


def resolve_scorer(scoring: Any, is_classification: bool) -> Scorer | None:
    """Return scikit-learn's scorer of a name, a function ``scorer(estimator, X, y)`` as it is, None for None.

    Examples
    --------
    >>> resolve_scorer("roc_auc", True) is not None, resolve_scorer(None, True)
    (True, None)
    """
    if scoring is None:
        return None
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        some = "accuracy, balanced_accuracy, f1, roc_auc, average_precision; r2, neg_mean_absolute_error"
        raise ValueError(f"scoring {scoring!r} is not a scorer of scikit-learn, such as {some}")
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(f"scoring must be the name of a scorer or a function, got {shown(scoring)}")
    scorer: Scorer = check_scoring(_AnyClassifier() if is_classification else _AnyRegressor(), scoring)
    return scorer


class FoldClassifier(ClassifierMixin, BaseEstimator):
    """Classifier of rows whose scores are known: rows of X are positions in them.

    Parameters
    ----------
    classes : ndarray
    scores : ndarray of shape (n,) or (n, classes)
        Decisions, as ``decision_function`` returns them.
    predicted : ndarray of shape (n,)
        Predicted classes.
    """

    def __init__(self, classes: NDArray[Any], scores: Matrix, predicted: NDArray[Any]) -> None:
        self.classes, self.scores, self.predicted = classes, scores, predicted
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Any:
        """Nothing is left to learn."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted classes."""
        return self.predicted[X]

    def decision_function(self, X: Any) -> Matrix:
        """The scores."""
        return self.scores[X]

    def predict_proba(self, X: Any) -> Matrix:
        """Probabilities from the scores, which are not calibrated yet while candidates are compared."""
        scores = self.scores[X]
        if scores.ndim == 1:
            return np.column_stack([1 - expit(scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))


class FoldRegressor(RegressorMixin, BaseEstimator):
    """Regressor of rows whose predictions are known: rows of X are positions in them."""

    def __init__(self, predicted: NDArray[Any]) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> Any:
        """Nothing is left to learn."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted values."""
        return self.predicted[X]


def column_mean(score: Callable[[int, NDArray[np.int64]], float], truth: Matrix, needs_two: bool) -> float:
    """Mean score of the columns of a target with missing entries, each over the graphs that have it.

    Columns without two different values among them are left out where a score needs two (classes).
    """
    found = []
    for column in range(truth.shape[1]):
        known = np.flatnonzero(~np.isnan(truth[:, column]))
        if len(np.unique(truth[known, column])) >= (2 if needs_two else 1):
            found.append(score(column, known))
    return float(np.mean(found)) if found else float("nan")


ABSOLUTE = "neg_mean_absolute_error"


def resolve_metric(scoring: Any, is_classification: bool, leaves_one_out: bool) -> tuple[str, Scorer]:
    """Return a scorer and its name; None stands for accuracy, or R^2 (one graph at a time: absolute error).

    Examples
    --------
    >>> resolve_metric(None, True, False)[0], resolve_metric(None, False, True)[0]
    ('accuracy', 'neg_mean_absolute_error')
    """
    if scoring is None:
        scoring = "accuracy" if is_classification else ABSOLUTE if leaves_one_out else "r2"
    if leaves_one_out and scoring == "r2":
        raise ValueError(f'scoring="r2" needs more than one graph per fold; "{ABSOLUTE}" does not')
    scorer = resolve_scorer(scoring, is_classification)
    assert scorer is not None
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"), scorer


class Recorder:
    """A scorer that also keeps what was predicted of which truth.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.pairs: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Score, and remember the predictions."""
        self.pairs.append((np.asarray(y), np.asarray(estimator.predict(X))))
        return float(self.scorer(estimator, X, y))

    def confusion(self, n_classes: int) -> NDArray[np.int64]:
        """How often a class (row) was taken for another (column); classes are 0, 1, ..."""
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        for truth, predicted in self.pairs:
            np.add.at(counts, (truth.astype(np.int64), predicted.astype(np.int64)), 1)
        return counts


def score_model(scorer: Scorer, model: Any, graphs: Any, truth: NDArray[Any]) -> float:
    """Score of a fitted model on other graphs; with several targets, the mean over the columns.

    Each column is scored on the graphs that have it; columns of labels need graphs of both kinds.
    """
    if truth.ndim == 1:
        return float(scorer(model, graphs, truth))
    predicted = np.asarray(model.predict(graphs))
    if not hasattr(model, "classes_"):

        def number(column: int, known: NDArray[np.int64]) -> float:
            fold = FoldRegressor(predicted[known, column])
            return float(scorer(fold, np.arange(len(known)), truth[known, column]))

        return column_mean(number, truth, False)
    scores = model.decision_function(graphs) if hasattr(model, "decision_function") else predicted

    def label(column: int, known: NDArray[np.int64]) -> float:
        fold = FoldClassifier(np.array([0, 1]), scores[known, column], predicted[known, column].astype(int))
        return float(scorer(fold, np.arange(len(known)), truth[known, column].astype(int)))

    return column_mean(label, truth, True)
