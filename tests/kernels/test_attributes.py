"""Kernels of attributed graphs: naive twins, invariances, no leak from new graphs, gaps, bad input."""

from functools import cache

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import Diffusion, GaussianMixtures, PropagatedAttributes
from tests import naive_attributes
from tests.strategies import permute_nodes
from tests.zoo import cycle_edges, one, path_edges, zoo

TREATMENTS = {
    "sum": "sum",
    "product": "product",
    "joint": "joint",
    "propagated": PropagatedAttributes(),
    "propagated product": PropagatedAttributes(laziness=0.2, combine="product"),
    "mixtures": GaussianMixtures(n_sample_points=7),
    "mixtures as in the paper": GaussianMixtures(n_sample_points=7, scale=None, ridge=0),
    "mixtures, scaled": GaussianMixtures(n_sample_points=7, scale="initial"),
    "mixtures, joint": GaussianMixtures(n_sample_points=7, combine="joint"),
    "mixtures, product": GaussianMixtures(n_sample_points=7, combine="product"),
    "mixtures, refitted": GaussianMixtures(n_sample_points=7, refit_every=2, ridge=0.1),
}
every_treatment = pytest.mark.parametrize(
    "treatment", [pytest.param(treatment, id=name) for name, treatment in TREATMENTS.items()]
)


def kernel(treatment="sum", **options):
    return pk.PropagationKernel(attributes=treatment, **{"t_max": 3, "random_state": 5, **options})


def graph(n, rng, dimensions=2, **options):
    values = rng.normal(size=(n, dimensions)) * [10**d for d in range(dimensions)]
    return one(n, cycle_edges(n) if n > 2 else path_edges(n), attributes=values, **options)


@cache
def some_graphs(seed=0, **options):
    """Graphs of several sizes; one of a single node, one without nodes, one directed, one weighted."""
    rng = np.random.default_rng(seed)
    several = [graph(n, rng, **options) for n in (3, 5, 8, 1, 4, 6)]
    directed = one(4, [(0, 1), (1, 2), (0, 3)], directed=True, attributes=rng.normal(size=(4, 2)))
    weighted = one(4, path_edges(4), weights=[0.5, 2.0, 3.0], attributes=rng.normal(size=(4, 2)))
    return pk.GraphDatabase.concat([*several, one(0), directed, weighted])


# naive twins


@pytest.mark.slow
@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
@pytest.mark.parametrize("metric", ["l1", "l2", "hellinger"])
@pytest.mark.parametrize("n_hashes", [1, 3])
def test_naive_twin(combine, metric, n_hashes):
    graphs = some_graphs()
    estimator = kernel(combine, attribute_metric=metric, n_hashes=n_hashes)
    computed = estimator.fit_transform_cumulative(graphs)
    x = naive_attributes.standardized(graphs.node_attributes)
    lsh = estimator._coder.attributes.lsh
    reference = naive_attributes.kernels(graphs, [x] * 4, lsh, combine, n_hashes)
    np.testing.assert_allclose(computed, reference, rtol=1e-12)


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_naive_twin_of_propagated_attributes(combine):
    graphs = some_graphs()
    estimator = kernel(PropagatedAttributes(laziness=0.3, combine=combine), n_hashes=2)
    computed = estimator.fit_transform_cumulative(graphs)
    x = naive_attributes.standardized(graphs.node_attributes)
    matrices = naive_attributes.spread(x, naive_attributes.transition(graphs, 0.3), 3)
    reference = naive_attributes.kernels(graphs, matrices, estimator._coder.attributes.lsh, combine, 2)
    np.testing.assert_allclose(computed, reference, rtol=1e-12)


# labels of all kinds


@pytest.mark.parametrize("direction", ["follow", "reverse", "both"])
def test_attributes_walk_in_the_direction_of_the_labels(direction):
    graphs = one(2, [(0, 1)], labels=[0, 0], directed=True, attributes=[[-1.0], [1.0]])
    estimator = kernel(PropagatedAttributes(laziness=0), propagation=Diffusion(direction=direction))
    estimator.set_params(attribute_bin_width=1e-6).fit(graphs)
    nodes_alike = {"follow": 4, "reverse": 4, "both": 2}[direction]  # after one step, pairs that agree
    cumulative = estimator.fit_transform_cumulative(graphs)[:, 0, 0]
    assert (cumulative[1] - cumulative[0]) == nodes_alike


# missing attributes


@pytest.mark.slow
@every_treatment
def test_missing_values_everywhere(treatment):
    graphs = some_graphs()
    rng = np.random.default_rng(0)
    x = graphs.node_attributes.copy()
    x[rng.random(x.shape) < 0.3] = np.nan
    holes = graphs.with_attributes(x)
    estimator = kernel(treatment)
    matrix = estimator.fit_transform(holes)
    assert np.isfinite(matrix).all()
    assert np.array_equal(estimator.transform(holes), matrix)
    nodes = permute_nodes(holes, rng)
    assert np.array_equal(kernel(treatment).fit_transform(nodes), matrix)
    assert np.isfinite(estimator.transform(zoo()["only attributes"])).all()


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_missing_agrees_with_missing_only(combine):
    values = [[np.nan, np.nan], [np.nan, np.nan], [0.0, 0.0], [1e9, -1e9]]
    graphs = pk.GraphDatabase.concat([one(1, attributes=[x]) for x in values])
    matrix = kernel(combine, t_max=0, standardize=False, labels=None).fit_transform(graphs)
    contributions = 2 if combine == "sum" else 1
    assert (
        matrix.tolist()
        == (contributions * np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])).tolist()
    )


@every_treatment
def test_equal_attributes_everywhere_add_nothing_to_the_labels(treatment):
    graphs = some_graphs()
    flat = graphs.with_attributes(np.full((graphs.n_nodes, 2), 0.1))
    labels = pk.PropagationKernel(t_max=3, random_state=5).fit_transform(graphs)
    estimator = kernel(treatment)
    computed = estimator.fit_transform(flat)
    contributions = len(estimator._counts) // 4
    assert np.array_equal(computed, contributions * labels)
