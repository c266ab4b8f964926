"""Least squares on landmarks, beside dense normal equations."""

import numpy as np
import pytest

from propkernels.models.landmarks import JITTER, Equations, LandmarkClassification, LandmarkRegression

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 3))
KERNEL = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2) / 4)
PLACES = np.arange(0, 60, 4)


class Rows:
    """Rows as dense arrays: the definition."""

    places = PLACES

    @property
    def between(self):
        return KERNEL[np.ix_(PLACES, PLACES)].copy()

    def equations(self, columns, weights):
        rows = KERNEL[:, PLACES]
        right = np.column_stack([columns, np.ones(len(columns))])
        return Equations(rows.T @ (weights[:, None] * rows), rows.T @ (weights[:, None] * right))


def dense(columns, weights, cost):
    """Minimize the objective with a free intercept as one system of m + 1 equations."""
    rows, n_landmarks = np.column_stack([KERNEL[:, PLACES], np.ones(60)]), len(PLACES)
    penalty = np.zeros((n_landmarks + 1,) * 2)
    penalty[:-1, :-1] = (KERNEL[np.ix_(PLACES, PLACES)] + JITTER * np.eye(n_landmarks)) / cost
    system = rows.T @ (weights[:, None] * rows) + penalty
    return np.linalg.solve(system, rows.T @ (weights[:, None] * columns))


@pytest.mark.parametrize("weights", [None, RNG.random(60)])
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_machines_solve_the_normal_equations(weights, cost):
    shares = np.ones(60) if weights is None else weights
    numbers, classes = POINTS @ [1.0, -2.0, 0.5], RNG.integers(3, size=60)
    for maker, target, columns in [
        (LandmarkRegression(), numbers, numbers[:, None]),
        (LandmarkClassification(), classes, np.where(classes[:, None] == np.arange(3), 1.0, -1.0)),
        (LandmarkClassification(), classes % 2, np.where(classes[:, None] % 2 == 1, 1.0, -1.0)),
    ]:
        machine, expected = maker.fit(Rows(), target, cost, weights), dense(columns, shares, cost)
        np.testing.assert_allclose(machine.coefficients[PLACES], expected[:-1], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(machine.intercepts, expected[-1], rtol=1e-6, atol=1e-8)
        assert not np.delete(machine.coefficients, PLACES, axis=0).any()


def test_equal_landmarks_are_no_fault():
    class Twice(Rows):
        places = np.repeat(PLACES, 2)[: len(PLACES)]

        @property
        def between(self):
            return KERNEL[np.ix_(self.places, self.places)].copy()

        def equations(self, columns, weights):
            rows = KERNEL[:, self.places]
            right = np.column_stack([columns, np.ones(len(columns))])
            return Equations(rows.T @ (weights[:, None] * rows), rows.T @ (weights[:, None] * right))

    assert np.isfinite(LandmarkRegression().fit(Twice(), POINTS[:, 0], 1000.0).coefficients).all()
