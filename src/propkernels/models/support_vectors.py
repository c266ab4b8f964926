"""Machines on kernel matrices and features: one class per solver and task, with ``fit`` and no state.

The method ``fit(known, target, cost, weights)`` returns a :class:`Machine`; ``known`` is the kernel matrix or
the features of the training graphs, and ``weights`` multiply the cost of each graph's errors. The module also
holds the warnings that fits and evaluations silence.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from propkernels._utils.arrays import offsets
from propkernels.models.libsvm import CLASSIFICATION, REGRESSION, Dual, solve
from propkernels.novelty.foreign import ForeignGraphsWarning

Matrix = NDArray[np.float64]
Weights = NDArray[np.float64] | None
SATURATED = 0.9  # share of multipliers at C above which C is too small to judge the kernel
FREE = 0.01  # share of multipliers at C below which a larger C changes little
# Steps of libsvm per graph: most machines need fewer than 30; if 100 are not enough, C is too large.
STEPS = {"quick": 30, "patient": 100}


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
        At least a tenth of the multipliers are below C; otherwise the loss says little about larger C.
    is_nearly_final : bool
        Hardly any multiplier is at C: a larger C gives nearly the same machine.
    is_converged : bool
        The solver converged; if not, C is too large.
    details : object, optional
        Further results of the solver, such as the posterior of a Gaussian process.
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]
    is_final: bool = False
    is_settled: bool = True
    is_nearly_final: bool = False
    is_converged: bool = True
    details: Any = None

    def decisions(self, rows: Any) -> Matrix:
        """Return decisions for rows of a kernel matrix or features."""
        return np.asarray(rows @ self.coefficients) + self.intercepts


class MachineMaker(Protocol):
    """Solver with its settings; ``fit`` returns a machine."""

    @property
    def uses_features(self) -> bool:
        """Whether ``fit`` takes features rather than kernel matrices."""

    @property
    def pairwise(self) -> bool:
        """Whether there is one decision per pair of classes."""

    def fit(self, known: Any, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Return a machine fitted to the kernel matrix or the features of the training graphs."""


@dataclass(frozen=True)
class SupportVectorClassification:
    """C-SVM of libsvm: one machine per pair of classes.

    Attributes
    ----------
    effort : {"quick", "patient", "full"}
        Limit of solver steps; "quick" is enough to compare candidates.
    """

    effort: str = "full"
    uses_features = False
    pairwise = True

    def fit(self, known: Matrix, target: NDArray[np.int64], cost: float, weights: Weights = None) -> Machine:
        """Return a machine fitted to a kernel matrix."""
        dual = solve(CLASSIFICATION, known, target, cost, weights, _limit(self.effort, len(known)))
        coefficients, intercepts = pairwise_coefficients(dual, len(known))
        return Machine(coefficients, intercepts, *_state(dual, cost, len(known)))


@dataclass(frozen=True)
class SupportVectorRegression:
    """Epsilon-SVR of libsvm."""

    epsilon: float
    effort: str = "full"
    uses_features = False
    pairwise = False

    def fit(
        self, known: Matrix, target: NDArray[np.float64], cost: float, weights: Weights = None
    ) -> Machine:
        """Return a machine fitted to a kernel matrix."""
        limit = _limit(self.effort, len(known))
        dual = solve(REGRESSION, known, target, cost, weights, limit, self.epsilon)
        coefficients = np.zeros((len(known), 1))
        coefficients[dual.support, 0] = dual.coefficients[0]
        return Machine(coefficients, dual.intercepts, *_state(dual, cost, len(known)))


def pairwise_coefficients(dual: Dual, n_graphs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients (graphs, pairs of classes) and intercepts of libsvm's one-against-one machines.

    Decision p is ``sum_i coefficients[i, p] K(x, x_i) + intercepts[p]``; positive votes for the first class
    of the pair, as in ``SVC.decision_function(decision_function_shape="ovo")``.
    """
    pairs = list(combinations(range(len(dual.n_support)), 2))
    ends, coefficients = offsets(dual.n_support), np.zeros((n_graphs, len(pairs)))
    for p, (i, j) in enumerate(pairs):
        for label, row in ((i, j - 1), (j, i)):  # a class against all others, one row each
            own = slice(ends[label], ends[label + 1])
            coefficients[dual.support[own], p] = dual.coefficients[row, own]
    return coefficients, dual.intercepts


def _limit(effort: str, n_graphs: int) -> int:
    """Return the largest number of solver steps; -1 for no limit."""
    return STEPS[effort] * n_graphs if effort in STEPS else -1


def _state(dual: Dual, cost: float, n_graphs: int) -> tuple[bool, bool, bool, bool]:
    """Return the flags is_final, is_settled, is_nearly_final and is_converged of a machine."""
    share = int((np.abs(dual.coefficients) >= cost).any(axis=0).sum()) / n_graphs
    return share == 0 and dual.is_converged, share < SATURATED, share < FREE, dual.is_converged


@contextmanager
def foreign_graphs_allowed() -> Iterator[None]:
    """Silence ForeignGraphsWarning, since folds may lack a label; use around threads, not in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ForeignGraphsWarning)
        yield


@contextmanager
def stopping_allowed() -> Iterator[None]:
    """Silence scikit-learn's warning that a solver has stopped early.

    Machines that compare candidates may stop early on purpose, and machines that did not converge are judged
    on held-out graphs like all others. Warning filters are global to the process: use this around threads,
    not in them.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@dataclass(frozen=True)
class ColumnMaker:
    """Fits each column of the target to the graphs with an entry.

    Attributes
    ----------
    each : MachineMaker
        Fits one column.
    class_weight : dict, "balanced" or None
        Weights of the labels 0 and 1, see scikit-learn; "balanced" is computed per column.
    """

    each: MachineMaker
    class_weight: Any = None
    pairwise = False

    @property
    def uses_features(self) -> bool:
        """Whether machines learn from features rather than kernel matrices."""
        return self.each.uses_features

    def fit(self, known: Any, target: Matrix, cost: float, weights: Weights = None) -> Machine:
        """Return one machine for all columns, fitted to a kernel matrix or features."""
        return self.fit_path(known, target, [cost], weights)[0]

    def fit_path(
        self, known: Any, target: Matrix, costs: Sequence[float], weights: Weights = None
    ) -> list[Machine]:
        """Return one machine per cost."""
        columns = [self._column(known, column, costs, weights) for column in target.T]
        return [self._side_by_side(machines) for machines in zip(*columns, strict=True)]

    @staticmethod
    def _side_by_side(columns: Sequence[Machine]) -> Machine:
        """Return one machine from the machines of all columns."""
        coefficients = np.column_stack([machine.coefficients[:, 0] for machine in columns])
        intercepts = np.array([machine.intercepts[0] for machine in columns])
        states = [(m.is_final, m.is_settled, m.is_nearly_final, m.is_converged) for m in columns]
        return Machine(coefficients, intercepts, *(all(parts) for parts in zip(*states, strict=True)))

    def _column(
        self, known: Any, target: NDArray[np.float64], costs: Sequence[float], weights: Weights
    ) -> list[Machine]:
        """Return the machine of one column for each cost."""
        observed = np.flatnonzero(~np.isnan(target))
        n_rows = known.shape[1]  # training graphs, or columns of features
        values = target[observed]
        if len(observed) == 0 or (values == values[0]).all():
            return [Machine(np.zeros((n_rows, 1)), np.array([self._constant(values)]), True)] * len(costs)
        part = known[observed] if self.uses_features else known[np.ix_(observed, observed)]
        labels = values.astype(np.int64) if self._has_classes else values
        sample_weight = None if weights is None else weights[observed]
        if self.class_weight is not None:
            factors = compute_sample_weight(self.class_weight, labels)
            sample_weight = (1.0 if sample_weight is None else sample_weight) * factors
        machines = fit_path(self.each, part, labels, costs, sample_weight)
        return [self._placed(machine, observed, n_rows) for machine in machines]

    def _placed(self, machine: Machine, observed: NDArray[np.int64], n_rows: int) -> Machine:
        """Return a machine of the observed graphs as one of all graphs."""
        if self.uses_features:
            return machine
        coefficients = np.zeros((n_rows, 1))
        coefficients[observed] = machine.coefficients
        return replace(machine, coefficients=coefficients)

    @property
    def _has_classes(self) -> bool:
        return not hasattr(self.each, "epsilon")

    def _constant(self, values: NDArray[np.float64]) -> float:
        """Return the decision if all observed values are equal, or none is observed."""
        first = float(values[0]) if len(values) else 0.0
        return (1.0 if first > 0 else -1.0) if self._has_classes else first


def fit_path(
    maker: MachineMaker, known: Any, target: NDArray[Any], costs: Sequence[float], weights: Weights = None
) -> list[Machine]:
    """Return one machine per cost; least squares on features share their products of features."""
    if hasattr(maker, "fit_path"):
        machines: list[Machine] = maker.fit_path(known, target, costs, weights)
        return machines
    return [maker.fit(known, target, cost, weights) for cost in costs]


def with_effort(maker: Any, effort: str) -> Any:
    """Return the same maker with another limit of solver steps: "quick", "patient" or "full"."""
    if isinstance(maker, ColumnMaker):
        return replace(maker, each=with_effort(maker.each, effort))
    return replace(maker, effort=effort)
