from __future__ import annotations

import numpy as np

import propkernels as pk
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


def test_thumbnails_have_one_color_per_label():
    from propkernels.graphs.display import colored

    assert len({tuple(color) for color in colored(masked_database(), 0).reshape(-1, 3)}) == 4


def test_thumbnail_of_distributions():
    from propkernels.graphs.display import colored

    image = np.array([[[0.1, 0.9], [0.8, 0.2]]])
    labels = np.array([[1, 0]])
    pictures = [colored(pk.GridDatabase([i, labels]), 0) for i in (image, labels)]
    np.testing.assert_array_equal(*pictures)
