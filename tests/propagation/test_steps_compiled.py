"""A compiled affine step against the same sum with numpy."""

import numpy as np
import pytest

from propkernels.propagation.schemes import affine_weights
from propkernels.propagation.steps_compiled import affine_step, walk_weights
from tests.zoo import labelled_zoo

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_step_is_the_sum_of_neighbors_and_the_node(n_columns):
    adjacency, rng = labelled_zoo().adjacency, np.random.default_rng(0)
    n = adjacency.shape[0]
    spread, keep = rng.random(n), rng.random(n)
    current, following = rng.normal(size=(n, n_columns)), np.full((n, n_columns), np.nan)
    affine_step(
        adjacency.indptr, adjacency.indices, adjacency.data, spread, keep, current, following, np.arange(n)
    )
    expected = spread[:, None] * (adjacency @ current) + keep[:, None] * current
    np.testing.assert_allclose(following, expected, rtol=1e-12)


def test_nodes_without_edges_keep_their_share():
    nothing = np.zeros(3, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0)
    current, following = np.array([[2.0], [3.0]]), np.empty((2, 1))
    affine_step(*nothing, np.ones(2), np.array([1.0, 0.5]), current, following, np.arange(2))
    assert following.tolist() == [[2.0], [1.5]]


@pytest.mark.parametrize("laziness", [0.0, 0.3])
def test_weights_of_walks(laziness):
    """The compiled weights are those of the formula, to the bit."""
    degrees = np.array([0.0, 1.0, 2.0, 3.0, 7.0, 49.0])
    spread, keep = np.empty((2, len(degrees)))
    walk_weights(np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32), laziness, spread, keep)
    expected = affine_weights("row", laziness, degrees)
    np.testing.assert_array_equal(spread, expected[0])
    np.testing.assert_array_equal(keep, np.where(degrees == 0, 1.0, expected[1]))
