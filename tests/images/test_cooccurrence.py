from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import propkernels as pk
from propkernels.images import GrayCooccurrence, LabelCooccurrence

pytest.importorskip("skimage")
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
    computed = LabelCooccurrence(distances=[distance]).fit_transform(pk.GridDatabase(images, masks))
    reference = [naive(i, m, 3, distance) for i, m in zip(images, masks, strict=True)]
    np.testing.assert_allclose(computed, reference)


def test_several_distances_and_gray():
    generator = np.random.default_rng(1)
    pictures = [generator.random((6, 6)) for _ in range(3)]
    features = GrayCooccurrence(4, distances=(1, 2)).fit(pictures)
    assert features.transform(pictures).shape == (3, 20)
    levels = [np.floor(picture * 4).astype(int) for picture in pictures]
    quantized = LabelCooccurrence(distances=(1, 2)).fit_transform(pk.GridDatabase(levels))
    np.testing.assert_allclose(features.transform(pictures), quantized)
    everywhere = np.ones((6, 6), dtype=bool)
    np.testing.assert_allclose(quantized[0, 10:], naive(levels[0], everywhere, 4, 2))


def test_turned_images_have_the_same_features():
    image = np.random.default_rng(2).integers(0, 4, (8, 5))
    grids = pk.GridDatabase([image, np.rot90(image)])
    first, second = LabelCooccurrence().fit_transform(grids)
    np.testing.assert_array_equal(first, second)


def test_labels_that_are_new_or_unobserved_do_not_count():
    fitted = LabelCooccurrence().fit(pk.GridDatabase([np.array([[0, 1]])]))
    row = fitted.transform(pk.GridDatabase([np.array([[0, 1, 5, 1, -1]])]))
    assert row.tolist() == [[0, 1, 0]]
    assert fitted.transform(pk.GridDatabase([np.array([[5]])])).tolist() == [[0, 0, 0]]


def test_bad_input():
    with pytest.raises(TypeError, match="takes a GridDatabase, got list"):
        LabelCooccurrence().fit([np.zeros((2, 2), dtype=int)])
    with pytest.raises(ValueError, match="two-dimensional images with one label"):
        LabelCooccurrence().fit(pk.GridDatabase([np.zeros((2, 2, 2), dtype=int)]))
    with pytest.raises(ValueError, match="distances must be at least 1"):
        LabelCooccurrence(distances=[0]).fit(pk.GridDatabase([np.zeros((2, 2), dtype=int)]))
    with pytest.raises(ValueError, match="at least one distance"):
        GrayCooccurrence(distances=[]).fit([np.zeros((2, 2))])
    words = pk.GridDatabase([np.zeros((1, 2), dtype=int)]).with_labels(["a", "b"])
    with pytest.raises(ValueError, match="needs the labels 0, 1, 2"):
        LabelCooccurrence().fit(words)
    with pytest.raises(NotFittedError):
        GrayCooccurrence().transform([np.zeros((2, 2))])


def test_without_scikit_image(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.feature", None)
    with pytest.raises(ImportError, match=r"need scikit-image: .*propkernels\[images\]"):
        GrayCooccurrence().fit_transform([np.zeros((2, 2))])
