"""Quantizers of images: gray levels and learned colors."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.images import GrayLevels, KMeansColors

RAMP = np.arange(256, dtype=np.uint8).reshape(16, 16)


def colorful(seed=0, n=4):
    generator = np.random.default_rng(seed)
    palette = np.array([[0.9, 0.1, 0.1], [0.1, 0.8, 0.2], [0.2, 0.2, 0.9]])
    noise = generator.normal(0, 0.02, (n, 6, 7, 3))
    return [np.clip(palette[generator.integers(0, 3, (6, 7))] + e, 0, 1) for e in noise]


def test_full_range():
    levels = GrayLevels(4).fit_transform([RAMP])[0].image
    np.testing.assert_array_equal(levels, np.minimum(RAMP // 64, 3))
    floats = GrayLevels(4).fit_transform([RAMP / 255.0])[0].image
    np.testing.assert_array_equal(floats, levels)


def test_the_range_of_each_picture():
    dull = (RAMP // 4 + 100).astype(np.uint8)
    levels = GrayLevels(2, scale="image").fit_transform([dull, np.full((2, 2), 0.3)])
    assert np.bincount(levels[0].node_labels).tolist() == [128, 128]
    assert levels[1].node_labels.tolist() == [0] * 4


def test_equalized_levels_are_equally_frequent():
    generator = np.random.default_rng(0)
    pictures = [generator.random((30, 20)) ** power for power in (1, 3, 9)]
    for grid in GrayLevels(3, scale="equalize").fit_transform(pictures):
        assert np.bincount(grid.node_labels).tolist() == [200] * 3


def test_equal_pixels_have_equal_levels_when_equalized():
    picture = np.random.default_rng(1).integers(0, 4, (8, 8)).astype(np.uint8)
    labels = GrayLevels(3, scale="equalize").fit_transform([picture, np.rot90(picture)])
    for value in range(4):
        assert len(np.unique(labels[0].image[picture == value])) == 1
    np.testing.assert_array_equal(labels[1].image, np.rot90(labels[0].image))


@pytest.mark.parametrize("quantizer", [GrayLevels, KMeansColors])
def test_black_is_outside(quantizer):
    pictures = colorful()
    for picture in pictures:
        picture[:2] = 0
    grids = quantizer(3, outside="black").fit_transform(pictures)
    assert grids.n_nodes == 4 * 4 * 7
    np.testing.assert_array_equal(grids[0].mask, np.arange(6)[:, None].repeat(7, axis=1) >= 2)
    whole = pk.GridDatabase([grid.image[2:] for grid in grids])
    np.testing.assert_array_equal(grids.node_labels, whole.node_labels)


def test_kinds_of_pictures():
    generator = np.random.default_rng(0)
    rgba = generator.integers(0, 256, (4, 5, 4)).astype(np.uint8)
    pictures = [rgba, rgba[..., :1], rgba[..., 0] > 100, rgba[..., :3].astype(np.uint16) * 257]
    grids = GrayLevels(4).fit_transform(pictures)
    assert [grid.shape for grid in grids] == [(4, 5)] * 4
    assert grids[0] == grids[3]


@pytest.mark.slow
def test_colors_are_learned_and_reused():
    quantizer = KMeansColors(3, random_state=0).fit(colorful(0))
    assert quantizer.colors_.shape == (3, 3)
    np.testing.assert_allclose(quantizer.colors_[0], [0.2, 0.2, 0.9], atol=0.03)  # the darkest
    new = quantizer.transform(colorful(1))
    refitted = KMeansColors(3, random_state=5).fit_transform(colorful(1))
    assert new == refitted
    assert set(new.label_values) == {0, 1, 2}


def test_gray_pictures_have_colors_too():
    grids = KMeansColors(2, random_state=0).fit_transform([np.repeat([[0.1, 0.9]], 3, axis=0)])
    assert grids[0].image.tolist() == [[0, 1]] * 3


FLAT = np.zeros((4, 4, 3))
INVALID = [
    (GrayLevels(), [RAMP, np.zeros((2, 2, 2))], ValueError, r"image 1 must be \(h, w\) or \(h, w, 3\)"),
    (GrayLevels(), [np.zeros((0, 4))], ValueError, "image 0 has no pixels"),
    (GrayLevels(outside="black"), [RAMP, np.zeros((3, 3))], ValueError, "image 1 has no pixels"),
    (GrayLevels(), [np.full((2, 2), 1.5)], ValueError, "image 0 has intensities outside 0 to 1"),
    (GrayLevels(), [np.full((2, 2), np.nan)], ValueError, "outside 0 to 1: divide floats by the"),
    (GrayLevels(), [np.zeros((2, 2), dtype=int)], TypeError, "image 0 must hold unsigned integers or floats"),
    (GrayLevels(), [], ValueError, "at least one image"),
    (GrayLevels(), RAMP, TypeError, "expected several images"),
    (GrayLevels(), "folder", TypeError, "must be a list of arrays, got str"),
    (GrayLevels(0), [RAMP], ValueError, "n_levels must be at least 1"),
    (GrayLevels(10**400), [RAMP], ValueError, "n_levels must be at most"),
    (GrayLevels(scale="log"), [RAMP], ValueError, "scale must be one of"),
    (GrayLevels(outside="white"), [RAMP], ValueError, "outside must be one of None, 'black'"),
    (KMeansColors(0), [RAMP], ValueError, "n_colors must be at least 1"),
    (KMeansColors(5), [FLAT], ValueError, "n_colors is 5 but the images have only 1 distinct colors"),
]


@pytest.mark.parametrize(("quantizer", "pictures", "kind", "words"), INVALID)
def test_bad_pictures_and_parameters(quantizer, pictures, kind, words):
    with pytest.raises(kind, match=words):
        quantizer.fit_transform(pictures)
