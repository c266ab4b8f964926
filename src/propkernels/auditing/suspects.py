"""Suspected label errors: graphs that are misclassified in every cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.target import Target
from propkernels.models.folds import choosing_folds
from propkernels.models.least_squares import PER_COST, solve

Matrix = NDArray[Any]
REPEATS, FOLDS = 5, 10
FENCE = 3.0  # an outlying error exceeds the upper quartile by this many interquartile ranges (Tukey)
MOST_LISTED = 24
N_NEIGHBORS = 3


@dataclass(frozen=True)
class Suspect:
    """A graph that is misclassified in every cross-validation.

    Attributes
    ----------
    graph : int
    given, predicted : str
        Target and held-out prediction.
    margin : float
        Score of the best other class minus that of the given one, or the error in standard deviations of the
        target.
    neighbors : tuple of (int, str, float)
        Most similar graphs of other classes (for regression, of all graphs): number, target and similarity.
    own : tuple of (int, float) or None
        Most similar graph of the same class: number and similarity.
    """

    graph: int
    given: str
    predicted: str
    margin: float
    neighbors: tuple[tuple[int, str, float], ...]
    own: tuple[int, float] | None


@dataclass(frozen=True)
class Suspects:
    """Graphs that are misclassified, or have an outlying error, in every cross-validation.

    Attributes
    ----------
    repeats : int
        Number of cross-validations.
    graphs : tuple of int
        All suspects, largest margin first.
    listed : tuple of Suspect
        Details of the suspects with the largest margins.
    sometimes : int
        Number of graphs that are wrong in some cross-validations only.
    """

    repeats: int
    graphs: tuple[int, ...]
    listed: tuple[Suspect, ...]
    sometimes: int


def suspects_of(kernel: Matrix, cost: float, target: Target, seed: int, names: NDArray[np.int64]) -> Suspects:
    """Return the graphs that are wrong in all of five ten-fold cross-validations.

    ``names`` are the positions of the graphs in the whole data set.
    """
    repeats = [choosing_folds(target.values, FOLDS, seed=seed + i) for i in range(1, REPEATS + 1)]
    folds = [test for repeat in repeats for _, test in repeat]
    (found,) = solve(kernel, target.columns, [1 / (PER_COST * cost)], folds=folds)
    decisions = np.empty((REPEATS, *target.columns.shape))
    apart = iter(found.apart)
    for own, repeat in zip(decisions, repeats, strict=True):
        for _, test in repeat:
            own[test] = next(apart)[test]
    wrong, margins = (_wrong_classes if target.is_classes else _outliers)(decisions, target)
    always = np.flatnonzero(wrong.all(axis=0))
    order = always[np.lexsort((always, -margins[always]))]
    predicted = target.predictions(decisions.mean(axis=0))
    listed = [
        _described(kernel, target, int(i), predicted[i], float(margins[i]), names)
        for i in order[:MOST_LISTED]
    ]
    sometimes = int(np.count_nonzero(wrong.any(axis=0) & ~wrong.all(axis=0)))
    return Suspects(REPEATS, tuple(names[order].tolist()), tuple(listed), sometimes)


def _wrong_classes(decisions: Matrix, target: Target) -> tuple[NDArray[np.bool_], Matrix]:
    """Return a mask (repeats, graphs) of wrong predictions, and the mean lead of the best other class."""
    truth, rows = target.values, np.arange(len(target.values))
    wrong = np.array([target.losses(repeat, rows) > 0 for repeat in decisions])
    mean = decisions.mean(axis=0)
    scores = np.column_stack([-mean, mean]) if mean.shape[1] == 1 else mean
    given = scores[rows, truth]
    scores[rows, truth] = -np.inf
    return wrong, scores.max(axis=1) - given


def _outliers(decisions: Matrix, target: Target) -> tuple[NDArray[np.bool_], Matrix]:
    """Return a mask (repeats, graphs) of outlying errors, and the mean absolute error of each graph."""
    errors = np.abs(decisions[:, :, 0] - target.columns[:, 0])
    low, high = np.quantile(errors, [0.25, 0.75], axis=1)
    return errors > (high + FENCE * (high - low))[:, None], errors.mean(axis=0)


def _described(
    kernel: Matrix, target: Target, graph: int, predicted: Any, margin: float, names: NDArray[np.int64]
) -> Suspect:
    similar = kernel[graph].copy()
    similar[graph] = -np.inf
    order = np.argsort(-similar, kind="stable")[:-1]
    same = target.values[order] == target.values[graph] if target.is_classes else np.zeros(len(order), bool)
    others, nearest_same = order[~same][:N_NEIGHBORS], order[same][:1]
    return Suspect(
        int(names[graph]),
        target.name(target.values[graph]),
        target.name(predicted),
        margin,
        tuple((int(names[i]), target.name(target.values[i]), float(similar[i])) for i in others),
        (int(names[nearest_same[0]]), float(similar[nearest_same[0]])) if len(nearest_same) else None,
    )
