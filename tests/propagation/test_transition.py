"""Transition matrices against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.propagation.schemes import (
    directed_adjacency,
    renormalized,
)
from tests import naive
from tests.strategies import databases
from tests.zoo import zoo_databases


def dense_rows(adjacency):
    """The naive walk as a dense matrix."""
    rows = naive.walk(adjacency)
    matrix = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        for j, weight in row.items():
            matrix[i, j] = float(weight)
    return matrix


@pytest.mark.parametrize(("name", "graphs"), zoo_databases())
def test_the_walk_on_the_zoo(name, graphs):
    reference = dense_rows(graphs.adjacency)
    computed = pk.propagation.transition_matrix(graphs)
    assert np.allclose(computed.toarray(), reference, rtol=1e-14, atol=0)
    assert np.allclose(computed.sum(axis=1), 1)


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


def test_loops_are_added_before_degrees_are_counted():
    """The normalization of graph convolutional networks, for directed edges with weights."""
    adjacency = csr_array(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))
    with_loops = adjacency.toarray() + np.eye(3)
    reference = with_loops / np.sqrt(np.outer(with_loops.sum(axis=1), with_loops.sum(axis=0)))
    entries, loops = renormalized(adjacency)
    np.testing.assert_allclose(entries.toarray() + np.diag(loops), reference)
