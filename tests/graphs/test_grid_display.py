from __future__ import annotations

import numpy as np

import propkernels as pk
from propkernels.graphs.grid_display import gray_labels, thumbnail
from tests.graphs.test_grid_database import masked_database


def test_text_and_html():
    grids = masked_database()
    assert repr(grids) == "GridDatabase(4 images of 1-7 x 2-6, 37 pixels, 3 labels, 12 masked out)"
    assert repr(grids[1]).startswith("Grid(3 x 3, ")
    html = grids._repr_html_()
    assert html.count("<img") == 4
    assert "4 images of 1-7 x 2-6" in html
    many = pk.GridDatabase([np.zeros((2, 2, 2), dtype=int)] * 7)
    assert "2 more images" in many._repr_html_()
    assert repr(many[:0]) == "GridDatabase(0 images, 0 pixels, 0 labels)"
    assert "<img" not in pk.GridDatabase([np.zeros(3, dtype=int)])._repr_html_()


def test_labels_are_gray_and_values_are_squares():
    """One way to draw an image in reprs and plots: larger labels are brighter, values lie on the pixels."""
    gray = gray_labels(masked_database()[0])
    assert len(np.unique(gray)) == 4  # three labels, and white outside the mask
    image, labels = np.array([[[0.1, 0.9], [0.8, 0.2]]]), np.array([[1, 0]])
    pictures = [gray_labels(pk.GridDatabase([one, labels])[0]) for one in (image, labels)]
    np.testing.assert_array_equal(*pictures)
    grids = pk.GridDatabase([np.array([[0, 1], [1, 0]])])
    drawing = thumbnail(grids, 0, np.array([0.0, 1.0, -0.5, 0.01]))
    assert drawing.count("<rect") == 4 + 2
    assert drawing.count("var(--for") == drawing.count("var(--against") == 1
