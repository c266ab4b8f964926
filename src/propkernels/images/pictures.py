"""Images as arrays of intensities between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.utils.checks import check_choice

Picture = NDArray[np.float64]
LUMA = np.array([0.2125, 0.7154, 0.0721])  # as in skimage.color.rgb2gray
OUTSIDE = (None, "black")


def check_pictures(images: Any) -> list[Picture]:
    """Return images, (h, w) gray or (h, w, 3) color, with intensities from 0 to 1.

    Parameters
    ----------
    images : sequence of arrays
        Gray (h, w) or (h, w, 1), color (h, w, 3) or (h, w, 4), whose fourth channel is dropped.
        Integers count from 0 to the largest number of their type; floats from 0 to 1.
    """
    if isinstance(images, np.ndarray) and images.ndim < 3:
        raise TypeError(f"expected several images, got one array of shape {images.shape}: put it into a list")
    if isinstance(images, (str, bytes)) or not hasattr(images, "__iter__"):
        raise TypeError(f"images must be a list of arrays, got {type(images).__name__}")
    pictures = [_check_picture(image, i) for i, image in enumerate(images)]
    if not pictures:
        raise ValueError("at least one image is needed, got none (0 images)")
    return pictures


def _check_picture(image: Any, position: int) -> Picture:
    array = np.asarray(image)
    if array.dtype.kind not in "buf":
        raise TypeError(
            f"image {position} must hold unsigned integers or floats from 0 to 1, got {array.dtype}"
        )
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
        raise ValueError(f"image {position} must be (h, w) or (h, w, 3), got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"image {position} has no pixels: its shape is {array.shape}")
    brightest = np.iinfo(array.dtype).max if array.dtype.kind == "u" else 1
    scaled = array.astype(np.float64) / brightest
    if not ((scaled >= 0) & (scaled <= 1)).all():
        raise ValueError(f"image {position} has intensities outside 0 to 1")
    if scaled.ndim == 2:
        return scaled
    return np.asarray(scaled[..., 0] if scaled.shape[2] == 1 else scaled[..., :3])


def to_gray(picture: Picture) -> Picture:
    """Brightness of each pixel."""
    return picture if picture.ndim == 2 else picture @ LUMA


def to_color(picture: Picture) -> Picture:
    """Three channels, equal for a gray image."""
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)


def check_outside(outside: Any) -> None:
    """Check the parameter that says which pixels do not belong to an image."""
    check_choice(outside, OUTSIDE, "outside")


def find_inside(picture: Picture, outside: str | None) -> NDArray[np.bool_] | None:
    """Which pixels belong to an image: all, or those that are not black."""
    if outside is None:
        return None
    return np.asarray(picture > 0 if picture.ndim == 2 else (picture > 0).any(axis=2))
