"""Sums of losses and gradients that are the same to the bit however the rows are cut and ordered.

A sum is kept as two numbers. The first adds multiples of a quantum q, the second the remainders, in multiples
of a much smaller quantum. Each is a whole number of quanta below 2^52, so that every addition is exact: the
result depends on neither order nor grouping. Adding and subtracting 1.5 * 2^52 * q rounds to a multiple of q
(J. Demmel and H. D. Nguyen, 2015: Parallel reproducible summation, IEEE Transactions on Computers 64).
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
LARGEST = 2.0**1000  # where a sum could be larger, the loss is NaN

# compiled loops


@compiled(cache=False)
def add_exactly(term: Any, round_high: Any, round_low: Any, high: Any, low: Any, place: Any) -> None:
    """Add a term to the sum at a place; ``round_high`` is 1.5 * 2^52 times the first quantum."""
    first = (term + round_high) - round_high
    high[place] += first
    low[place] += ((term - first) + round_low) - round_low


@compiled(cache=False)
def loss_of(loss: Any, decision: Any, target: Any) -> Any:
    """Loss and slope of one row; targets of classes are -1 and 1."""
    if loss == LOGISTIC:
        margin = target * decision
        small = math.exp(-abs(margin))  # of log(1 + exp(-margin)), so that nothing overflows
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

    ``coefficients`` are one per column, then the intercept. ``high`` and ``low`` have one place more: the
    gradient, then the loss. ``rounding`` holds the roundings of the gradient (2), and of the loss (2).
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
    """largest[0]: the largest entry, without its sign; largest[1]: the largest squared length of a row."""
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
) -> None:
    """Dual averaging with one step size per column, one row after the other.

    ``gradients`` and ``squares`` are sums over all rows so far: one place per column, then the intercept.
    """
    n_columns = len(gradients) - 1
    for row in range(len(indptr) - 1):
        decision = weight_of(n_columns, 0.0, rate, gradients, squares)
        for entry in range(indptr[row], indptr[row + 1]):
            decision += data[entry] * weight_of(indices[entry], ridge, rate, gradients, squares)
        slope = weights[row] * loss_of(loss, decision, targets[row])[1]
        if has_intercept:
            gradients[n_columns] += slope
            squares[n_columns] += slope * slope
        for entry in range(indptr[row], indptr[row + 1]):
            part = slope * data[entry]
            gradients[indices[entry]] += part
            squares[indices[entry]] += part * part


@compiled(cache=False)
def weight_of(column: Any, ridge: Any, rate: Any, gradients: Any, squares: Any) -> Any:
    """Minimize <sum of gradients, w> + ridge w^2 / 2 + sqrt(sum of squares) w^2 / (2 rate) over w."""
    if squares[column] == 0.0:
        return 0.0
    return -gradients[column] / (ridge + math.sqrt(squares[column]) / rate)


# bounds of the terms, and so the quanta


class Outline(NamedTuple):
    """Largest entry of rows (without its sign), length of the longest row, columns that are not empty."""

    largest_entry: float
    longest_row: float
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, features: csr_array) -> Outline:
        """Outline of some rows."""
        largest = np.zeros(2)
        survey_rows(features.indptr, features.data, largest)
        is_used = np.zeros(features.shape[1], dtype=bool)
        is_used[features.indices] = True
        return cls(float(largest[0]), 1.001 * float(np.sqrt(largest[1])), np.flatnonzero(is_used))

    @classmethod
    def joined(cls, outlines: list[Outline]) -> Outline:
        """Outline of several sets of rows together."""
        entries, lengths, columns = zip(*outlines, strict=True)
        return cls(max(entries), max(lengths), np.unique(np.concatenate(columns)))


@dataclass(frozen=True)
class Problem:
    """Loss, targets and weights of rows.

    Attributes
    ----------
    loss : int
    targets : ndarray, (rows,)
        -1 and 1 where classes are learned.
    weights : ndarray, (rows,)
    """

    loss: int
    targets: Values
    weights: Values

    def take(self, rows: slice) -> Problem:
        """Return the problem of some of the rows."""
        return Problem(self.loss, self.targets[rows], self.weights[rows])

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """Largest target, without its sign, and largest weight."""
        return float(np.abs(self.targets).max(initial=0.0)), float(self.weights.max(initial=0.0))

    def rounding(self, outline: Outline, coefficients: Values) -> Values:
        """Roundings of the sums over all rows at these coefficients: of gradients (2), and of losses (2).

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
    """Bounds of the loss and of the slope of rows whose decisions are bounded.

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
    """1.5 * 2^e for both sums: a sum of all terms stays below 2^e, and its quantum is 2^(e - 52)."""
    if not 2.02 * bound * n_terms < LARGEST:
        return math.nan, math.nan
    first = _power_above(2.02 * bound * n_terms)
    return 1.5 * 2.0**first, 1.5 * 2.0 ** _power_above(2.02 * 2.0 ** (first - 53) * n_terms)


def _power_above(value: float) -> int:
    return max(math.frexp(value)[1], -900)  # far from the smallest numbers, which would be rounded


# sums


@dataclass
class ExactSums:
    """Sums of which every addition is exact; those of several parts of the rows are added up.

    Attributes
    ----------
    high, low : ndarray, (columns + 2,)
        Multiples of a quantum, and remainders in multiples of a smaller one: the gradient by column, that of
        the intercept, and the loss.
    """

    high: Values
    low: Values

    @classmethod
    def zeros(cls, n_columns: int) -> ExactSums:
        """Sums of no rows."""
        return cls(np.zeros(n_columns + 2), np.zeros(n_columns + 2))

    def add_rows(self, features: csr_array, problem: Problem, coefficients: Values, rounding: Values) -> None:
        """Add the losses and gradients of some rows."""
        targets, weights = problem.targets, problem.weights
        if not features.shape[0] == len(targets) == len(weights):  # compiled loops rely on it
            raise ValueError(f"{features.shape[0]} rows have {len(targets)} targets, {len(weights)} weights")
        rows = (features.indptr, features.indices, features.data, targets, weights)
        add_rows(*rows, coefficients, problem.loss, rounding, self.high, self.low)

    def packed(self) -> tuple[Any, Any, Any]:
        """Places that are not zero, and their numbers: what workers send."""
        places = np.flatnonzero((self.high != 0) | (self.low != 0) | np.isnan(self.high)).astype(np.int32)
        return places, self.high[places], self.low[places]

    def add(self, places: Any, high: Values, low: Values) -> None:
        """Add the sums of other rows at some places."""
        self.high[places] += high
        self.low[places] += low

    def result(self) -> tuple[float, Values]:
        """Loss, and gradient with that of the intercept last."""
        total = self.high + self.low
        return float(total[-1]), total[:-1]
