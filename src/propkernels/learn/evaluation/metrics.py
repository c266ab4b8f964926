"""How predictions on a test fold are scored: by the scorers of scikit-learn, larger is better."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.machines.scoring import (
    FoldClassifier,
    FoldRegressor,
    Scorer,
    column_mean,
    resolve_scorer,
)

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
