"""A compiled affine step against the same sum with numpy, and transition matrices against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils.parallel import workers
from propkernels.propagation.schemes import AffineOperator, directed_adjacency, renormalized, row_sums
from tests import naive
from tests.strategies import databases
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


def dense_rows(adjacency):
    """The naive walk as a dense matrix."""
    rows = naive.walk(adjacency)
    matrix = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        for j, weight in row.items():
            matrix[i, j] = float(weight)
    return matrix


@pytest.mark.slow
@given(databases(weighted=True, directed=True))
def test_directions(graphs):
    forward = graphs.adjacency.toarray()
    for direction, reference in {
        "follow": forward,
        "reverse": forward.T,
        "both": np.maximum(forward, forward.T),
    }.items():
        adjacency = directed_adjacency(graphs, direction)
        assert np.array_equal(adjacency.toarray(), reference)
        assert adjacency.has_sorted_indices
        walk = pk.propagation.transition_matrix(graphs, direction).toarray()
        assert np.allclose(walk, dense_rows(adjacency), rtol=1e-14, atol=0)


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_equal_weights_weigh(weight):
    path = csr_array(weight * (np.eye(3, k=1) + np.eye(3, k=-1)))
    assert row_sums(path).tolist() == [weight, 2 * weight, weight]


def test_loops_are_added_before_degrees_are_counted():
    """The normalization of graph convolutional networks, for directed edges with weights."""
    adjacency = csr_array(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))
    with_loops = adjacency.toarray() + np.eye(3)
    reference = with_loops / np.sqrt(np.outer(with_loops.sum(axis=1), with_loops.sum(axis=0)))
    entries, loops = renormalized(adjacency)
    np.testing.assert_allclose(entries.toarray() + np.diag(loops), reference)
