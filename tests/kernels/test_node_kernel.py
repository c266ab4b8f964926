"""Node kernels against numpy, and their parameters learned from training graphs."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import AttributeKernel, GraphHopper
from propkernels.kernels.pairwise_kernel import NodeComparison

EDGE = np.array([[0, 1], [1, 0]])
GRAPHS = pk.check_graphs(
    [(EDGE, ["C", "O"], [[0.0, 1.0], [0.5, np.nan]]), (EDGE, ["C", "N"], [[2.0, 3.0]] * 2)]
)
FILLED = np.array([[0.0, 1.0], [0.5, 1.0], [2.0, 3.0], [2.0, 3.0]])  # the gap by the mean of its graph


@pytest.mark.parametrize("labels", [None, "node"])
@pytest.mark.parametrize("attributes", ["gaussian", "linear", "truncated"])
def test_values(labels, attributes):
    kernel = GraphHopper(labels=labels, attributes=attributes, gamma=0.3, standardize=False)
    comparison = NodeComparison.learn(GRAPHS, kernel)
    nodes = comparison.nodes(GRAPHS)
    squares = ((FILLED[:, None] - FILLED[None]) ** 2).sum(axis=2)
    expected = FILLED @ FILLED.T if attributes == "linear" else np.exp(-0.3 * squares)
    if attributes == "truncated":
        expected = np.where(squares <= 1, expected, 0.0)
    if labels == "node":
        names = np.array(["C", "O", "C", "N"])
        expected = expected * (names[:, None] == names)
    np.testing.assert_allclose(comparison.matrix(nodes, nodes), expected, rtol=1e-14)


def test_gamma_defaults_to_the_inverse_dimension():
    assert NodeComparison.learn(GRAPHS, AttributeKernel()).gamma == 0.5


def test_a_run_of_graphs():
    nodes = NodeComparison.learn(GRAPHS, AttributeKernel(standardize=False)).nodes(GRAPHS)
    second = nodes.some(slice(1, 2))
    assert second.ptr.tolist() == [0, 2]
    assert np.array_equal(second.points, FILLED[2:])


def test_parts_that_do_not_match_are_refused():
    nodes = NodeComparison.learn(GRAPHS, AttributeKernel()).nodes(GRAPHS)
    with pytest.raises(ValueError, match="row of attributes"):
        nodes._replace(points=nodes.points[1:])._check_parts()
    with pytest.raises(ValueError, match="every pair of nodes"):
        nodes.check_pairs(np.array([0, 4, 7]), np.ones(7))
