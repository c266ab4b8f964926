"""Exact sums of losses and gradients: identical to the bit for any partition and order of rows.

A sum is stored as two numbers. The first adds multiples of a quantum q, the second adds the remainders in
multiples of a much smaller quantum. Each is an integer number of quanta below 2^52, so that every addition is
exact: the result depends on neither order nor grouping. Adding and subtracting 1.5 * 2^52 * q rounds to a
multiple of q (J. Demmel and H. D. Nguyen, 2015: Parallel reproducible summation, IEEE Transactions on
Computers 64).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.jit import compiled
from propkernels._utils.locks import cached_property

Values = NDArray[np.float64]
LOGISTIC, SQUARED_HINGE, SQUARED = 0, 1, 2
LOSSES = {"logistic": LOGISTIC, "squared_hinge": SQUARED_HINGE, "squared": SQUARED}
CLASSIFIES = ("logistic", "squared_hinge")
LARGEST = 2.0**1000  # limit of sums; the loss is NaN if one could exceed it

# compiled loops


@compiled(cache=False)
def add_exactly(term: Any, round_high: Any, round_low: Any, high: Any, low: Any, place: Any) -> None:
    """Add a term to the exact sum at one position.

    Parameters
    ----------
    term : float64
    round_high, round_low : float64
        1.5 * 2^52 times the first and the second quantum.
    high, low : (positions,), float64, modified
        The two parts of the sums.
    place : int
        Position.
    """
    first = (term + round_high) - round_high
    high[place] += first
    low[place] += ((term - first) + round_low) - round_low


@compiled(cache=False)
def loss_of(loss: Any, decision: Any, target: Any) -> Any:
    """Return loss and slope (derivative by the decision) of one row.

    Parameters
    ----------
    loss : int
        LOGISTIC, SQUARED_HINGE or SQUARED.
    decision : float64
    target : float64
        -1 or 1 for classes.
    """
    if loss == LOGISTIC:
        margin = target * decision
        small = math.exp(-abs(margin))  # at most 1, so that nothing overflows
        value = math.log1p(small) + max(-margin, 0.0)
        share = small / (1.0 + small) if margin > 0.0 else 1.0 / (1.0 + small)
        return value, -target * share
    if loss == SQUARED_HINGE:
        gap = max(1.0 - target * decision, 0.0)
        return gap * gap, -2.0 * target * gap
    gap = decision - target
    return 0.5 * gap * gap, gap


@compiled
def add_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    targets: Any,
    weights: Any,
    coefficients: Any,
    loss: Any,
    rounding: Any,
    high: Any,
    low: Any,
) -> None:
    """Add losses and gradients of rows to exact sums.

    Parameters
    ----------
    indptr, indices, data : arrays
        Features in CSR form.
    targets, weights : (rows,), float64
    coefficients : (columns + 1,), float64
        One per column, then the intercept.
    loss : int
    rounding : (4,), float64
        Roundings of the gradient (2) and of the loss (2).
    high, low : (columns + 2,), float64, modified
        Sums: the gradient, that of the intercept, the loss.
    """
    n_columns = len(coefficients) - 1
    for row in range(len(indptr) - 1):
        decision = coefficients[n_columns]
        for entry in range(indptr[row], indptr[row + 1]):
            decision += data[entry] * coefficients[indices[entry]]
        value, slope = loss_of(loss, decision, targets[row])
        slope *= weights[row]
        for entry in range(indptr[row], indptr[row + 1]):
            add_exactly(slope * data[entry], rounding[0], rounding[1], high, low, indices[entry])
        add_exactly(slope, rounding[0], rounding[1], high, low, n_columns)
        add_exactly(weights[row] * value, rounding[2], rounding[3], high, low, n_columns + 1)


@compiled
def survey_rows(indptr: Any, data: Any, largest: Any) -> None:
    """Update the largest absolute entry and the largest squared length of a row.

    Parameters
    ----------
    indptr, data : arrays
        Features in CSR form.
    largest : (2,), float64, modified
        The two maxima.
    """
    for row in range(len(indptr) - 1):
        length = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            length += data[entry] * data[entry]
            largest[0] = max(largest[0], abs(data[entry]))
        largest[1] = max(largest[1], length)


@compiled
def learn_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    targets: Any,
    weights: Any,
    loss: Any,
    has_intercept: Any,
    ridge: Any,
    rate: Any,
    gradients: Any,
    squares: Any,
    units: Any,
) -> None:
    """Learn rows one by one, by dual averaging with one step size per column.

    Parameters
    ----------
    indptr, indices, data : arrays
        Features in CSR form.
    targets, weights : (rows,), float64
    loss : int
    has_intercept : bool
    ridge : float64
        Penalty of squared coefficients.
    rate : float64
        Step size: of the intercept in units of the target, of coefficients in units of target per row length.
    gradients, squares : (columns + 1,), float64, modified
        Sums of gradients and of their squares over all rows so far; the intercept is last.
    units : (2,), float64, modified
        Largest absolute target and largest row length so far; of classes 1 and 1.
    """
    n_columns = len(gradients) - 1
    for row in range(len(indptr) - 1):
        if loss == SQUARED:
            widen_units(data[indptr[row] : indptr[row + 1]], targets[row], units)
        step = rate * units[0] / units[1]
        decision = weight_of(n_columns, 0.0, rate * units[0], gradients, squares)
        for entry in range(indptr[row], indptr[row + 1]):
            decision += data[entry] * weight_of(indices[entry], ridge, step, gradients, squares)
        slope = weights[row] * loss_of(loss, decision, targets[row])[1]
        if has_intercept:
            gradients[n_columns] += slope
            squares[n_columns] += slope * slope
        for entry in range(indptr[row], indptr[row + 1]):
            part = slope * data[entry]
            gradients[indices[entry]] += part
            squares[indices[entry]] += part * part


@compiled(cache=False)
def widen_units(entries: Any, target: Any, units: Any) -> None:
    """Raise the units of a stream to the target and the length of a row with these entries."""
    length = 0.0
    for entry in entries:
        length += entry * entry
    units[0] = max(units[0], abs(target))
    units[1] = max(units[1], math.sqrt(length))


@compiled(cache=False)
def weight_of(column: Any, ridge: Any, rate: Any, gradients: Any, squares: Any) -> Any:
    """Minimize <sum of gradients, w> + ridge w^2 / 2 + sqrt(sum of squares) w^2 / (2 rate) over w."""
    if squares[column] == 0.0:
        return 0.0
    return -gradients[column] / (ridge + math.sqrt(squares[column]) / rate)


# bounds of the terms, which determine the quanta


class Outline(NamedTuple):
    """Largest absolute entry, length of the longest row, and non-empty columns of rows."""

    largest_entry: float
    longest_row: float
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, features: csr_array) -> Outline:
        """Return the outline of rows."""
        largest = np.zeros(2)
        survey_rows(features.indptr, features.data, largest)
        is_used = np.zeros(features.shape[1], dtype=bool)
        is_used[features.indices] = True
        return cls(float(largest[0]), 1.001 * float(np.sqrt(largest[1])), np.flatnonzero(is_used))

    @classmethod
    def joined(cls, outlines: list[Outline]) -> Outline:
        """Return the outline of several sets of rows together."""
        entries, lengths, columns = zip(*outlines, strict=True)
        return cls(max(entries), max(lengths), np.unique(np.concatenate(columns)))


@dataclass(frozen=True)
class Problem:
    """Loss, targets and weights of rows.

    Attributes
    ----------
    loss : int
    targets : ndarray, (rows,)
        -1 and 1 for classes.
    weights : ndarray, (rows,)
    """

    loss: int
    targets: Values
    weights: Values

    def take(self, rows: slice) -> Problem:
        """Return the problem of a slice of rows."""
        return Problem(self.loss, self.targets[rows], self.weights[rows])

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """Largest absolute target, and largest weight."""
        return float(np.abs(self.targets).max(initial=0.0)), float(self.weights.max(initial=0.0))

    def rounding(self, outline: Outline, coefficients: Values) -> Values:
        """Return the roundings of the sums over all rows: of gradients (2), and of losses (2).

        No decision exceeds the intercept plus (length of the coefficients) x (length of the longest row), by
        the Cauchy-Schwarz inequality.
        """
        with np.errstate(over="ignore"):
            length = 1.001 * math.sqrt(float(np.sum(coefficients[:-1] ** 2)))
        decision = abs(float(coefficients[-1])) + length * outline.longest_row
        target, weight = self._largest
        loss, slope = loss_bounds(self.loss, decision, target)
        gradient = weight * slope * max(outline.largest_entry, 1.0)
        n_rows = len(self.targets)
        return np.array([*_roundings(gradient, n_rows), *_roundings(weight * loss, n_rows)])


def loss_bounds(loss: int, largest_decision: float, largest_target: float) -> tuple[float, float]:
    """Return bounds of loss and slope for rows with bounded decisions.

    With decision z and target y: log(1 + exp(-y z)) is at most |z| + 1, with a slope of at most 1;
    max(0, 1 - y z)^2 is at most (1 + |z|)^2, with a slope of at most 2 (1 + |z|);
    (z - y)^2 / 2 is at most (|z| + |y|)^2 / 2, with a slope of at most |z| + |y|.
    """
    z, y = largest_decision, largest_target
    return {
        LOGISTIC: (z + 1, 1.0),
        SQUARED_HINGE: ((1 + z) * (1 + z), 2 * (1 + z)),
        SQUARED: ((z + y) * (z + y) / 2, z + y),
    }[loss]


def _roundings(bound: float, n_terms: int) -> tuple[float, float]:
    """Return 1.5 * 2^e for each of the two sums; sums stay below 2^e, and the quantum is 2^(e - 52)."""
    if not 2.02 * bound * n_terms < LARGEST:
        return math.nan, math.nan
    first = _power_above(2.02 * bound * n_terms)
    return 1.5 * 2.0**first, 1.5 * 2.0 ** _power_above(2.02 * 2.0 ** (first - 53) * n_terms)


def _power_above(value: float) -> int:
    return max(math.frexp(value)[1], -900)  # stays away from subnormal numbers, which lose precision


# sums


@dataclass
class ExactSums:
    """Exact sums of losses and gradients; sums of several parts can be added.

    Attributes
    ----------
    high, low : ndarray, (columns + 2,)
        Multiples of a quantum, and remainders in multiples of a smaller one: the gradient per column, that
        of the intercept, and the loss.
    """

    high: Values
    low: Values

    @classmethod
    def zeros(cls, n_columns: int) -> ExactSums:
        """Return the sums of no rows."""
        return cls(np.zeros(n_columns + 2), np.zeros(n_columns + 2))

    def add_rows(self, features: csr_array, problem: Problem, coefficients: Values, rounding: Values) -> None:
        """Add the losses and gradients of rows."""
        targets, weights = problem.targets, problem.weights
        if not features.shape[0] == len(targets) == len(weights):  # compiled loops rely on it
            raise ValueError(f"{features.shape[0]} rows have {len(targets)} targets, {len(weights)} weights")
        rows = (features.indptr, features.indices, features.data, targets, weights)
        add_rows(*rows, coefficients, problem.loss, rounding, self.high, self.low)

    def packed(self) -> tuple[Any, Any, Any]:
        """Return nonzero positions and their values, as sent by workers."""
        places = np.flatnonzero((self.high != 0) | (self.low != 0) | np.isnan(self.high)).astype(np.int32)
        return places, self.high[places], self.low[places]

    def add(self, places: Any, high: Values, low: Values) -> None:
        """Add packed sums of other rows."""
        self.high[places] += high
        self.low[places] += low

    def result(self) -> tuple[float, Values]:
        """Return the loss, and the gradient with that of the intercept last."""
        total = self.high + self.low
        return float(total[-1]), total[:-1]
