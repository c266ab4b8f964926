"""Machines on kernel matrices and on features: one small class for each solver and task.

All of them have a method ``fit(known, target, cost, weights)`` that returns a :class:`Machine`; ``known`` is
the kernel matrix of the graphs to learn from, or their features, and ``weights`` multiply the cost of each
graph's errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from propkernels.learn.machines.decisions import pairwise_coefficients

Matrix = NDArray[np.float64]
Weights = NDArray[np.float64] | None
SATURATED = 0.9  # share of multipliers at C above which C is too small to judge a machine by
FREE = 0.01  # share of multipliers at C below which a larger C changes little
STEPS = 30  # steps of libsvm per graph that a quick machine may take; most need fewer


@dataclass(frozen=True)
class Machine:
    """A fitted machine: decisions are ``rows @ coefficients + intercepts``.

    Attributes
    ----------
    coefficients : ndarray, (training graphs or columns of features, decisions)
    intercepts : ndarray, (decisions,)
    is_final : bool
        A larger C gives the same machine.
    is_settled : bool
        C is so large that not nearly all multipliers are at C; below, accuracy says little about larger C.
    is_nearly_final : bool
        Hardly any multiplier is at C: a larger one gives nearly the same machine.
    details : object, optional
        What else the solver knows (a Gaussian process: its uncertainty).
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]
    is_final: bool = False
    is_settled: bool = True
    is_nearly_final: bool = False
    details: Any = None

    def decisions(self, rows: Any) -> Matrix:
        """Decisions on rows of a kernel matrix, or on features."""
        return np.asarray(rows @ self.coefficients) + self.intercepts


class MachineMaker(Protocol):
    """Learns machines."""

    @property
    def uses_features(self) -> bool:
        """Whether it learns from features rather than kernel matrices."""

    @property
    def pairwise(self) -> bool:
        """Whether there is one decision for each pair of classes."""

    def fit(self, known: Any, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Learn from the kernel matrix or the features of some graphs."""


@dataclass(frozen=True)
class SupportVectorClassification:
    """The C-SVM, libsvm's: one machine for each pair of classes.

    Attributes
    ----------
    is_quick : bool
        Whether the solver may stop before it has converged: enough to compare candidates.
    """

    is_quick: bool = False
    uses_features = False
    pairwise = True

    def fit(self, known: Matrix, target: NDArray[np.int64], cost: float, weights: Weights = None) -> Machine:
        """Learn from a kernel matrix."""
        from sklearn.svm import SVC

        limit = STEPS * len(known) if self.is_quick else -1
        machine = SVC(kernel="precomputed", C=cost, max_iter=limit).fit(known, target, weights)
        coefficients, intercepts = pairwise_coefficients(machine, len(known))
        return Machine(coefficients, intercepts, *_state(machine.dual_coef_, cost, len(known)))


@dataclass(frozen=True)
class SupportVectorRegression:
    """The epsilon-SVR, libsvm's."""

    epsilon: float
    is_quick: bool = False
    uses_features = False
    pairwise = False

    def fit(
        self, known: Matrix, target: NDArray[np.float64], cost: float, weights: Weights = None
    ) -> Machine:
        """Learn from a kernel matrix."""
        from sklearn.svm import SVR

        limit = STEPS * len(known) if self.is_quick else -1
        machine = SVR(kernel="precomputed", C=cost, epsilon=self.epsilon, max_iter=limit)
        machine.fit(known, target, weights)
        coefficients = np.zeros((len(known), 1))
        coefficients[machine.support_, 0] = machine.dual_coef_[0]
        intercepts = np.asarray(machine.intercept_, dtype=np.float64)
        return Machine(coefficients, intercepts, *_state(machine.dual_coef_, cost, len(known)))


def _state(multipliers: Matrix, cost: float, n_graphs: int) -> tuple[bool, bool, bool]:
    """Whether a larger C changes nothing, C is large enough to judge by, a larger C changes little."""
    share = float((np.abs(multipliers) >= cost).any(axis=0).sum()) / n_graphs
    return share == 0, share < SATURATED, share < FREE


@contextmanager
def stopping_allowed() -> Iterator[None]:
    """Silence scikit-learn's warning that a solver has stopped early.

    A machine that compares candidates may stop early on purpose; one that did not converge in as many steps
    as it had is judged on held-out graphs like any other. Filters of warnings belong to the process: use this
    around threads, not in them.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@dataclass(frozen=True)
class ColumnMaker:
    """Learns each column from the graphs that have it.

    Attributes
    ----------
    each : MachineMaker
        Learns one column.
    class_weight : dict, "balanced" or None
        Weights of the labels 0 and 1, see scikit-learn; "balanced" for each column by itself.
    """

    each: MachineMaker
    class_weight: Any = None
    pairwise = False

    @property
    def uses_features(self) -> bool:
        """Whether machines learn from features rather than kernel matrices."""
        return self.each.uses_features

    def quick(self) -> ColumnMaker:
        """Return one that may stop before it has converged."""
        return ColumnMaker(quick_maker(self.each), self.class_weight)

    def fit(self, known: Any, target: Matrix, cost: float, weights: Weights = None) -> Machine:
        """Learn from the kernel matrix or the features of some graphs."""
        columns = [self._column(known, column, cost, weights) for column in target.T]
        coefficients = np.column_stack([machine.coefficients[:, 0] for machine in columns])
        intercepts = np.array([machine.intercepts[0] for machine in columns])
        states = [(m.is_final, m.is_settled, m.is_nearly_final) for m in columns]
        return Machine(coefficients, intercepts, *(all(parts) for parts in zip(*states, strict=True)))

    def _column(self, known: Any, target: NDArray[np.float64], cost: float, weights: Weights) -> Machine:
        observed = np.flatnonzero(~np.isnan(target))
        n_rows = known.shape[1]  # training graphs, or columns of features
        values = target[observed]
        if len(observed) == 0 or (values == values[0]).all():
            return Machine(np.zeros((n_rows, 1)), np.array([self._constant(values)]), True)
        part = known[observed] if self.uses_features else known[np.ix_(observed, observed)]
        labels = values.astype(np.int64) if self._has_classes else values
        own = None if weights is None else weights[observed]
        if self.class_weight is not None:
            own = (1.0 if own is None else own) * compute_sample_weight(self.class_weight, labels)
        machine = self.each.fit(part, labels, cost, own)
        sign = -1.0 if self.each.pairwise else 1.0  # libsvm's pairs are positive for the first class
        coefficients = sign * machine.coefficients
        if not self.uses_features:
            coefficients = np.zeros((n_rows, 1))
            coefficients[observed] = sign * machine.coefficients
        return replace(machine, coefficients=coefficients, intercepts=sign * machine.intercepts)

    @property
    def _has_classes(self) -> bool:
        return not hasattr(self.each, "epsilon")

    def _constant(self, values: NDArray[np.float64]) -> float:
        """Decision where all observed values are the same, or none is observed."""
        first = float(values[0]) if len(values) else 0.0
        return (1.0 if first > 0 else -1.0) if self._has_classes else first


def quick_maker(maker: Any) -> Any:
    """Return a maker of the same machines that may stop before they have converged."""
    return maker.quick() if isinstance(maker, ColumnMaker) else replace(maker, is_quick=True)
