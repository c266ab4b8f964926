"""Exact sums: against rational arithmetic, in any order, cut anywhere."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from propkernels.models.exact_sums import (
    LOGISTIC,
    LOSSES,
    SQUARED,
    SQUARED_HINGE,
    ExactSums,
    Outline,
    Problem,
    learn_rows,
    loss_bounds,
    loss_of,
    survey_rows,
)

pytestmark = pytest.mark.compiled
every_loss = pytest.mark.parametrize("loss", [LOGISTIC, SQUARED_HINGE, SQUARED])


def example(seed, loss, n=40, columns=6, scale=1.0):
    rng = np.random.default_rng(seed)
    features = csr_array(rng.integers(0, 4, (n, columns)) * rng.normal(size=(n, columns)) * scale)
    targets = rng.normal(size=n) if loss == SQUARED else rng.choice([-1.0, 1.0], n)
    weights = rng.random(n) * 10.0 ** rng.integers(-3, 3, n)
    return features, targets, weights, rng.normal(size=columns + 1) * 10.0 ** rng.integers(-4, 3)


def rounding_of(features, targets, weights, coefficients, loss):
    return Problem(loss, targets, weights).rounding(Outline.of(features), coefficients)


def sums_of(parts, n_columns, coefficients, loss, rounding):
    """Each part by itself, packed, sent and added up."""
    total = ExactSums.zeros(n_columns)
    for features, targets, weights in parts:
        own = ExactSums.zeros(n_columns)
        own.add_rows(features, Problem(loss, targets, weights), coefficients, rounding)
        total.add(*own.packed())
    return total


def naive(features, targets, weights, coefficients, loss):
    """Losses and gradients as rationals: terms are rounded as they are in the loop, sums are not."""
    gradient, total = [Fraction(0)] * len(coefficients), Fraction(0)
    for row, target, weight in zip(range(features.shape[0]), targets, weights, strict=True):
        entries = range(features.indptr[row], features.indptr[row + 1])
        decision = coefficients[-1]
        for entry in entries:
            decision += features.data[entry] * coefficients[features.indices[entry]]
        value, slope = loss_of(loss, decision, target)
        slope *= weight
        for entry in entries:
            gradient[features.indices[entry]] += Fraction(slope * features.data[entry])
        gradient[-1] += Fraction(slope)
        total += Fraction(weight * value)
    return total, gradient


@every_loss
@pytest.mark.parametrize("seed", range(5))
def test_sums_are_those_of_rational_arithmetic(loss, seed):
    features, targets, weights, coefficients = example(seed, loss)
    rounding = rounding_of(features, targets, weights, coefficients, loss)
    value, gradient = sums_of([(features, targets, weights)], 6, coefficients, loss, rounding).result()
    exact_value, exact_gradient = naive(features, targets, weights, coefficients, loss)
    for computed, exact in zip([value, *gradient], [exact_value, *exact_gradient], strict=True):
        largest = max(abs(x) for x in [exact_value, *exact_gradient])
        assert abs(Fraction(computed) - exact) <= largest * Fraction(2) ** -52


@every_loss
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n_parts=st.integers(1, 8))
def test_order_and_cuts_change_no_bit(loss, seed, n_parts):
    features, targets, weights, coefficients = example(seed, loss)
    rounding = rounding_of(features, targets, weights, coefficients, loss)
    reference = sums_of([(features, targets, weights)], 6, coefficients, loss, rounding).result()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(targets))
    cuts = np.array_split(order, np.sort(rng.integers(0, len(targets), n_parts - 1)))
    parts = [(features[rows], targets[rows], weights[rows]) for rows in cuts if len(rows)]
    value, gradient = sums_of(parts, 6, coefficients, loss, rounding).result()
    assert value == reference[0]
    assert np.array_equal(gradient, reference[1])


@every_loss
@settings(max_examples=25, deadline=None)
@given(decision=st.floats(-50, 50), target=st.floats(-50, 50), slack=st.floats(0, 10))
def test_bounds_hold(loss, decision, target, slack):
    target = target if loss == SQUARED else (1.0 if target > 0 else -1.0)
    value, slope = loss_of(loss, decision, target)
    most, steepest = loss_bounds(loss, abs(decision) + slack, abs(target))
    assert value <= most * (1 + 1e-12)
    assert abs(slope) <= steepest * (1 + 1e-12)


@every_loss
@pytest.mark.parametrize("decision", [-800.0, -1.5, 0.0, 0.3, 1.0, 40.0, 800.0])
@pytest.mark.parametrize("target", [-1.0, 1.0])
def test_losses_are_their_formulas(loss, decision, target):
    value, slope = loss_of(loss, decision, target)
    margin = np.longdouble(target * decision)
    expected = {
        LOGISTIC: (np.logaddexp(0, -margin), -target / (1 + np.exp(margin))),
        SQUARED_HINGE: (max(0, 1 - margin) ** 2, -2 * target * max(0, 1 - margin)),
        SQUARED: ((decision - target) ** 2 / 2, decision - target),
    }[loss]
    np.testing.assert_allclose([value, slope], np.array(expected, dtype=float), rtol=1e-14, atol=1e-300)


def test_the_names_of_losses():
    assert LOSSES == {"logistic": LOGISTIC, "squared_hinge": SQUARED_HINGE, "squared": SQUARED}


def test_what_is_not_finite_stays_so():
    features, targets, weights, coefficients = example(0, SQUARED)
    coefficients[0] = 1e300
    rounding = rounding_of(features, targets, weights, coefficients, SQUARED)
    value, _ = sums_of([(features, targets, weights)], 6, coefficients, SQUARED, rounding).result()
    assert np.isnan(value)


def test_rows_without_targets_are_refused():
    features, targets, weights, coefficients = example(0, LOGISTIC)
    with pytest.raises(ValueError, match="40 rows have 39 targets"):
        ExactSums.zeros(6).add_rows(
            features, Problem(LOGISTIC, targets[:-1], weights), coefficients, np.ones(4)
        )


def test_the_survey():
    largest = np.zeros(2)
    features = csr_array(np.array([[3.0, -4.0], [0.0, 2.0]]))
    survey_rows(features.indptr, features.data, largest)
    assert largest.tolist() == [4.0, 25.0]
    outline = Outline.of(csr_array(np.array([[3.0, 0.0, -4.0], [0.0, 0.0, 2.0]])))
    assert outline.largest_entry == 4.0
    assert outline.longest_row == pytest.approx(5.0, rel=2e-3)
    assert outline.columns.tolist() == [0, 2]


def naive_stream(features, targets, weights, loss, ridge, rate):
    """Dual averaging by its definition, with all coefficients at every step."""
    dense = np.column_stack([features.toarray(), np.ones(features.shape[0])])
    gradients, squares = np.zeros(dense.shape[1]), np.zeros(dense.shape[1])
    penalty = np.full(dense.shape[1], ridge)
    penalty[-1] = 0.0
    units = np.ones(2) if loss != SQUARED else np.zeros(2)
    for row, target, weight in zip(dense, targets, weights, strict=True):
        if loss == SQUARED:
            units = np.maximum(units, [abs(target), np.linalg.norm(row[:-1])])
        steps = np.full(dense.shape[1], rate * units[0] / units[1])
        steps[-1] = rate * units[0]
        scale = penalty + np.sqrt(squares) / steps
        coefficients = -np.divide(gradients, scale, out=np.zeros_like(scale), where=squares > 0)
        gradient = weight * loss_of(loss, float(row @ coefficients), target)[1] * row
        gradients += gradient
        squares += gradient**2
    return gradients, squares


@every_loss
def test_streams_follow_their_definition(loss):
    features, targets, weights, _ = example(3, loss)
    gradients, squares = np.zeros(7), np.zeros(7)
    rows = (features.indptr, features.indices, features.data, targets, weights)
    units = np.zeros(2) if loss == SQUARED else np.ones(2)
    learn_rows(*rows, loss, True, 0.5, 0.1, gradients, squares, units)
    expected = naive_stream(features, targets, weights, loss, 0.5, 0.1)
    np.testing.assert_allclose(gradients, expected[0], rtol=1e-9)
    np.testing.assert_allclose(squares, expected[1], rtol=1e-9)
