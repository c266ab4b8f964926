"""Partially absorbing walks (Wu et al., 2012)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import labelled_zoo, one

OPTIONS = [
    {},
    {"alpha": 0.0},
    {"alpha": 0.9},
    {"rate": 1.0},
    {"rate": 0.01},
    {"rate": 2.5, "direction": "both"},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_dense_twin_on_the_zoo(options):
    graphs = dense.partial_zoo()
    start = dense.start(graphs)
    step = dense.partial_absorption(start, **options)
    reference = dense.dense_history(step, start.distributions, 4)
    computed = dense.library_history(graphs, pk.PartialAbsorption(**options), 4)
    assert np.allclose(computed, reference, atol=1e-12)
    assert np.allclose(computed.sum(axis=2), 1)


@pytest.mark.slow
@given(
    graphs=databases(partial=True, weighted=True, directed=True, max_graphs=3),
    alpha=st.floats(0, 0.99),
    rate=st.sampled_from([None, 0.1, 1, 7.5]),
)
def test_dense_twin_on_generated_graphs(graphs, alpha, rate):
    if not graphs.label_values:
        return
    start = dense.start(graphs)
    step = dense.partial_absorption(start, alpha, rate)
    reference = dense.dense_history(step, start.distributions, 4)
    computed = dense.library_history(graphs, pk.PartialAbsorption(alpha, rate=rate), 4)
    assert np.allclose(computed, reference, atol=1e-12)
    assert (computed >= 0).all()
    assert np.allclose(computed.sum(axis=2), 1)


@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_without_absorption_it_is_diffusion(metric):
    kernels = [
        pk.PropagationKernel(propagation=scheme, metric=metric, random_state=0).fit_transform(labelled_zoo())
        for scheme in (pk.PartialAbsorption(0.0), pk.Diffusion())
    ]
    assert np.array_equal(*kernels)


def test_the_limit_is_the_absorption_probability_of_the_walk():
    """A walk from i ends at j with probability (I - (I - Lambda) T)^{-1} Lambda, in the limit."""
    graphs = one(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], [0, 1, 2, 3, 4])
    adjacency = graphs.adjacency.toarray()
    absorbed = np.diag(2 / (2 + adjacency.sum(axis=1)))
    reference = np.linalg.solve(np.eye(5) - (np.eye(5) - absorbed) @ dense.walk(adjacency), absorbed)
    computed = dense.library_history(graphs, pk.PartialAbsorption(rate=2.0), 300)[-1]
    assert np.allclose(computed, reference, atol=1e-12)


@pytest.mark.parametrize(
    ("scheme", "error", "message"),
    [
        (pk.PartialAbsorption(1.0), ValueError, r"alpha must be at least 0 and below 1, got 1\.0"),
        (pk.PartialAbsorption(-0.1), ValueError, r"alpha must be at least 0 and below 1, got -0\.1"),
        (pk.PartialAbsorption(float("nan")), ValueError, "alpha must be at least 0 and below 1, got nan"),
        (pk.PartialAbsorption("0.5"), TypeError, "alpha must be a number, got '0.5'"),
        (pk.PartialAbsorption(rate=0), ValueError, "rate must be a finite number above 0, got 0"),
        (pk.PartialAbsorption(rate=np.inf), ValueError, "rate must be a finite number above 0, got inf"),
        (pk.PartialAbsorption(direction=None), ValueError, "direction must be one of .*; got None"),
    ],
)
def test_bad_parameters(scheme, error, message):
    kernel = pk.PropagationKernel(propagation=scheme)
    with pytest.raises(error, match=f"^{message}$"):
        kernel.fit(labelled_zoo())
    assert not hasattr(kernel, "coder_")
