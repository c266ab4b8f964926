"""Adapters for scikit-learn's scorers: predictions of one fold, and fitted models."""

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
    """Placeholder classifier for scikit-learn's check of a scorer."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


class _AnyRegressor(RegressorMixin, BaseEstimator):
    """Placeholder regressor for scikit-learn's check of a scorer."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


def resolve_scorer(scoring: Any, is_classification: bool) -> Scorer | None:
    """Return the scorer of a name; a function ``scorer(estimator, X, y)`` and None are returned unchanged.

    Examples
    --------
    >>> resolve_scorer("roc_auc", True) is not None, resolve_scorer(None, True)
    (True, None)
    """
    if scoring is None:
        return None
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        examples = "accuracy, balanced_accuracy, f1, roc_auc, average_precision; r2, neg_mean_absolute_error"
        raise ValueError(f"scoring {scoring!r} is not a scorer of scikit-learn, such as {examples}")
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(f"scoring must be the name of a scorer or a function, got {shown(scoring)}")
    scorer: Scorer = check_scoring(_AnyClassifier() if is_classification else _AnyRegressor(), scoring)
    return scorer


class FoldClassifier(ClassifierMixin, BaseEstimator):
    """Classifier with given scores; X holds positions of rows.

    Parameters
    ----------
    classes : ndarray
    scores : ndarray of shape (n,) or (n, classes)
        Values of ``decision_function``.
    predicted : ndarray of shape (n,)
        Predicted classes.
    """

    def __init__(self, classes: NDArray[Any], scores: Matrix, predicted: NDArray[Any]) -> None:
        self.classes, self.scores, self.predicted = classes, scores, predicted
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Any:
        """Return self."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted classes."""
        return self.predicted[X]

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores."""
        return self.scores[X]

    def predict_proba(self, X: Any) -> Matrix:
        """Return the logistic or softmax function of the scores, without calibration."""
        scores = self.scores[X]
        if scores.ndim == 1:
            return np.column_stack([1 - expit(scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))


class FoldRegressor(RegressorMixin, BaseEstimator):
    """Regressor with given predictions; X holds positions of rows."""

    def __init__(self, predicted: NDArray[Any]) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> Any:
        """Return self."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted values."""
        return self.predicted[X]


def column_mean(score: Callable[[int, NDArray[np.int64]], float], truth: Matrix, needs_two: bool) -> float:
    """Return the mean score of the columns of a target, each over the graphs with an entry.

    With ``needs_two``, columns with fewer than two different values are left out.
    """
    scores = []
    for column in range(truth.shape[1]):
        observed = np.flatnonzero(~np.isnan(truth[:, column]))
        if len(np.unique(truth[observed, column])) >= (2 if needs_two else 1):
            scores.append(score(column, observed))
    return float(np.mean(scores)) if scores else float("nan")


ABSOLUTE = "neg_mean_absolute_error"


def resolve_metric(scoring: Any, is_classification: bool, leaves_one_out: bool) -> tuple[str, Scorer]:
    """Return the name of a scorer and the scorer; None means accuracy, or R^2 for regression.

    In leave-one-out, None means the absolute error for regression.

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
    """Scorer that also stores true and predicted values.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.pairs: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the score, and store the predictions."""
        self.pairs.append((np.asarray(y), np.asarray(estimator.predict(X))))
        return float(self.scorer(estimator, X, y))

    def confusion(self, n_classes: int) -> NDArray[np.int64]:
        """Return the confusion matrix: true classes 0, 1, ... by row, predicted classes by column."""
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        for truth, predicted in self.pairs:
            np.add.at(counts, (truth.astype(np.int64), predicted.astype(np.int64)), 1)
        return counts


def score_model(scorer: Scorer, model: Any, graphs: Any, truth: NDArray[Any]) -> float:
    """Return the score of a fitted model on test graphs; with several targets, the mean over columns.

    A column is scored on the graphs with an entry; columns of labels need positive and negative graphs.
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
