"""Gaussian processes: the same bits in any batch."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models.solvers import (
    BIAS,
    Posterior,
    fit_numbers,
    index_kernel,
    mean_sigmoid,
)


@pytest.mark.parametrize("n", [3, 60])
def test_variances_do_not_depend_on_the_batch(n):
    rng = np.random.default_rng(n)
    factors = np.tril(rng.random((2, n, n))) + n * np.eye(n)
    posterior = Posterior(rng.random((2, n)), factors, 1.5, 0.1, 2.0)
    rows, own = rng.random((37, n)), n * np.ones(37)
    together = posterior.variances(rows, own)
    alone = np.vstack([posterior.variances(rows[i : i + 1], own[i : i + 1]) for i in range(37)])
    assert np.array_equal(together, alone)


def test_mean_sigmoids_do_not_depend_on_the_batch():
    rng = np.random.default_rng(0)
    means, variances = rng.normal(size=(41, 3)), rng.random((41, 3))
    alone = np.vstack([mean_sigmoid(means[i : i + 1], variances[i : i + 1]) for i in range(41)])
    assert np.array_equal(mean_sigmoid(means, variances), alone)


@pytest.mark.slow
def test_predictions_do_not_depend_on_the_batch():
    data = pk.datasets.make_molecules(60, random_state=0)
    options = {"kernel": pk.WeisfeilerLehman(t_max=2), "solver": "gp", "random_state": 0}
    model = pk.PropagationClassifier(C=10, **options).fit(data.graphs[:40], data.target[:40])
    together = model.predict_proba(data.graphs[40:])
    assert np.array_equal(
        together, np.vstack([model.predict_proba(data.graphs[i : i + 1]) for i in range(40, 60)])
    )
    numbers = data.target[:40] + np.linspace(0.1, 0.4, 40)
    model = pk.PropagationRegressor(C=10, **options).fit(data.graphs[:40], numbers)
    together = np.column_stack(model.predict(data.graphs[40:], return_std=True))
    alone = [model.predict(data.graphs[i : i + 1], return_std=True) for i in range(40, 60)]
    assert np.array_equal(together, np.array(alone)[:, :, 0])


def test_inputs_of_the_kernel_are_positions():
    matrix = np.arange(9.0).reshape(3, 3)
    kernel = index_kernel(matrix)
    rows = np.array([[2], [0]])
    assert kernel(rows).tolist() == [[8.0, 6.0], [2.0, 0.0]]
    assert kernel(rows, np.array([[1]])).tolist() == [[7.0], [1.0]]
    assert kernel.diag(rows).tolist() == [8.0, 0.0]


def test_the_amplitude_is_the_most_likely_one():
    """The mean of y (K + noise)^-1 y over the graphs; see Rasmussen and Williams, chapter 5."""
    rng = np.random.default_rng(0)
    features, target = rng.normal(size=(8, 3)), rng.normal(size=8)
    known = features @ features.T
    found = fit_numbers(known, target, 4.0, None)
    solved = np.linalg.solve(known + BIAS + 0.25 * np.eye(8), target)
    assert found.posterior.amplitude == pytest.approx(target @ solved / 8, rel=1e-6)
