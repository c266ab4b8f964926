from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.images import KMeansColors

RAMP = np.arange(256, dtype=np.uint8).reshape(16, 16)


def colorful(seed=0, n=4):
    generator = np.random.default_rng(seed)
    palette = np.array([[0.9, 0.1, 0.1], [0.1, 0.8, 0.2], [0.2, 0.2, 0.9]])
    noise = generator.normal(0, 0.02, (n, 6, 7, 3))
    return [np.clip(palette[generator.integers(0, 3, (6, 7))] + e, 0, 1) for e in noise]


@pytest.mark.slow
def test_black_is_outside():
    pictures = colorful()
    for picture in pictures:
        picture[:2] = 0
    grids = KMeansColors(3, outside="black", random_state=0).fit_transform(pictures)
    assert grids.n_nodes == 4 * 4 * 7
    np.testing.assert_array_equal(grids[0].mask, np.arange(6)[:, None].repeat(7, axis=1) >= 2)
    whole = pk.GridDatabase([grid.image[2:] for grid in grids])
    np.testing.assert_array_equal(grids.node_labels, whole.node_labels)


@pytest.mark.slow
def test_colors_are_learned_and_reused():
    quantizer = KMeansColors(3, random_state=0).fit(colorful(0))
    assert quantizer.colors_.shape == (3, 3)
    np.testing.assert_allclose(quantizer.colors_[0], [0.2, 0.2, 0.9], atol=0.03)  # the darkest
    new = quantizer.transform(colorful(1))
    refitted = KMeansColors(3, random_state=5).fit_transform(colorful(1))
    assert new == refitted
    assert set(new.label_values) == {0, 1, 2}


def test_few_pixels_suffice(monkeypatch):
    expected = KMeansColors(3, random_state=0).fit_transform(colorful(0))
    monkeypatch.setattr("propkernels.images.colors.MOST_PIXELS", 60)
    assert KMeansColors(3, random_state=0).fit_transform(colorful(0)) == expected


def test_gray_pictures_have_colors_too():
    grids = KMeansColors(2, random_state=0).fit_transform([np.repeat([[0.1, 0.9]], 3, axis=0)])
    assert grids[0].image.tolist() == [[0, 1]] * 3


def test_too_few_colors():
    with pytest.raises(ValueError, match="n_colors is 5 but the images have only 1 distinct colors"):
        KMeansColors(5, random_state=0).fit([np.zeros((4, 4, 3))])


@pytest.mark.parametrize(
    ("quantizer", "message"),
    [
        (KMeansColors(outside="white"), "outside must be one of None, 'black'"),
        (KMeansColors(0), "n_colors must be at least 1"),
    ],
)
def test_bad_parameters(quantizer, message):
    with pytest.raises(ValueError, match=message):
        quantizer.fit([RAMP])


def test_as_a_transformer():
    quantizer = KMeansColors(2, random_state=0)
    with pytest.raises(NotFittedError):
        quantizer.transform([RAMP])
    copy = clone(quantizer)
    assert copy.get_params() == quantizer.get_params()
    pictures = [RAMP, RAMP.T]
    kernel = make_pipeline(copy, pk.PropagationKernel(t_max=2, random_state=0)).fit_transform(pictures)
    assert kernel[0, 0] == kernel[1, 1] == kernel[0, 1]
