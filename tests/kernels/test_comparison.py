"""Comparisons: diagonals of tiles, counted graphs, and prepared graphs of another kind."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import SubgraphMatching
from propkernels.kernels.pairwise_kernel import CountedComparison, TiledComparison

GRAPHS = pk.datasets.make_molecules(12, random_state=0, mean_nodes=6).graphs
TILED = SubgraphMatching(k=3, connected=False).fit(GRAPHS)
COUNTED = pk.ShortestPath().fit(GRAPHS)


def test_the_diagonal_of_tiles_is_that_of_the_matrix():
    comparison, n = TILED._comparison, len(GRAPHS)
    assert isinstance(comparison, TiledComparison)
    matrix = comparison.tile(TILED._prepared, slice(0, n), TILED._prepared, slice(0, n))
    expected = np.diagonal(matrix, axis1=1, axis2=2)
    assert np.array_equal(comparison.diagonal(TILED._prepared, n), expected)
    assert comparison.diagonal(TILED._prepared, 0).shape == (3, 0)
    assert comparison.explicit() is None


def test_counted_graphs_have_one_kernel_however_it_is_asked_for():
    comparison, counts = COUNTED._comparison, COUNTED._prepared
    assert isinstance(comparison, CountedComparison)
    square = comparison.square(counts)
    cross, diagonal = comparison.cross(GRAPHS, counts)
    assert np.array_equal(cross, square)
    assert np.array_equal(diagonal, square.diagonal())
    assert np.array_equal(comparison.diagonal(counts), square.diagonal())


def test_graphs_prepared_for_another_comparison_are_refused():
    TILED._comparison.check_prepared(TILED._prepared)
    COUNTED._comparison.check_prepared(COUNTED._prepared)
    with pytest.raises(ValueError, match="another comparison"):
        TILED._comparison.check_prepared(COUNTED._prepared)
    with pytest.raises(ValueError, match="need counts"):
        COUNTED._comparison.check_prepared(TILED._prepared)
