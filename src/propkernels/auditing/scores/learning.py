"""What can be learned: nested scores of the kernel and of simple things, a learning curve, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.scores.baselines import baseline_predictions
from propkernels.auditing.scores.closed_form import Held, held_out, inverse, learned_from
from propkernels.auditing.scores.targets import Target
from propkernels.graphs.database import GraphDatabase
from propkernels.learn.machines.decisions import Calibration
from propkernels.learn.selection.folds import choosing_folds

Matrix = NDArray[Any]
Indices = NDArray[np.int64]
PENALTIES = (0.1, 1.0)  # of the normalized kernel
N_FOLDS = 5
SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)  # of the training part, for the learning curve
N_BINS = 10
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Score:
    """Accuracy (R^2 for numbers) on held-out graphs, and its standard error over the folds."""

    name: str
    mean: float
    error: float


@dataclass(frozen=True)
class CalibrationReport:
    """Whether stated confidence is deserved.

    Attributes
    ----------
    confidence, observed : tuple of float
        For classes: mean probability of the predicted class in each bin, and how often it was right. For
        numbers: levels of intervals, and the share of targets inside them.
    counts : tuple of int
    error : float
        Mean distance between the two, by graph.
    by_chance : float
        About the error that perfect confidence would show on so many graphs.
    """

    confidence: tuple[float, ...]
    observed: tuple[float, ...]
    counts: tuple[int, ...]
    error: float
    by_chance: float


@dataclass(frozen=True)
class Learning:
    """What can be learned from the graphs.

    Attributes
    ----------
    metric : {"accuracy", "R^2"}
    n_graphs : int
        Graphs that took part: all, or a sample of many.
    n_folds : int
    scores : tuple of Score
        Simple things first, then the kernel.
    by_step : tuple of Score
        The kernel with t fixed.
    curve : tuple of (int, float, float)
        Number of training graphs, score and its standard error.
    calibration : CalibrationReport or None
    chosen_t, chosen_penalty : int, float
        What most folds chose.
    predictions : ndarray
        Class or number of each graph that took part, by the machine of its fold.
    score_with_duplicate, score_without : float or None
        Of graphs that have, and have not, a duplicate in the training part of their fold.
    """

    metric: str
    n_graphs: int
    n_folds: int
    scores: tuple[Score, ...]
    by_step: tuple[Score, ...]
    curve: tuple[tuple[int, float, float], ...]
    calibration: CalibrationReport | None
    chosen_t: int
    chosen_penalty: float
    predictions: NDArray[Any]
    score_with_duplicate: float | None
    score_without: float | None


@dataclass(frozen=True)
class Task:
    """How targets become columns that ridge regression can predict, and how predictions are judged."""

    target: Target

    @property
    def constant(self) -> str:
        """What is predicted without looking at graphs."""
        return "majority class" if self.target.is_classes else "mean"

    @property
    def columns(self) -> Matrix:
        """One column per class, 1 and -1; or the standardized numbers."""
        if self.target.is_classes:
            return np.where(self.target.values[:, None] == np.arange(len(self.target.classes)), 1.0, -1.0)
        middle, unit = self._units()
        return ((self.target.values - middle) / unit)[:, None]

    def predictions(self, outputs: Matrix) -> NDArray[Any]:
        """Classes or numbers from columns."""
        if self.target.is_classes:
            return np.asarray(outputs.argmax(axis=1))
        middle, unit = self._units()
        return np.asarray(outputs[:, 0] * unit + middle)

    def _units(self) -> tuple[float, float]:
        return float(self.target.values.mean()), float(self.target.values.std()) or 1.0

    def score(self, predictions: NDArray[Any], places: Indices) -> float:
        """Accuracy, or R^2 against the mean of all graphs."""
        truth = self.target.values[places]
        if self.target.is_classes:
            return float(np.mean(predictions == truth))
        middle, _ = self._units()
        total = float(np.square(truth - middle).sum())
        return 1.0 - float(np.square(truth - predictions).sum()) / total if total else 0.0

    def loss(self, outputs: Matrix, places: Indices) -> float:
        """What a setting is chosen by; squared errors decide between equal accuracies."""
        truth = self.columns[places]
        squares = float(np.square(outputs - truth).mean())
        if not self.target.is_classes:
            return squares
        wrong = float(np.mean(outputs.argmax(axis=1) != self.target.values[places]))
        return wrong + 1e-6 * squares


def draw_folds(target: Target, seed: int, n_folds: int = N_FOLDS) -> tuple[tuple[Indices, Indices], ...]:
    """Shuffled folds, stratified by class: as many as asked for, or as the classes allow."""
    return choosing_folds(target.values, n_folds, None, None, seed)


def learning_of(
    graphs: GraphDatabase,
    kernels: Sequence[Matrix],
    target: Target,
    classes: NDArray[np.int64],
    seed: int,
    tell: Callable[[str], None],
) -> Learning:
    """Nested cross-validation of the kernels, one for each t, and of simple things."""
    task, folds = Task(target), draw_folds(target, seed)
    settings = [(t, penalty) for t in range(len(kernels)) for penalty in PENALTIES]
    columns, found = task.columns, {}
    for t, penalty in settings:
        tell(f"learning with t = {t}")
        found[t, penalty] = held_out(inverse(kernels[t], penalty), columns, folds)
    everywhere = [best_setting(found, settings, task, folds, i) for i in range(len(folds))]
    own = "the kernel"
    by_step = []
    for t in range(len(kernels)):
        mine = [s for s in settings if s[0] == t]
        chosen = [best_setting(found, mine, task, folds, i) for i in range(len(folds))]
        by_step.append(score_of(f"t = {t}", found, chosen, task, folds))
    tell("simple things")
    guesses = {task.constant: _constants(columns, folds)} | baseline_predictions(graphs, columns, folds)
    simple = [_folded(name, task, folds, task.predictions(guess)) for name, guess in guesses.items()]
    predictions = np.empty(len(target.values), dtype=target.values.dtype)
    for number, (_, test) in enumerate(folds):
        predictions[test] = task.predictions(found[everywhere[number]][number].outer)
    tell("the learning curve")
    t, penalty = max(everywhere, key=everywhere.count)
    return Learning(
        "accuracy" if target.is_classes else "R^2",
        len(target.values),
        len(folds),
        (*simple, score_of(own, found, everywhere, task, folds)),
        tuple(by_step),
        learning_curve(kernels, task, folds, everywhere, seed),
        calibration_of([found[s][i] for i, s in enumerate(everywhere)], task, folds),
        t,
        penalty,
        predictions,
        *_by_company(predictions, classes, task, folds),
    )


Found = dict[tuple[int, float], list[Held]]
Folds = Sequence[tuple[Indices, Indices]]


def best_setting(
    found: Found, settings: Sequence[tuple[int, float]], task: Task, folds: Folds, fold: int
) -> tuple[int, float]:
    """The setting whose machine predicts the training graphs of a fold best, each from the others."""
    return min(settings, key=lambda s: (task.loss(found[s][fold].inner, folds[fold][0]), s))


def score_of(name: str, found: Found, chosen: Sequence[tuple[int, float]], task: Task, folds: Folds) -> Score:
    """Scores on the held-out graphs of each fold with the setting chosen there."""
    values = [
        task.score(task.predictions(found[setting][number].outer), folds[number][1])
        for number, setting in enumerate(chosen)
    ]
    return Score(name, *mean_and_error(values))


def _constants(columns: Matrix, folds: Folds) -> Matrix:
    """The means of the columns of each training part, of which the largest is the majority's."""
    found = np.empty_like(columns)
    for train, test in folds:
        found[test] = columns[train].mean(axis=0)
    return found


def _folded(name: str, task: Task, folds: Folds, guess: NDArray[Any]) -> Score:
    return Score(name, *mean_and_error([task.score(guess[test], test) for _, test in folds]))


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and the standard error over folds."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.mean(values)), spread / float(np.sqrt(len(values)))


def learning_curve(
    kernels: Sequence[Matrix], task: Task, folds: Folds, chosen: Sequence[tuple[int, float]], seed: int
) -> tuple[tuple[int, float, float], ...]:
    """Scores on each fold from growing parts of its training graphs, drawn at random."""
    columns, points = task.columns, []
    for share in SHARES:
        sizes, values = [], []
        for number, (train, test) in enumerate(folds):
            order = np.random.default_rng([seed, number]).permutation(train)
            part = np.sort(order[: max(2, round(share * len(train)))])
            t, penalty = chosen[number]
            outputs = learned_from(kernels[t], columns, penalty, part, test)
            values.append(task.score(task.predictions(outputs), test))
            sizes.append(len(part))
        points.append((round(float(np.mean(sizes))), *mean_and_error(values)))
    return tuple(points)


def calibration_of(held: Sequence[Held], task: Task, folds: Folds) -> CalibrationReport | None:
    """Compare confidence with what happened on held-out graphs; it is learned inside the training part."""
    if not task.target.is_classes:
        return _coverage(held, task, folds)
    sure, right = [], []
    for one, (train, test) in zip(held, folds, strict=True):
        truth = task.target.values
        if len(np.unique(truth[train])) < len(task.target.classes):
            return None
        chances = Calibration.learn(one.inner, truth[train]).probabilities(one.outer)
        sure.append(chances.max(axis=1))
        right.append(chances.argmax(axis=1) == truth[test])
    return reliability(np.concatenate(sure), np.concatenate(right))


def reliability(sure: Matrix, right: NDArray[np.bool_]) -> CalibrationReport:
    """Bins of equal width of the confidence, from 0 to 1; empty ones are left out.

    Examples
    --------
    >>> reliability(np.array([0.95, 0.95, 0.55]), np.array([True, False, True])).observed
    (1.0, 0.5)
    """
    bins = np.minimum((sure * N_BINS).astype(np.int64), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    filled = np.flatnonzero(counts)
    confidence = np.bincount(bins, sure, N_BINS)[filled] / counts[filled]
    observed = np.bincount(bins, right, N_BINS)[filled] / counts[filled]
    error = float((counts[filled] * np.abs(confidence - observed)).sum() / max(len(sure), 1))
    return CalibrationReport(
        tuple(confidence.tolist()),
        tuple(observed.tolist()),
        tuple(counts[filled].tolist()),
        error,
        chance_error(confidence, counts[filled]),
    )


def chance_error(shares: NDArray[Any], counts: NDArray[Any]) -> float:
    """Mean absolute deviation of binomial shares from their means, by the normal approximation."""
    deviations = np.sqrt(2 / np.pi * shares * (1 - shares) / counts)
    return float((counts * deviations).sum() / counts.sum())


def _coverage(held: Sequence[Held], task: Task, folds: Folds) -> CalibrationReport:
    """Share of targets within intervals as wide as the errors inside the training part."""
    inside = np.zeros(len(LEVELS))
    columns = task.columns[:, 0]
    for one, (train, test) in zip(held, folds, strict=True):
        widths = np.quantile(np.abs(one.inner[:, 0] - columns[train]), LEVELS)
        inside += (np.abs(one.outer[:, 0] - columns[test])[:, None] <= widths).sum(axis=0)
    n = len(columns)
    observed = inside / n
    error = float(np.abs(observed - LEVELS).mean())
    by_chance = chance_error(np.array(LEVELS), np.full(len(LEVELS), n))
    return CalibrationReport(LEVELS, tuple(observed.tolist()), (n,) * len(LEVELS), error, by_chance)


def _by_company(
    predictions: NDArray[Any], classes: NDArray[np.int64], task: Task, folds: Folds
) -> tuple[float | None, float | None]:
    """Scores of graphs with and without a duplicate in the training part of their fold."""
    known = np.zeros(len(predictions), dtype=bool)
    for train, test in folds:
        known[test] = np.isin(classes[test], classes[train])
    if not known.any() or known.all():
        return None, None
    with_one, without = np.flatnonzero(known), np.flatnonzero(~known)
    return task.score(predictions[with_one], with_one), task.score(predictions[without], without)
