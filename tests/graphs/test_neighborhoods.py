import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs.neighborhoods import PRINTED, nearest_neighborhood

PAPER = {
    (1, 4): [[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]],
    (1, 8): [[0.06, 0.17, 0.06], [0.17, 0.05, 0.17], [0.06, 0.17, 0.06]],
    (2, 16): [
        [0.01, 0.06, 0.09, 0.06, 0.01],
        [0.06, 0.04, 0, 0.04, 0.06],
        [0.09, 0, 0, 0, 0.09],
        [0.06, 0.04, 0, 0.04, 0.06],
        [0.01, 0.06, 0.09, 0.06, 0.01],
    ],
}


@pytest.mark.parametrize("pair", PAPER)
def test_the_papers_matrices(pair):
    np.testing.assert_array_equal(pk.graphs.circular_neighborhood(*pair), PAPER[pair])


@pytest.mark.parametrize("pair", [(1, 4), (2, 16)])
def test_interpolation_rounds_to_the_papers_matrices(pair):
    np.testing.assert_array_equal(pk.graphs.circular_neighborhood(*pair, printed=False).round(2), PAPER[pair])


def test_the_papers_eight_neighbours_are_not_quite_the_interpolated_ones():
    """Two values differ by one in the second digit: 0.177 and 0.043 are printed as 0.17 and 0.05."""
    corner, edge, centre = 0.5 / 8, (1 + np.sqrt(2) * (1 - np.sqrt(0.5))) / 8, 4 * (1 - np.sqrt(0.5)) ** 2 / 8
    exact = pk.graphs.circular_neighborhood(1, 8, printed=False)
    np.testing.assert_allclose(exact[0], [corner, edge, corner], rtol=1e-12)
    assert exact[1, 1] == pytest.approx(centre)
    assert np.abs(exact - PAPER[1, 8]).max() < 0.0075


@pytest.mark.parametrize(("radius", "points"), [(1, 12), (1.5, 12), (2, 8), (3, 24), (2.4, 7)])
def test_general_neighborhoods(radius, points):
    weights = pk.graphs.circular_neighborhood(radius, points)
    reach = int(np.ceil(radius))
    assert weights.shape == (2 * reach + 1,) * 2
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    if points % 4 == 0:
        for same in (np.rot90(weights), weights.T, weights[::-1]):
            np.testing.assert_array_equal(same, weights)


def test_a_copy_is_returned():
    pk.graphs.circular_neighborhood(1, 4)[:] = 0
    assert PRINTED[1.0, 4].sum() == 1


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_nearest(dimension):
    weights = nearest_neighborhood(dimension)
    assert np.count_nonzero(weights) == 2 * dimension
    assert weights.sum() == pytest.approx(1)
    if dimension == 2:
        np.testing.assert_array_equal(weights, PAPER[1, 4])
