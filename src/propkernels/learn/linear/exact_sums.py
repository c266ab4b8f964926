"""Sums of losses and gradients that are the same to the bit however the rows are cut and ordered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.linear.losses import bounds_of

Values = NDArray[np.float64]
LARGEST = 2.0**1000  # sums that can be larger are not added up: the loss is NaN there


@dataclass(frozen=True)
class Survey:
    """What is known of all rows before learning begins.

    Attributes
    ----------
    n_rows : int
    largest_entry, longest_row : float
        Largest number, without its sign, and largest length of a row.
    largest_target, largest_weight : float
    """

    n_rows: int
    largest_entry: float
    longest_row: float
    largest_target: float
    largest_weight: float

    def rounding(self, loss: int, coefficients: Values) -> Values:
        """Roundings of the sums at these coefficients: of gradients (2), and of losses (2).

        No decision exceeds the intercept plus (length of the coefficients) x (length of the longest row), by
        the Cauchy-Schwarz inequality.
        """
        with np.errstate(over="ignore"):
            length = 1.001 * math.sqrt(float(np.sum(coefficients[:-1] ** 2)))
        decision = abs(float(coefficients[-1])) + length * self.longest_row
        loss_bound, slope = bounds_of(loss, decision, self.largest_target, self.largest_weight)
        gradient_bound = slope * max(self.largest_entry, 1.0)
        return np.array([*_roundings(gradient_bound, self.n_rows), *_roundings(loss_bound, self.n_rows)])


def _roundings(bound: float, n_terms: int) -> tuple[float, float]:
    """1.5 * 2^e for both sums: a sum of all terms stays below 2^e, and its quantum is 2^(e - 52)."""
    if not 2.02 * bound * n_terms < LARGEST:
        return math.nan, math.nan
    first = _power_above(2.02 * bound * n_terms)
    return 1.5 * 2.0**first, 1.5 * 2.0 ** _power_above(2.02 * 2.0 ** (first - 53) * n_terms)


def _power_above(value: float) -> int:
    return max(math.frexp(value)[1], -900)  # far from the smallest numbers, which would be rounded


@dataclass
class ExactSums:
    """Sums of which every addition is exact; those of several parts of the rows are added up.

    Attributes
    ----------
    high, low : ndarray, (columns + 2,)
        Multiples of a quantum, and what is left of them in multiples of a smaller one: the gradient by
        column, that of the intercept, and the loss.
    """

    high: Values
    low: Values

    @classmethod
    def zeros(cls, n_columns: int) -> ExactSums:
        """Nothing added yet."""
        return cls(np.zeros(n_columns + 2), np.zeros(n_columns + 2))

    def add_rows(
        self,
        features: Any,
        targets: Values,
        weights: Values,
        coefficients: Values,
        loss: int,
        rounding: Values,
    ) -> None:
        """Add the losses and gradients of some rows."""
        from propkernels.learn.linear.compiled import add_rows

        if not features.shape[0] == len(targets) == len(weights):  # compiled loops rely on it
            raise ValueError(f"{features.shape[0]} rows have {len(targets)} targets, {len(weights)} weights")
        rows = (features.indptr, features.indices, features.data, targets, weights)
        add_rows(*rows, coefficients, loss, rounding, self.high, self.low)

    def add(self, other: ExactSums) -> None:
        """Add the sums of other rows."""
        self.high += other.high
        self.low += other.low

    def packed(self) -> tuple[Any, Any, Any]:
        """Only what is not zero, to be sent."""
        places = np.flatnonzero((self.high != 0) | (self.low != 0) | np.isnan(self.high)).astype(np.int32)
        return places, self.high[places], self.low[places]

    def add_packed(self, packed: tuple[Any, Any, Any]) -> None:
        """Add sums that were sent."""
        places, high, low = packed
        self.high[places] += high
        self.low[places] += low

    def result(self) -> tuple[float, Values]:
        """Loss, and gradient with that of the intercept last."""
        total = self.high + self.low
        return float(total[-1]), total[:-1]
