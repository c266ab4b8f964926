"""Graphs of superpixels: quick shift, adjacency of regions, mode label, as the paper made its MSRC graphs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import propkernels as pk
from propkernels.images import from_superpixels


def naive(segments, labels, image):
    """Nodes in the order of their first pixels, their edges, modes and mean colors, pixel by pixel."""
    height, width = segments.shape
    order = list(dict.fromkeys(segments.ravel().tolist()))
    edges = set()
    for y in range(height):
        for x in range(width):
            for other in ((y + 1, x), (y, x + 1)):
                if other[0] < height and other[1] < width and segments[other] != segments[y, x]:
                    edges.add(frozenset((order.index(segments[other]), order.index(segments[y, x]))))
    modes = []
    for value in order:
        counts = Counter(label for label in labels[segments == value].tolist() if label != -1)
        modes.append(min(counts, key=lambda label: (-counts[label], label)) if counts else -1)
    return edges, modes, [image[segments == value].mean(axis=0) for value in order]


shapes = st.tuples(st.integers(1, 5), st.integers(1, 6))


@given(st.data())
def test_naive_twin(data):
    shape = data.draw(shapes)
    segments = data.draw(arrays(np.int64, shape, elements=st.integers(-1, 3)))
    labels = data.draw(arrays(np.int64, shape, elements=st.integers(-1, 2)))
    image = data.draw(arrays(np.uint8, (*shape, 3))) / 255
    graphs = from_superpixels([image], [labels], segments=[segments])
    edges, modes, colors = naive(segments, labels, image)
    rows, columns = graphs.adjacency.nonzero()
    assert {frozenset(pair) for pair in zip(rows.tolist(), columns.tolist(), strict=True)} == edges
    assert graphs.adjacency.nnz == 2 * len(edges)
    assert list(graphs.node_labels) == modes
    np.testing.assert_allclose(graphs.node_attributes, colors, atol=1e-12)


def blocks():
    """An image of three plain regions with some noise, and their labels."""
    labels = np.repeat([0, 1], [12, 8])[:, None] * np.repeat([1, 2], 15)
    rng = np.random.default_rng(0)
    image = np.array([[0.5, 0.7, 1.0], [0.0, 0.2, 0.5], [1.0, 0.9, 0.6]])[labels]
    return np.clip(image + rng.normal(0, 0.01, image.shape), 0, 1), labels


def test_quick_shift_finds_regions():
    pytest.importorskip("skimage")
    image, labels = blocks()
    many = from_superpixels([image, image[::-1]], [labels, labels[::-1]], max_dist=5)
    assert many.graph_sizes.tolist() == [3, 3]
    assert set(many.label_values) == {0, 1, 2}
    assert many == from_superpixels([image, image[::-1]], [labels, labels[::-1]], max_dist=5)
    gray = from_superpixels([image[..., 0]], max_dist=5)
    assert gray.node_attributes.shape[1] == 1
    assert gray.label_column is None
    kernel = pk.PropagationKernel(attributes="sum", random_state=0)
    assert kernel.fit_transform(many).shape == (2, 2)


ONE = np.zeros((2, 3))


ONES = np.ones((2, 3), int)
COLOR = np.zeros((2, 3, 3))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"images": [ONE], "labels": [ONE]}, r"labels of image 0 must be integers of shape \(2, 3\)"),
        ({"images": [ONE], "segments": [ONES.T]}, "segments of image 0 must be integers"),
        ({"images": [ONE, ONE], "segments": [ONES]}, "segments of 1 images for 2"),
        ({"images": []}, "at least one image"),
        ({"images": [ONE, COLOR], "segments": [ONES] * 2}, "some images are gray"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(ValueError, match=words):
        from_superpixels(**arguments)
