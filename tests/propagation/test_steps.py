"""A compiled affine step against the same sum with numpy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils.parallel import workers
from propkernels.propagation.schemes import AffineOperator, reciprocal, walk_operator
from tests.zoo import labelled_zoo


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_step_is_the_sum_of_neighbors_and_the_node(n_columns, n_jobs, monkeypatch):
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    adjacency, rng = labelled_zoo().adjacency, np.random.default_rng(0)
    n = adjacency.shape[0]
    spread, keep, current = rng.random(n), rng.random(n), rng.normal(size=(n, n_columns))
    operator = AffineOperator(adjacency, spread, keep)
    with workers(n_jobs):
        following = operator.step(current, current)
    expected = spread[:, None] * (adjacency @ current) + keep[:, None] * current
    np.testing.assert_allclose(following, expected, rtol=1e-12)
    rows = np.array([0, 2, n - 1])
    with workers(n_jobs):
        np.testing.assert_array_equal(operator.step(current, current, rows)[rows], following[rows])


def test_nodes_without_edges_keep_their_share():
    operator = AffineOperator(csr_array((2, 2)), np.ones(2), np.array([1.0, 0.5]))
    current = np.array([[2.0], [3.0]])
    assert operator.step(current, current).tolist() == [[2.0], [1.5]]


@pytest.mark.parametrize("laziness", [0.0, 0.3])
def test_weights_of_walks(laziness):
    """The compiled weights are those of the formula, to the bit."""
    degrees = np.array([0, 1, 2, 3, 7, 49])
    stars = [np.zeros((1, 1)), *(np.pad(np.ones((1, d)), ((0, d), (1, 0))) for d in degrees[1:])]
    graphs = pk.check_graphs([star + star.T for star in stars])
    operator, centers = walk_operator(graphs, laziness, "follow"), graphs.graph_ptr[:-1]
    spread = (1 - laziness) * reciprocal(degrees.astype(float))
    np.testing.assert_array_equal(operator.spread[centers], spread)
    np.testing.assert_array_equal(operator.keep[centers], np.where(degrees == 0, 1.0, laziness))
