from __future__ import annotations

import numpy as np
import pytest

import propkernels as pk


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int16, np.uint64])
def test_types_of_labels(kind):
    image = np.array([[0, 1], [1, 0]]).astype(kind)
    assert pk.GridDatabase([image]).node_labels.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([np.zeros((2, 2), int), np.zeros((0, 2), int)], r"image 1 has no pixels: its shape is \(0, 2\)"),
        ([np.zeros((2, 2), int), np.zeros((2, 2, 2), int)], "image 1 has 3 dimensions but image 0 has 2"),
        ([np.array([[0, 1], [-2, 1]])], r"image 0 has the label -2 at \(1, 0\): labels must not be below -1"),
        ([np.full((2, 2, 2), 0.4)], r"image 0 holds no label distribution at \(0, 0\): \[0.4, 0.4\] must be"),
        ([np.array([[[1.5, -0.5]]])], r"image 0 holds no label distribution at \(0, 0\)"),
        ([np.array([[[np.nan, 1.0]]])], r"image 0 holds no label distribution at \(0, 0\)"),
        ([np.zeros((3, 3))], r"image 0 holds no label distribution at \(0,\).*labels are integers"),
        ([np.array(1)], "image 0 has no grid"),
        ([[[1, 2], [3]]], "image 0 is not an array"),
    ],
)
def test_bad_images(images, message):
    with pytest.raises(ValueError, match=message):
        pk.GridDatabase(images)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([np.array([["a"]])], "image 0 must hold labels"),
        ([np.zeros((2, 2), complex)], "image 0 must hold labels"),
        (np.zeros((4, 4), int), r"got one array of shape \(4, 4\): put it into a list"),
        (np.zeros((4, 4, 3)), r"got one array of shape \(4, 4, 3\)"),
        ("image", "must be a list of arrays, got str"),
        (3, "must be a list of arrays, got int"),
    ],
)
def test_no_images(images, message):
    with pytest.raises(TypeError, match=message):
        pk.GridDatabase(images)


def test_bad_masks():
    images = [np.zeros((2, 3), dtype=int)] * 2
    good = np.ones((2, 3), dtype=bool)
    with pytest.raises(ValueError, match="1 masks for 2 images"):
        pk.GridDatabase(images, [good])
    with pytest.raises(ValueError, match=r"the mask of image 1 has shape \(3, 2\), the image \(2, 3\)"):
        pk.GridDatabase(images, [good, good.T])
    with pytest.raises(TypeError, match="the mask of image 0 must be boolean"):
        pk.GridDatabase(images, [good.astype(int), good])
    with pytest.raises(ValueError, match="image 1 has no pixels: its mask is False throughout"):
        pk.GridDatabase(images, [good, ~good])


def test_labels_outside_the_mask_do_not_matter():
    image, mask = np.array([[0, -7]]), np.array([[True, False]])
    assert pk.GridDatabase([image], [mask]).node_labels.tolist() == [0]


def test_a_stack_of_images_is_a_list():
    stack = np.zeros((3, 2, 2), dtype=int)
    assert pk.GridDatabase(stack) == pk.GridDatabase(list(stack))
