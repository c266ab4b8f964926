"""Compiled loops of linear models: losses and gradients of rows, and sums that no order can change."""

from __future__ import annotations

import math
from typing import Any

from propkernels.learn.linear.losses import LOGISTIC, SQUARED_HINGE
from propkernels.utils.jit import compiled

# Sums are kept as two numbers. The first adds multiples of a quantum q, the second what is left, in multiples
# of a much smaller quantum. Each is a whole number of quanta below 2^52, so that every addition is exact: the
# result depends on neither order nor grouping. Adding and subtracting 1.5 * 2^52 * q rounds to a multiple of
# q (J. Demmel and H. D. Nguyen, 2015: Parallel reproducible summation, IEEE Transactions on Computers 64).


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
