from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from propkernels.datasets import load
from propkernels.datasets.digits import load_digits_grids


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
