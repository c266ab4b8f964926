from __future__ import annotations

import numpy as np
import pytest

import propkernels as pk
from propkernels.images import GrayLevels

pytest.importorskip("skimage")
from reproduction.data.cooccurrence import gray_cooccurrence, label_cooccurrence

STEPS = [(0, 1), (-1, 1), (-1, 0), (-1, -1)]


def naive(image, mask, n_levels, distance):
    """Unordered pairs of levels at a distance in four directions, as frequencies."""
    counts = np.zeros((n_levels, n_levels))
    for (y, x), (dy, dx) in ((p, s) for p in np.ndindex(image.shape) for s in STEPS):
        far = distance if 0 in (dy, dx) else round(distance * np.sqrt(0.5))
        other = y + far * dy, x + far * dx
        inside = 0 <= other[0] < image.shape[0] and 0 <= other[1] < image.shape[1]
        if inside and mask[y, x] and mask[other]:
            low, high = sorted((image[y, x], image[other]))
            counts[low, high] += 1
    return counts[np.triu_indices(n_levels)] / counts.sum()


@pytest.mark.parametrize("distance", [1, 2])
def test_against_counting_pairs(distance):
    generator = np.random.default_rng(0)
    images = [generator.integers(0, 3, shape) for shape in [(6, 7), (5, 5)]]
    masks = [generator.random(image.shape) < 0.8 for image in images]
    computed = label_cooccurrence(pk.GridDatabase(images, masks), distance=distance)
    reference = [naive(i, m, 3, distance) for i, m in zip(images, masks, strict=True)]
    np.testing.assert_allclose(computed, reference)


def test_gray_levels_are_labels():
    generator = np.random.default_rng(1)
    pictures = [generator.random((6, 6)) for _ in range(3)]
    levels = GrayLevels(4, scale="equalize").fit_transform(pictures)
    assert np.array_equal(gray_cooccurrence(pictures, 4, "equalize"), label_cooccurrence(levels))
    assert gray_cooccurrence(pictures).shape == (3, 36)


def test_turned_images_have_the_same_features():
    image = np.random.default_rng(2).integers(0, 4, (8, 5))
    first, second = label_cooccurrence(pk.GridDatabase([image, np.rot90(image)]))
    np.testing.assert_array_equal(first, second)


def test_unobserved_labels_do_not_count():
    rows = label_cooccurrence(pk.GridDatabase([np.array([[0, 1, -1, 1, -1]]), np.array([[-1]])]))
    assert rows.tolist() == [[0, 1, 0], [0, 0, 0]]
