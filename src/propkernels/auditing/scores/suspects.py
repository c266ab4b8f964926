"""Graphs that are wrong whatever they are predicted from: candidates for errors in the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.scores.closed_form import held_out_only, inverse
from propkernels.auditing.scores.learning import Task, draw_folds
from propkernels.auditing.scores.targets import Target

Matrix = NDArray[Any]
REPEATS, FOLDS = 5, 10
FENCE = 3.0  # interquartile ranges above the upper quartile from which on an error is far out (Tukey)
MOST_LISTED = 24
N_NEIGHBORS = 3


@dataclass(frozen=True)
class Suspect:
    """A graph that is always wrong.

    Attributes
    ----------
    graph : int
    given, predicted : str
        Its target, and what all others say.
    margin : float
        By how much: difference of the decisions (1 and -1 are the classes), or the error in standard
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
    """All graphs that are always wrong.

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


def suspects_of(
    kernel: Matrix, penalty: float, target: Target, seed: int, names: NDArray[np.int64]
) -> Suspects:
    """Predict every graph several times, each time from other nine tenths of the graphs.

    ``names`` are the numbers of the graphs in the whole data set.
    """
    task, inverted = Task(target), inverse(kernel, penalty)
    outputs = [
        held_out_only(inverted, task.columns, [test for _, test in draw_folds(target, seed + i, FOLDS)])
        for i in range(1, REPEATS + 1)
    ]
    wrong, margins = (_wrong_classes if target.is_classes else _far_out)(outputs, task)
    always = np.flatnonzero(wrong.all(axis=0))
    order = always[np.lexsort((always, -margins[always]))]
    mean = np.mean(outputs, axis=0)
    predicted = task.predictions(mean)
    listed = [
        _described(kernel, target, int(i), predicted[i], float(margins[i]), names)
        for i in order[:MOST_LISTED]
    ]
    sometimes = int(np.count_nonzero(wrong.any(axis=0) & ~wrong.all(axis=0)))
    return Suspects(REPEATS, tuple(names[order].tolist()), tuple(listed), sometimes)


def _wrong_classes(outputs: Sequence[Matrix], task: Task) -> tuple[NDArray[np.bool_], Matrix]:
    """Which predictions are wrong, and by how much another class leads on average."""
    truth = task.target.values
    wrong = np.array([one.argmax(axis=1) != truth for one in outputs])
    mean = np.mean(outputs, axis=0)
    given = mean[np.arange(len(truth)), truth]
    mean[np.arange(len(truth)), truth] = -np.inf
    return wrong, mean.max(axis=1) - given


def _far_out(outputs: Sequence[Matrix], task: Task) -> tuple[NDArray[np.bool_], Matrix]:
    """Which errors are far out among all errors, and how large they are on average."""
    errors = np.abs(np.array([one[:, 0] for one in outputs]) - task.columns[:, 0])
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
