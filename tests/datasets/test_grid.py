from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from propkernels.datasets.grid import grid_adjacency, grid_graphs, quantize, repeat_diagonal


@pytest.mark.parametrize(("height", "width"), [(3, 4), (1, 5), (2, 1), (1, 1)])
def test_adjacency_is_that_of_the_grid(height: int, width: int) -> None:
    reference = nx.to_numpy_array(nx.grid_2d_graph(height, width))
    np.testing.assert_array_equal(grid_adjacency(height, width).toarray(), reference)


def test_repeat_diagonal() -> None:
    block = grid_adjacency(2, 2)
    np.testing.assert_array_equal(repeat_diagonal(block, 3).toarray(), np.kron(np.eye(3), block.toarray()))


def test_graphs_have_the_labels_of_their_pixels() -> None:
    levels = np.arange(12).reshape(2, 2, 3)
    graphs = grid_graphs(levels)
    assert len(graphs) == 2
    assert graphs[1].node_labels is not None
    assert graphs[1].node_labels.tolist() == [6, 7, 8, 9, 10, 11]
    assert graphs[1].n_edges == 7


def test_quantize_uses_the_whole_range() -> None:
    assert np.bincount(quantize(np.arange(256), 4, 255)).tolist() == [64, 64, 64, 64]
    assert quantize(np.array([0.0, 1.0]), 3, 1.0).tolist() == [0, 2]
