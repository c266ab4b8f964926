from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.images import GrayLevels

RAMP = np.arange(256, dtype=np.uint8).reshape(16, 16)


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


def test_black_is_outside():
    pictures = list(np.random.default_rng(0).uniform(0.1, 1, (4, 6, 7, 3)))
    for picture in pictures:
        picture[:2] = 0
    grids = GrayLevels(3, outside="black").fit_transform(pictures)
    assert grids.n_nodes == 4 * 4 * 7
    np.testing.assert_array_equal(grids[0].mask, np.arange(6)[:, None].repeat(7, axis=1) >= 2)
    whole = pk.GridDatabase([grid.image[2:] for grid in grids])
    np.testing.assert_array_equal(grids.node_labels, whole.node_labels)


def test_a_black_picture_has_no_pixels():
    with pytest.raises(ValueError, match="image 1 has no pixels"):
        GrayLevels(outside="black").fit_transform([RAMP, np.zeros((3, 3))])


def test_kinds_of_pictures():
    generator = np.random.default_rng(0)
    rgba = generator.integers(0, 256, (4, 5, 4)).astype(np.uint8)
    pictures = [rgba, rgba[..., :1], rgba[..., 0] > 100, rgba[..., :3].astype(np.uint16) * 257]
    grids = GrayLevels(4).fit_transform(pictures)
    assert [grid.shape for grid in grids] == [(4, 5)] * 4
    assert grids[0] == grids[3]


@pytest.mark.parametrize(
    ("pictures", "error", "message"),
    [
        (
            [RAMP, np.zeros((2, 2, 2))],
            ValueError,
            r"image 1 must be \(h, w\) or \(h, w, 3\), got shape \(2, 2, 2\)",
        ),
        ([np.zeros((0, 4))], ValueError, "image 0 has no pixels"),
        ([np.full((2, 2), 1.5)], ValueError, "image 0 has intensities outside 0 to 1"),
        ([np.full((2, 2), np.nan)], ValueError, "image 0 has intensities outside 0 to 1"),
        ([np.zeros((2, 2), dtype=int)], TypeError, "image 0 must hold unsigned integers or floats"),
        ([], ValueError, "at least one image"),
        (RAMP, TypeError, "expected several images"),
        ("folder", TypeError, "must be a list of arrays, got str"),
        (3, TypeError, "must be a list of arrays, got int"),
    ],
)
def test_bad_pictures(pictures, error, message):
    with pytest.raises(error, match=message):
        GrayLevels().fit(pictures)


@pytest.mark.parametrize(
    ("quantizer", "message"),
    [
        (GrayLevels(0), "n_levels must be at least 1"),
        (GrayLevels(scale="log"), "scale must be one of"),
        (GrayLevels(outside="white"), "outside must be one of None, 'black'"),
    ],
)
def test_bad_parameters(quantizer, message):
    with pytest.raises(ValueError, match=message):
        quantizer.fit([RAMP])


def test_as_a_transformer():
    quantizer = GrayLevels()
    with pytest.raises(NotFittedError):
        quantizer.transform([RAMP])
    copy = clone(quantizer)
    assert copy.get_params() == quantizer.get_params()
    pictures = [RAMP, RAMP.T]
    kernel = make_pipeline(copy, pk.PropagationKernel(t_max=2, random_state=0)).fit_transform(pictures)
    assert kernel[0, 0] == kernel[1, 1] == kernel[0, 1]
