"""Nested cross-validation of the kernel and of baselines, the learning curve, and calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.baselines import baseline_predictions
from propkernels.auditing.target import Target
from propkernels.graphs.database import GraphDatabase
from propkernels.models.calibrate import calibrate
from propkernels.models.folds import Folds, choosing_folds
from propkernels.models.least_squares import PER_COST, solve

Matrix = NDArray[Any]
COSTS = (1.0, 0.1)  # C, for the normalized kernel
N_FOLDS = 5
SHARES = (
    0.1,
    0.2,
    0.4,
    0.7,
)  # of the training part, for the learning curve, which ends with the whole part
N_BINS = 10  # of confidence
LEVELS = (0.5, 0.8, 0.9, 0.95)  # of prediction intervals


@dataclass(frozen=True)
class Score:
    """Accuracy (R^2 for regression) on held-out graphs, and its standard error over the folds."""

    name: str
    mean: float
    error: float

    @classmethod
    def of(cls, name: str, values: Sequence[float]) -> Score:
        """Return the mean score of the folds, and its standard error."""
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(name, float(np.mean(values)), spread / float(np.sqrt(len(values))))


@dataclass(frozen=True)
class CalibrationReport:
    """Predicted confidence and observed frequency.

    Attributes
    ----------
    confidence, observed : tuple of float
        Classification: mean probability of the predicted class per bin, and share of correct predictions.
        Regression: levels of intervals, and share of targets inside them.
    counts : tuple of int
        Graphs per bin.
    error : float
        Mean absolute difference between confidence and observed, weighted by graphs.
    by_chance : float
        Expected error of perfectly calibrated confidence for these counts.
    """

    confidence: tuple[float, ...]
    observed: tuple[float, ...]
    counts: tuple[int, ...]
    error: float
    by_chance: float


@dataclass(frozen=True)
class Learning:
    """Scores of nested cross-validation.

    Attributes
    ----------
    metric : {"accuracy", "R^2"}
    n_graphs : int
        Number of scored graphs: all, or a sample.
    n_folds : int
    scores : tuple of Score
        Baselines first, then the kernel.
    by_step : tuple of Score
        The kernel with t fixed.
    curve : tuple of (int, float, float)
        Number of training graphs, score and its standard error.
    calibration : CalibrationReport or None
    chosen_t, chosen_C : int, float
        Setting chosen by most folds.
    predictions : ndarray
        Held-out prediction, class or number, of each scored graph.
    score_with_duplicate, score_without : float or None
        Scores of graphs with and without a duplicate in the training part of their fold.
    """

    metric: str
    n_graphs: int
    n_folds: int
    scores: tuple[Score, ...]
    by_step: tuple[Score, ...]
    curve: tuple[tuple[int, float, float], ...]
    calibration: CalibrationReport | None
    chosen_t: int
    chosen_C: float
    predictions: NDArray[Any]
    score_with_duplicate: float | None
    score_without: float | None


Setting = tuple[int, float]  # t and C


@dataclass(frozen=True)
class CrossValidation:
    """Predictions of every setting on every fold.

    Attributes
    ----------
    target : Target
    folds : sequence of (train, test)
    held_out : dict
        For each setting (t, C), predictions without each fold, (folds, graphs, columns): of its graphs, and
        of each other graph from the other training graphs.
    """

    target: Target
    folds: Folds
    held_out: dict[Setting, Matrix]

    def choose(self, t: int | None = None) -> list[Setting]:
        """Return the best setting per fold, by leave-one-out inside its training part; ``t`` fixes t."""
        settings = [setting for setting in self.held_out if t is None or setting[0] == t]
        return [
            min(settings, key=lambda s: (self.target.loss(self.held_out[s][i, train], train), s))
            for i, (train, _) in enumerate(self.folds)
        ]

    def at(self, chosen: Sequence[Setting]) -> list[Matrix]:
        """Return the predictions of each fold with its chosen setting."""
        return [self.held_out[setting][fold] for fold, setting in enumerate(chosen)]

    def score(self, name: str, chosen: Sequence[Setting]) -> Score:
        """Return the score on the held-out graphs of each fold with its chosen setting."""
        return Score.of(name, self.fold_scores(self.tested(chosen)))

    def tested(self, chosen: Sequence[Setting]) -> list[Matrix]:
        """Return the predictions of each fold's own graphs with its chosen setting."""
        return [own[test] for own, (_, test) in zip(self.at(chosen), self.folds, strict=True)]

    def fold_scores(self, decisions: Sequence[Matrix]) -> list[float]:
        """Return the score of each fold from the decisions on its test graphs."""
        return [self.target.score(d, test) for d, (_, test) in zip(decisions, self.folds, strict=True)]


def learning_of(
    graphs: GraphDatabase,
    kernels: Sequence[Matrix],
    target: Target,
    classes: NDArray[np.int64],
    seed: int,
    tell: Callable[[str], None],
) -> Learning:
    """Return nested cross-validation scores of the kernels, one per t, and of the baselines."""
    folds, held_out = choosing_folds(target.values, N_FOLDS, seed=seed), {}
    for t, kernel in enumerate(kernels):
        for cost in COSTS:
            tell(f"cross-validation, t = {t}")
            tests = [test for _, test in folds]
            held_out[t, cost] = solve(kernel, target.columns, [1 / (PER_COST * cost)], folds=tests)[0].apart
    validation = CrossValidation(target, folds, held_out)
    chosen = validation.choose()
    kernel_score = validation.score("the kernel", chosen)
    tell("baselines")
    baselines = _baseline_scores(graphs, validation)
    tell("learning curve")
    decisions = _scattered(validation, validation.tested(chosen))
    t, cost = max(chosen, key=chosen.count)
    return Learning(
        "accuracy" if target.is_classes else "R^2",
        len(target.values),
        len(folds),
        (*baselines, kernel_score),
        tuple(validation.score(f"t = {t}", validation.choose(t)) for t in range(len(kernels))),
        (*learning_curve(kernels, validation, chosen, seed), _last_point(validation, kernel_score)),
        calibration_of(validation.at(chosen), target, folds),
        t,
        cost,
        target.predictions(decisions),
        *_scores_by_duplicate(decisions, classes, target, folds),
    )


def _scattered(validation: CrossValidation, parts: Sequence[Matrix]) -> Matrix:
    """Return the decisions of all folds in the order of the graphs."""
    decisions = np.empty_like(validation.target.columns)
    for part, (_, test) in zip(parts, validation.folds, strict=True):
        decisions[test] = part
    return decisions


def _baseline_scores(graphs: GraphDatabase, validation: CrossValidation) -> list[Score]:
    target, folds = validation.target, validation.folds
    constant = [np.tile(target.columns[train].mean(axis=0), (len(test), 1)) for train, test in folds]
    predictions = {"majority class" if target.is_classes else "mean": constant}
    predictions |= baseline_predictions(graphs, target.columns, folds)
    return [Score.of(name, validation.fold_scores(parts)) for name, parts in predictions.items()]


def learning_curve(
    kernels: Sequence[Matrix], validation: CrossValidation, chosen: Sequence[Setting], seed: int
) -> list[tuple[int, float, float]]:
    """Return scores of models fitted on random subsets of the training graphs: (size, mean, error)."""
    columns, points = validation.target.columns, []
    for share in SHARES:
        sizes, decisions = [], []
        for fold, (train, test) in enumerate(validation.folds):
            t, cost = chosen[fold]
            order = np.random.default_rng([seed, fold]).permutation(train)
            part = np.sort(order[: max(2, round(share * len(train)))])
            (found,) = solve(kernels[t][np.ix_(part, part)], columns[part], [1 / (PER_COST * cost)])
            decisions.append(kernels[t][np.ix_(test, part)] @ found.coefficients + found.intercepts)
            sizes.append(len(part))
        score = Score.of("", validation.fold_scores(decisions))
        points.append((round(float(np.mean(sizes))), score.mean, score.error))
    return points


def _last_point(validation: CrossValidation, score: Score) -> tuple[int, float, float]:
    """Return the point of the learning curve with all training graphs."""
    size = round(float(np.mean([len(train) for train, _ in validation.folds])))
    return size, score.mean, score.error


def calibration_of(held: Sequence[Matrix], target: Target, folds: Folds) -> CalibrationReport | None:
    """Return the calibration of held-out predictions, with confidence learned inside the training parts.

    None if the training part of a fold lacks a class.
    """
    if not target.is_classes:
        return _coverage(held, target, folds)
    confidence, is_correct = [], []
    for decisions, (train, test) in zip(held, folds, strict=True):
        truth = target.values
        if len(np.unique(truth[train])) < len(target.classes):
            return None
        probabilities = calibrate(decisions[train], truth[train]).probabilities(decisions[test])
        confidence.append(probabilities.max(axis=1))
        is_correct.append(probabilities.argmax(axis=1) == truth[test])
    return reliability(np.concatenate(confidence), np.concatenate(is_correct))


def reliability(sure: Matrix, right: NDArray[np.bool_]) -> CalibrationReport:
    """Return the share of correct predictions (``right``) in ten equal bins of confidence (``sure``).

    Empty bins are omitted.

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
    """Return the mean absolute deviation of binomial shares from their means (normal approximation)."""
    deviations = np.sqrt(2 / np.pi * shares * (1 - shares) / counts)
    return float((counts * deviations).sum() / counts.sum())


def _coverage(held: Sequence[Matrix], target: Target, folds: Folds) -> CalibrationReport:
    """Return the coverage of prediction intervals whose widths are error quantiles of the training part."""
    inside, numbers = np.zeros(len(LEVELS)), target.columns[:, 0]
    for decisions, (train, test) in zip(held, folds, strict=True):
        widths = np.quantile(np.abs(decisions[train, 0] - numbers[train]), LEVELS)
        inside += (np.abs(decisions[test, 0] - numbers[test])[:, None] <= widths).sum(axis=0)
    n = len(numbers)
    observed = inside / n
    error = float(np.abs(observed - LEVELS).mean())
    by_chance = chance_error(np.array(LEVELS), np.full(len(LEVELS), n))
    return CalibrationReport(LEVELS, tuple(observed.tolist()), (n,) * len(LEVELS), error, by_chance)


def _scores_by_duplicate(
    decisions: Matrix, classes: NDArray[np.int64], target: Target, folds: Folds
) -> tuple[float | None, float | None]:
    """Return the scores of graphs with and without a duplicate in the training part of their fold."""
    has_twin = np.zeros(len(decisions), dtype=bool)
    for train, test in folds:
        has_twin[test] = np.isin(classes[test], classes[train])
    if not has_twin.any() or has_twin.all():
        return None, None
    twins, others = np.flatnonzero(has_twin), np.flatnonzero(~has_twin)
    return target.score(decisions[twins], twins), target.score(decisions[others], others)
