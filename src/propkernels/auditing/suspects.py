"""Graphs that are misclassified in every cross-validation: candidates for errors in the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.target import Target
from propkernels.decisions.ridge import RidgeFolds
from propkernels.selection.folds import choosing_folds

Matrix = NDArray[Any]
REPEATS, FOLDS = 5, 10
FENCE = 3.0  # interquartile ranges above the upper quartile from which on an error is far out (Tukey)
MOST_LISTED = 24
N_NEIGHBORS = 3


@dataclass(frozen=True)
class Suspect:
    """A graph that is wrong in every cross-validation.

    Attributes
    ----------
    graph : int
    given, predicted : str
        Its target, and the prediction from the other graphs.
    margin : float
        Difference of the decisions (1 and -1 are the classes), or the error in standard
        deviations of the target.
    neighbors : tuple of (int, str, float)
        The most similar graphs of another class (of any number), their target and similarity.
    own : tuple of (int, float) or None
        The most similar graph of its own class.
    """

    graph: int
    given: str
    predicted: str
    margin: float
    neighbors: tuple[tuple[int, str, float], ...]
    own: tuple[int, float] | None


@dataclass(frozen=True)
class Suspects:
    """All graphs that are wrong in every cross-validation.

    Attributes
    ----------
    repeats : int
        How often each graph was predicted, from other graphs each time.
    graphs : tuple of int
        All of them, the surest first.
    listed : tuple of Suspect
        Those with the largest margins.
    sometimes : int
        Graphs that are wrong in some repeats only.
    """

    repeats: int
    graphs: tuple[int, ...]
    listed: tuple[Suspect, ...]
    sometimes: int


def suspects_of(kernel: Matrix, cost: float, target: Target, seed: int, names: NDArray[np.int64]) -> Suspects:
    """Predict each graph in five ten-fold cross-validations, and list those that are wrong in all.

    ``names`` are the numbers of the graphs in the whole data set.
    """
    machines = RidgeFolds.fit(kernel, cost)
    decisions = np.array(
        [
            machines.cross_predict(target.columns, choosing_folds(target.values, FOLDS, None, None, seed + i))
            for i in range(1, REPEATS + 1)
        ]
    )
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
    """Return which predictions are wrong, and by how much another class leads on average."""
    truth, everyone = target.values, np.arange(len(target.values))
    wrong = np.array([target.losses(one, everyone) > 0 for one in decisions])
    mean = decisions.mean(axis=0)
    scores = np.column_stack([-mean, mean]) if mean.shape[1] == 1 else mean
    given = scores[everyone, truth]
    scores[everyone, truth] = -np.inf
    return wrong, scores.max(axis=1) - given


def _outliers(decisions: Matrix, target: Target) -> tuple[NDArray[np.bool_], Matrix]:
    """Return which errors are outliers among all errors, and their mean size."""
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
    others, own = order[~same][:N_NEIGHBORS], order[same][:1]
    return Suspect(
        int(names[graph]),
        target.name(target.values[graph]),
        target.name(predicted),
        margin,
        tuple((int(names[i]), target.name(target.values[i]), float(similar[i])) for i in others),
        (int(names[own[0]]), float(similar[own[0]])) if len(own) else None,
    )
