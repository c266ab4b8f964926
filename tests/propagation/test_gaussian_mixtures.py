from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import norm

import propkernels as pk
from propkernels.propagation import GaussianMixtures
from propkernels.propagation.attributes import GaussianFamily, Training, draw_points
from tests import naive_attributes
from tests.strategies import databases
from tests.zoo import cycle_edges, one, path_edges


def densities(treatment, graphs, attributes, t_max=4):
    """The sample points, the scales, and the densities in their own unit."""
    learned = treatment.learn(Training(graphs, attributes, t_max, "follow", 7))
    scaled = list(islice(learned.matrices(graphs, attributes), t_max + 1))
    return learned.points, learned.scales, [m * s for m, s in zip(scaled, learned.scales, strict=True)]


def some_graphs(seed=0, dimensions=2):
    rng = np.random.default_rng(seed)
    several = [one(n, cycle_edges(n), attributes=rng.normal(size=(n, dimensions))) for n in (3, 5, 8)]
    return pk.GraphDatabase.concat([*several, one(1, attributes=rng.normal(size=(1, dimensions)))])


# the mixtures


@pytest.mark.slow
@settings(max_examples=20)
@given(databases(min_graphs=2, n_attributes=2, weighted=True, directed=True).filter(lambda g: g.n_nodes > 1))
def test_q_t_is_the_power_of_the_walk_applied_to_q_0(graphs):
    x = graphs.node_attributes
    _, _, computed = densities(GaussianMixtures(scale=None), graphs, x)
    walk = naive_attributes.transition(graphs)
    reference = naive_attributes.spread(computed[0], walk, 4)
    for a, b in zip(computed, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * max(1, computed[0].max()))


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_q_0_are_gaussians_with_the_sample_covariance(dimensions, ridge):
    graphs = some_graphs(dimensions=dimensions)
    x = graphs.node_attributes
    points, _, computed = densities(GaussianMixtures(scale=None, ridge=ridge), graphs, x)
    reference = naive_attributes.mixtures(x, points, ridge)
    np.testing.assert_allclose(computed[0], reference, rtol=1e-12, atol=0)


def test_scales():
    graphs = some_graphs()
    x = graphs.node_attributes
    _, plain, q = densities(GaussianMixtures(scale=None), graphs, x)
    _, initial, _ = densities(GaussianMixtures(scale="initial"), graphs, x)
    assert (plain == 1).all()
    np.testing.assert_allclose(initial, np.broadcast_to(q[0].std(axis=0, ddof=1), initial.shape), rtol=1e-12)


# degenerate covariances


def test_a_duplicated_dimension_is_a_gaussian_on_the_diagonal():
    x = np.random.default_rng(0).normal(size=(9, 1))
    twice = np.column_stack([x, x])
    computed = GaussianFamily.learn(twice, 0.0).densities(twice, twice)
    # on the line x_1 = x_2, length is measured along the line: sqrt(2) times that of one coordinate
    reference = norm(0, np.sqrt(2) * x.std(ddof=1)).pdf(np.sqrt(2) * (x - x.T))
    np.testing.assert_allclose(computed, reference, rtol=1e-9)
    singular = naive_attributes.mixtures(twice, twice)
    np.testing.assert_allclose(computed, singular, rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_attributes_or_a_single_node_have_density_1_everywhere(n):
    x = np.full((n, 2), 0.1)
    assert (GaussianFamily.learn(x, 0.0).densities(x, x) == 1).all()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_ridge_is_relative_to_the_mean_variance(unit):
    x = np.random.default_rng(0).normal(size=(9, 3)) * unit
    computed = GaussianFamily.learn(x, 0.5)
    covariance = np.cov(x, rowvar=False, ddof=1)
    widened = covariance + 0.5 * np.trace(covariance) / 3 * np.eye(3)
    np.testing.assert_allclose(computed.whitening @ computed.whitening.T, np.linalg.inv(widened), rtol=1e-9)


def test_rounding_is_not_taken_for_variation():
    # all nodes are alike; sums of three thirds are not exactly 1, but no scale may blow that up
    graphs = one(40, [(0, i) for i in range(1, 40)])
    graphs = graphs.with_attributes(np.full((40, 1), 0.1))
    _, scales, _ = densities(GaussianMixtures(scale="initial"), graphs, graphs.node_attributes)
    assert (scales == 1).all()


# the sample points


def test_points_are_rows_of_the_attributes_drawn_without_replacement():
    x = np.random.default_rng(0).integers(0, 3, size=(50, 2)).astype(float)
    drawn = draw_points(x, 20, 5)
    rows, counts = np.unique(x, axis=0, return_counts=True)
    available = {tuple(row): count for row, count in zip(rows, counts, strict=True)}
    found, times = np.unique(drawn, axis=0, return_counts=True)
    assert len(drawn) == 20
    assert not np.array_equal(drawn, draw_points(x, 20, 6))
    assert np.array_equal(drawn, draw_points(x[::-1] * 1.0, 20, 5))
    assert np.array_equal(drawn, draw_points(np.where(x == 0, -0.0, x), 20, 5))
    assert sorted(map(tuple, draw_points(x, 100, 0))) == sorted(map(tuple, x))
    assert all(available[tuple(row)] >= count for row, count in zip(found, times, strict=True))


# missing attributes


def test_a_node_with_a_gap_starts_as_the_mixture_of_its_graph():
    graphs = pk.GraphDatabase.concat([one(3, path_edges(3)), one(2, [(0, 1)]), one(1)])
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 2))
    x[1, 0] = x[5] = np.nan
    points, _, computed = densities(GaussianMixtures(scale=None, ridge=0), graphs, x)
    start = computed[0]
    observed = [0, 2, 3, 4]
    np.testing.assert_allclose(start[1], start[[0, 2]].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(start[5], start[observed].mean(axis=0), rtol=1e-12)
    reference = naive_attributes.mixtures(x[observed], points)
    np.testing.assert_allclose(start[observed], reference, rtol=1e-12)
    np.testing.assert_allclose(computed[1][1], start[[0, 2]].mean(axis=0), rtol=1e-12)


# refitting


@pytest.mark.parametrize("refit", [1, 2, 3])
def test_refitted_mixtures_are_single_gaussians_at_the_means(refit):
    graphs = some_graphs()
    x = graphs.node_attributes
    points, _, computed = densities(GaussianMixtures(scale=None, ridge=0.2, refit_every=refit), graphs, x, 6)
    walk, means, current, reference = naive_attributes.transition(graphs), x, None, []
    for t in range(7):
        means = walk @ means if t else x
        if t % refit == 0:
            current = naive_attributes.mixtures(means, points, 0.2)
        else:
            current = walk @ current
        reference.append(current)
    for a, b in zip(computed, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7)
