"""embedding: exact neighbors, and coordinates of the map."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explain.rule import Rule, dual_members
from propkernels.explorer.carried import carried_rule
from propkernels.explorer.embedding import comparisons, embed, nearest_graphs, quantized


@pytest.mark.parametrize("base_kernel", ["linear", "intersection", "tanimoto", "jaccard"])
def test_neighbors_are_exact(data, base_kernel):
    kernel = pk.PropagationKernel(t_max=2, normalize=True, base_kernel=base_kernel, random_state=0)
    K = kernel.fit_transform(data.graphs)
    np.fill_diagonal(K, -1)
    rule = Rule.of(dual_members(kernel, np.ones((len(data.graphs), 1))))
    compared = comparisons(carried_rule(rule, data.graphs))
    similarities, neighbors = nearest_graphs(compared, 5)
    np.testing.assert_allclose(similarities, -np.sort(-K, axis=1)[:, :5])
    np.testing.assert_allclose(np.take_along_axis(K, neighbors, axis=1), similarities)


def test_coordinates_keep_their_shape():
    points = np.array([[0.0, 0.0], [2.0, 1.0], [1.0, 0.5]])
    found = quantized(points).reshape(-1, 2).astype(int)
    assert found[:, 0].tolist() == [0, 65535, 32768]
    assert np.ptp(found[:, 1]) == pytest.approx(65535 / 2, abs=1)


def test_fewer_than_five_graphs_stay_where_they_start():
    start = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert embed(np.ones((2, 1)), np.array([[1], [0]]), start, 0) is start
