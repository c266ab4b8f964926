from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import coo_array
from sklearn.base import clone

import propkernels as pk
from tests import naive_attributes
from tests.kernels.test_attributes import some_graphs
from tests.strategies import databases


def p2k(t_max=3, n_hashes=1, **mixtures):
    treatment = pk.GaussianMixtures(**{"n_sample_points": 6, **mixtures})
    return pk.P2K(attributes=treatment, t_max=t_max, n_hashes=n_hashes, random_state=2)


def naive_kernels(graphs, estimator, scale, laziness=0.0):
    """Algorithm 4 with W_t = T^t formed explicitly; the sample points are the library's."""
    attributes = estimator.coder_.attributes
    x = naive_attributes.standardized(graphs.node_attributes)
    start = naive_attributes.mixtures(x, attributes.learned.points, estimator.attributes.ridge)
    matrices = naive_attributes.spread(start, naive_attributes.transition(graphs, laziness), estimator.t_max)
    units = {
        None: [1.0] * len(matrices),
        "initial": [start.std(axis=0, ddof=1)] * len(matrices),
        "each": [q.std(axis=0, ddof=1) for q in matrices],
    }[scale]
    scaled = [q / unit for q, unit in zip(matrices, units, strict=True)]
    return naive_attributes.kernels(
        graphs, scaled, attributes.lsh, estimator.attributes.combine, estimator.n_hashes
    )


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
@pytest.mark.parametrize("scale", [None, "initial", "each"])
@pytest.mark.parametrize("metric", ["l1", "hellinger"])
def test_naive_twin(combine, scale, metric):
    graphs = some_graphs()
    estimator = p2k(combine=combine, scale=scale, n_hashes=2).set_params(attribute_metric=metric)
    computed = estimator.fit_transform_cumulative(graphs)
    np.testing.assert_allclose(computed, naive_kernels(graphs, estimator, scale), rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{"ridge": 0}, {"ridge": 0.5}, {"laziness": 0.4}, {"n_sample_points": 100}]
)
def test_naive_twin_with_other_mixtures(options):
    graphs = some_graphs()
    estimator = p2k(scale=None, **options).set_params(attribute_bin_width=0.01)
    computed = estimator.fit_transform_cumulative(graphs)
    reference = naive_kernels(graphs, estimator, None, options.get("laziness", 0.0))
    np.testing.assert_allclose(computed, reference, rtol=1e-12)


def varied(graphs):
    """Whether there is a covariance to speak of."""
    x = graphs.node_attributes
    return len(x) > 3 and np.linalg.eigvalsh(np.cov(x, rowvar=False, ddof=1)).min() > 1e-3


@settings(max_examples=25)
@given(databases(min_graphs=2, n_attributes=2).filter(varied))
def test_naive_twin_on_generated_graphs(graphs):
    estimator = p2k(scale=None).set_params(attribute_bin_width=0.013)
    computed = estimator.fit_transform_cumulative(graphs)
    np.testing.assert_allclose(computed, naive_kernels(graphs, estimator, None), rtol=1e-12)


def test_it_is_the_propagation_kernel_with_gaussian_mixtures():
    graphs = some_graphs()
    reference = pk.PropagationKernel(attributes=pk.GaussianMixtures(), t_max=3, random_state=0)
    computed = pk.P2K(t_max=3, random_state=0)
    assert np.array_equal(computed.fit_transform(graphs), reference.fit_transform(graphs))
    assert computed.attributes is None, "parameters are left as they were given"
    assert np.array_equal(clone(computed).fit_transform(graphs), reference.fit_transform(graphs))


def test_nested_parameters():
    estimator = p2k().set_params(attributes__n_sample_points=3, attributes__scale=None)
    graphs = some_graphs()
    estimator.fit(graphs)
    assert len(estimator.coder_.attributes.learned.points) == 3
    assert len(estimator.counts_) == 3 * 4


@pytest.mark.parametrize("number", [1, 5, 37])
def test_one_contribution_for_each_sample_point(number):
    graphs = pk.GraphDatabase.concat([some_graphs(seed) for seed in range(3)])
    estimator = p2k(n_sample_points=number).fit(graphs)
    assert len(estimator.counts_) == number * 4


def test_nodes_with_equal_surroundings_agree_whoever_they_are():
    """Mass on one node is exchangeable with mass on another of the same attributes (the paper's example)."""
    graphs = some_graphs()
    twice = pk.GraphDatabase.concat([graphs, graphs])
    matrix = p2k().fit_transform(twice)
    n = len(graphs)
    assert np.array_equal(matrix[:n, :n], matrix[:n, n:])


def test_arrangement_of_attributes_is_seen():
    """The paper: fixed attributes ignore how they are arranged in the graph, P2K does not."""
    path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    graphs = [(path, [0, 0, 0, 0], x) for x in ([1.0, 1.0, 9.0, 9.0], [1.0, 9.0, 1.0, 9.0])]
    fixed = pk.PropagationKernel(attributes="sum", labels=None, t_max=4, n_hashes=20, random_state=0)
    spread = pk.P2K(labels=None, t_max=4, random_state=0)
    a, b = fixed.fit_transform(graphs), spread.fit_transform(graphs)
    assert a[0, 1] == a[0, 0] == a[1, 1]
    assert b[0, 1] < min(b[0, 0], b[1, 1])


def test_memory_is_that_of_the_densities_not_of_the_weights():
    n = 20_000
    adjacency = coo_array((np.ones(n // 2), (np.arange(0, n, 2), np.arange(1, n, 2))), shape=(n, n))
    x = np.random.default_rng(0).normal(size=(n, 1))
    graphs = pk.GraphDatabase(adjacency + adjacency.T, np.arange(0, n + 1, 100), None, x)
    estimator = p2k(t_max=2, n_sample_points=10)
    estimator.fit(graphs)
    tracemalloc.start()
    estimator.fit(graphs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6, "the weights alone would take 3.2 GB"
