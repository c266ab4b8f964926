"""Tasks: classification, regression, and several targets; their machines and losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from propkernels.explain.decision_columns import DecisionLayout
from propkernels.models.gaussian_process import ProcessClassification, ProcessRegression
from propkernels.models.landmarks import LandmarkClassification, LandmarkRegression
from propkernels.models.libsvm import class_numbers
from propkernels.models.linear_machines import LinearClassification, LinearRegression
from propkernels.models.ridge import FeatureClassification, FeatureRegression
from propkernels.models.ridge_classification import RidgeClassification
from propkernels.models.scoring import FoldClassifier, FoldRegressor, Scorer, column_mean
from propkernels.models.support_vectors import (
    ColumnMaker,
    Machine,
    MachineMaker,
    SupportVectorClassification,
    SupportVectorRegression,
    Weights,
)

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]


class Task(Protocol):
    """Kind of target, with its machines and losses.

    If ``is_additive``, losses of single graphs are nonnegative and add up, so that a partial sum is a lower
    bound of the total; otherwise there is one loss per fold, the negative score.
    """

    @property
    def weights(self) -> Weights:
        """Weights of all graphs in fits."""

    @property
    def is_additive(self) -> bool:
        """Whether losses of single graphs add up."""

    def reweighted(self, weights: Weights) -> Self:
        """Return the same task for other graphs with these weights."""

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """Return the makers of machines to try, each with its epsilon or None."""

    def is_constant(self, target: NDArray[Any]) -> bool:
        """Return whether all targets are equal, so that no machine can be fitted."""

    def is_learnable(self, part: NDArray[Any], target: NDArray[Any]) -> bool:
        """Return whether a machine fitted to a part of the targets can predict all of them."""

    def predictions(self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[Any]) -> Any:
        """Return predictions for rows; ``target`` is the target of the training graphs."""

    def losses(self, predictions: NDArray[Any], truth: NDArray[Any]) -> Matrix:
        """Return the loss of each prediction."""

    def judge(
        self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[Any], truth: NDArray[Any]
    ) -> Matrix:
        """Return the losses of a machine on test graphs; ``target`` is the target of the training graphs."""

    def score_constant(self, target: NDArray[Any], truth: NDArray[Any]) -> float:
        """Return the score of a constant prediction, if all training graphs have the same target."""


@dataclass(frozen=True)
class Classification:
    """Classes 0, 1, ...; the loss is 1 for a wrong class.

    Attributes
    ----------
    weights : ndarray or None
        Weight of each graph's errors in fits.
    scorer : callable or None
        Scikit-learn scorer that replaces the loss.
    """

    weights: Weights = None
    scorer: Scorer | None = None

    @property
    def is_additive(self) -> bool:
        """Whether losses of graphs add up, which holds without a scorer."""
        return self.scorer is None

    def reweighted(self, weights: Weights) -> Classification:
        """Return the same task for other graphs with these weights."""
        return replace(self, weights=weights)

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """Return one maker, without epsilon."""
        kinds: dict[str, type] = {
            "kernel": SupportVectorClassification,
            "linear": LinearClassification,
            "landmarks": LandmarkClassification,
            "gp": ProcessClassification,
            "least_squares": FeatureClassification,
        }
        return [(None, kinds[solver]())]

    def is_constant(self, target: NDArray[np.int64]) -> bool:
        """Return whether there is only one class."""
        return len(class_numbers(target)[0]) == 1

    def is_learnable(self, part: NDArray[np.int64], target: NDArray[np.int64]) -> bool:
        """Return whether the part has all classes."""
        return len(class_numbers(part)[0]) == len(class_numbers(target)[0])

    def predictions(
        self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the class of each row, among the classes of the training graphs."""
        classes, _ = class_numbers(target)
        numbers = DecisionLayout(len(classes), maker.pairwise).predictions(machine.decisions(rows))
        return np.asarray(classes[numbers])

    def losses(self, predictions: NDArray[Any], truth: NDArray[Any]) -> Matrix:
        """Return 1 for each wrong class, else 0."""
        return (predictions != truth).astype(np.float64)

    def judge(
        self,
        maker: MachineMaker,
        machine: Machine,
        rows: Any,
        target: NDArray[np.int64],
        truth: NDArray[np.int64],
    ) -> Matrix:
        """Return one loss per graph; with a scorer, one loss per fold: the negative score."""
        predicted = self.predictions(maker, machine, rows, target)
        if self.scorer is None:
            return self.losses(predicted, truth)
        classes, _ = class_numbers(target)
        scores = DecisionLayout(len(classes), maker.pairwise).scores(machine.decisions(rows))
        scores = scores[:, 0] if len(classes) == 2 else scores
        fold = FoldClassifier(classes, scores, predicted)
        return np.array([-self.scorer(fold, np.arange(len(truth)), truth)])

    def score_constant(self, target: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
        """Return the score of the only class, with equal decisions for all graphs."""
        assert self.scorer is not None
        classes = np.unique(np.concatenate([target, truth]))
        zeros = np.zeros(len(truth) if len(classes) <= 2 else (len(truth), len(classes)))
        fold = FoldClassifier(classes, zeros, np.full(len(truth), target[0]))
        return float(self.scorer(fold, np.arange(len(truth)), truth))


@dataclass(frozen=True)
class Regression:
    """Standardized numbers; the loss is the squared error.

    Attributes
    ----------
    weights, scorer : see Classification
    middle, unit : float
        Offset and scale of the standardization, which is undone for scorers.
    """

    weights: Weights = None
    scorer: Scorer | None = None
    middle: Any = 0.0
    unit: Any = 1.0

    @property
    def is_additive(self) -> bool:
        """Whether losses of graphs add up, which holds without a scorer."""
        return self.scorer is None

    def reweighted(self, weights: Weights) -> Regression:
        """Return the same task for other graphs with these weights."""
        return replace(self, weights=weights)

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """Return one maker per epsilon; a Gaussian process has no epsilon."""
        if solver == "gp":
            return [(None, ProcessRegression())]
        kinds: dict[str, Any] = {
            "kernel": SupportVectorRegression,
            "linear": LinearRegression,
            "landmarks": LandmarkRegression,
            "least_squares": FeatureRegression,
        }
        return [(epsilon, kinds[solver](epsilon)) for epsilon in epsilons]

    def is_constant(self, target: NDArray[np.float64]) -> bool:
        """Return whether all values are equal."""
        return bool((target == target[0]).all())

    def is_learnable(self, part: NDArray[np.float64], target: NDArray[np.float64]) -> bool:
        """Return True: a fit to any numbers can predict others."""
        return True

    def predictions(
        self, maker: MachineMaker, machine: Machine, rows: Any, target: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the value of each row."""
        return machine.decisions(rows)[:, 0]

    def losses(self, predictions: NDArray[Any], truth: NDArray[Any]) -> Matrix:
        """Return squared errors."""
        return np.asarray((predictions - truth) ** 2, dtype=np.float64)

    def judge(
        self,
        maker: MachineMaker,
        machine: Machine,
        rows: Any,
        target: NDArray[np.float64],
        truth: NDArray[np.float64],
    ) -> Matrix:
        """Return one loss per graph; with a scorer, one loss per fold: the negative score."""
        predicted = self.predictions(maker, machine, rows, target)
        if self.scorer is None:
            return self.losses(predicted, truth)
        fold = FoldRegressor(self.unit * predicted + self.middle)
        return np.array([-self.scorer(fold, np.arange(len(truth)), self.unit * truth + self.middle)])

    def score_constant(self, target: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
        """Return the score of the only value."""
        assert self.scorer is not None
        fold = FoldRegressor(np.full(len(truth), self.unit * target[0] + self.middle))
        return float(self.scorer(fold, np.arange(len(truth)), self.unit * truth + self.middle))


@dataclass(frozen=True)
class Columns:
    """Several targets at once, with possibly missing entries (NaN): one machine per column.

    All columns share the kernel and its settings. The loss of a graph is the mean over the columns; a score
    is the mean over the columns of the scores on the graphs with an entry.

    Attributes
    ----------
    each : Classification or Regression
        The task of one column.
    class_weight : dict, "balanced" or None
        Weights of the labels 0 and 1.
    """

    each: Classification | Regression
    class_weight: Any = None

    @property
    def weights(self) -> Weights:
        """Weights of the graphs."""
        return self.each.weights

    @property
    def scorer(self) -> Scorer | None:
        """Scorer of one column."""
        return self.each.scorer

    @property
    def is_additive(self) -> bool:
        """Whether losses of graphs add up, which holds without a scorer."""
        return self.each.scorer is None

    def reweighted(self, weights: Weights) -> Columns:
        """Return the same task for other graphs with these weights."""
        return Columns(self.each.reweighted(weights), self.class_weight)

    @property
    def has_classes(self) -> bool:
        """Whether columns are labels 0 and 1 rather than numbers."""
        return isinstance(self.each, Classification)

    def makers(self, solver: str, epsilons: Sequence[float]) -> list[tuple[float | None, MachineMaker]]:
        """Return makers that fit one machine per column; labels on kernel matrices are least squares."""
        if solver in ("gp", "landmarks"):
            raise ValueError(
                f'solver="{solver}" learns one target at a time: use "kernel" or "linear" for several'
            )
        if solver == "kernel" and self.has_classes:
            return [(None, RidgeClassification(self.class_weight))]
        makers = self.each.makers(solver, epsilons)
        return [(epsilon, ColumnMaker(maker, self.class_weight)) for epsilon, maker in makers]

    def is_constant(self, target: Matrix) -> bool:
        """Return False: machines handle constant columns."""
        return False

    def is_learnable(self, part: Matrix, target: Matrix) -> bool:
        """Return True: machines handle constant columns."""
        return True

    def predictions(self, maker: MachineMaker, machine: Machine, rows: Any, target: Matrix) -> Matrix:
        """Return labels or values, (graphs, columns)."""
        decisions = machine.decisions(rows)
        return (decisions > 0).astype(np.float64) if self.has_classes else decisions

    def losses(self, predictions: Matrix, truth: Matrix) -> Matrix:
        """Return the sum over the observed columns, divided by the number of columns."""
        losses = (predictions != truth) if self.has_classes else (predictions - truth) ** 2
        return np.where(np.isnan(truth), 0.0, losses).sum(axis=1) / truth.shape[1]

    def judge(
        self, maker: MachineMaker, machine: Machine, rows: Any, target: Matrix, truth: Matrix
    ) -> Matrix:
        """Return one loss per graph; with a scorer, one loss per fold: the negative mean score."""
        scorer = self.scorer
        if scorer is None:
            return self.losses(self.predictions(maker, machine, rows, target), truth)
        decisions = machine.decisions(rows)

        def score(column: int, known: Indices) -> float:
            values, true = decisions[known, column], truth[known, column]
            if isinstance(self.each, Classification):
                fold: Any = FoldClassifier(np.array([0, 1]), values, (values > 0).astype(np.int64))
                return float(scorer(fold, np.arange(len(known)), true.astype(np.int64)))
            unit, middle = np.atleast_1d(self.each.unit)[column], np.atleast_1d(self.each.middle)[column]
            return float(
                scorer(FoldRegressor(unit * values + middle), np.arange(len(known)), unit * true + middle)
            )

        mean = column_mean(score, truth, self.has_classes)
        return np.array([0.0 if np.isnan(mean) else -mean])

    def score_constant(self, target: Matrix, truth: Matrix) -> float:
        """Raise: machines handle constant columns, so that no target is constant."""
        raise NotImplementedError
