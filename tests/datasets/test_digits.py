"""DIGITS."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_digits

from propkernels.datasets import load
from propkernels.datasets.digits import (
    grid_adjacency,
    grid_graphs,
    load_digits_grids,
    quantize,
    repeat_diagonal,
)


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


def test_digits() -> None:
    data = load("DIGITS")
    digits = load_digits()
    assert repr(data) == "Dataset(DIGITS: 1797 graphs, 115008 nodes, 201264 edges, 4 node labels, 10 classes)"
    np.testing.assert_array_equal(data.target, digits.target)
    assert data.target_names == tuple("0123456789")
    assert data.graphs[5].node_labels is not None
    brightness = np.corrcoef(data.graphs[5].node_labels, digits.images[5].ravel())[0, 1]
    assert brightness > 0.95


def test_number_of_levels() -> None:
    assert load_digits_grids(n_levels=2).graphs.label_values == (0, 1)
