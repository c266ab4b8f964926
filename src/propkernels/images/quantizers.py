"""Quantize images to grids: input checks, gray levels, and colors by k-means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import ImageInput, check_choice, check_integer, kind_of
from propkernels._utils.stored import require
from propkernels.graphs.grid_database import GridDatabase

Images = Iterable[ArrayLike]
Picture = NDArray[np.float64]
Mask = NDArray[np.bool_] | None
LUMA = np.array([0.2125, 0.7154, 0.0721])  # as in skimage.color.rgb2gray
Scale = Literal["full", "image", "equalize"]
Outside = Literal["black"] | None
OUTSIDE = (None, "black")
SCALES = ("full", "image", "equalize")


def check_pictures(images: Images) -> list[Picture]:
    """Return float64 images of shape (h, w) or (h, w, 3) with intensities from 0 to 1.

    Parameters
    ----------
    images : sequence of arrays
        Gray (h, w) or (h, w, 1), color (h, w, 3) or (h, w, 4), whose fourth channel is dropped.
        Integers are divided by the largest value of their type; floats range from 0 to 1.
    """
    if isinstance(images, np.ndarray) and images.ndim < 3:
        raise TypeError(f"expected several images, got one array of shape {images.shape}: put it into a list")
    if isinstance(images, (str, bytes)) or not hasattr(images, "__iter__"):
        raise TypeError(f"images must be a list of arrays, got {kind_of(images)}")
    pictures = [_check_picture(image, i) for i, image in enumerate(images)]
    if not pictures:
        raise ValueError("at least one image is needed, got none (0 images)")
    return pictures


def _check_picture(image: ArrayLike, position: int) -> Picture:
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
        raise ValueError(
            f"image {position} has intensities outside 0 to 1: divide floats by the largest possible value, "
            "or pass unsigned integers"
        )
    if scaled.ndim == 2:
        return scaled
    return np.asarray(scaled[..., 0] if scaled.shape[2] == 1 else scaled[..., :3])


def _find_inside(picture: Picture, outside: Outside) -> NDArray[np.bool_] | None:
    """Return a mask of the pixels that are not black; None if all pixels belong to the image."""
    if outside is None:
        return None
    return np.asarray(picture > 0 if picture.ndim == 2 else (picture > 0).any(axis=2))


class Quantizer(ImageInput, TransformerMixin, BaseEstimator, ABC):
    """Base class of quantizers: images in, GridDatabase out."""

    n_labels_: int
    outside: Outside

    def fit(self, X: Images, y: object = None) -> Self:
        """Learn the meaning of the labels from training images.

        Parameters
        ----------
        X : list of arrays
            Images of shape (h, w) or (h, w, 3): unsigned integers, or floats from 0 to 1.
        y : ignored
        """
        check_choice(self.outside, OUTSIDE, "outside")
        pictures = check_pictures(X)
        self._learn(pictures, [_find_inside(picture, self.outside) for picture in pictures])
        return self

    def transform(self, X: Images) -> GridDatabase:
        """Return grids with one label per pixel.

        Returns
        -------
        GridDatabase
            With masks if ``outside`` is not None.
        """
        check_is_fitted(self, "n_labels_")
        pictures = check_pictures(X)
        masks = [_find_inside(picture, self.outside) for picture in pictures]
        labels = [self._label(picture, mask) for picture, mask in zip(pictures, masks, strict=True)]
        return GridDatabase(labels, None if self.outside is None else masks)

    @abstractmethod
    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        """Validate the parameters; set ``n_labels_`` and all other learned attributes."""

    @abstractmethod
    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        """Return a label from 0 to n_labels_ - 1 per pixel; labels outside the mask are ignored."""


class GrayLevels(Quantizer):
    """Quantize brightness to a few gray levels, the labels of the pixels.

    Parameters
    ----------
    n_levels : int, default=3
        Number of levels; labels are 0 (dark) to n_levels - 1 (bright).
    scale : {"full", "image", "equalize"}, default="full"
        "full": levels of equal width between 0 and 1. "image": levels of equal width between the darkest and
        the brightest pixel of each image. "equalize": levels with about equally many pixels in each image
        (histogram equalization), so that images differ only in the positions of their levels.
    outside : {None, "black"}, default=None
        "black": mask out pixels that are black in all channels.

    Examples
    --------
    >>> import numpy as np
    >>> from propkernels.images import GrayLevels
    >>> pictures = [np.arange(6, dtype=np.uint8).reshape(2, 3) * 51]
    >>> GrayLevels(n_levels=2).fit_transform(pictures)[0].image
    array([[0, 0, 0],
           [1, 1, 1]])
    """

    def __init__(self, n_levels: int = 3, *, scale: Scale = "full", outside: Outside = None) -> None:
        self.n_levels = n_levels
        self.scale = scale
        self.outside = outside

    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        check_choice(self.scale, SCALES, "scale")
        self.n_labels_ = check_integer(self.n_levels, "n_levels", 1, 2**53)

    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        gray = picture if picture.ndim == 2 else picture @ LUMA
        counted = gray.ravel() if mask is None else gray[mask]
        shares = _shares(gray, counted, self.scale) if len(counted) else gray
        return np.clip(np.floor(shares * self.n_labels_), 0, self.n_labels_ - 1).astype(np.int64)


def _shares(gray: Picture, counted: Picture, scale: Scale) -> Picture:
    """Return the position of each pixel, from 0 to 1, on the scale that is divided into levels."""
    if scale == "full":
        return gray
    if scale == "image":
        low, high = counted.min(), counted.max()
        return (gray - low) / (high - low) if high > low else np.zeros_like(gray)
    ordered = np.sort(counted)
    below, upto = (np.searchsorted(ordered, gray, side=side) for side in ("left", "right"))
    return np.asarray((below + upto) / (2 * len(ordered)))


MOST_PIXELS = 100_000  # training pixels that are clustered, drawn at random


@dataclass(eq=False, repr=False)
class ColorParameters:
    """Parameters of :class:`KMeansColors`."""

    n_colors: int = 5
    _: KW_ONLY
    outside: Outside = None
    random_state: int | np.random.RandomState | None = None


class KMeansColors(ColorParameters, Quantizer):
    """Quantize colors to the centers of k-means clusters of the training images' pixels.

    Parameters
    ----------
    n_colors : int, default=5
        Number of colors, which is the number of labels.
    outside : {None, "black"}, default=None
        "black": mask out pixels that are black in all channels.
    random_state : int, RandomState or None, default=None
        Seed for drawing pixels and for clustering.

    Attributes
    ----------
    colors_ : ndarray of shape (n_colors, 3)
        The palette, from dark to bright, with intensities from 0 to 1.
    n_labels_ : int
        Number of labels of inner pixels, which is ``n_colors``.

    Examples
    --------
    >>> import numpy as np
    >>> from propkernels.images import KMeansColors
    >>> red, leaf = np.full((2, 2, 3), [1.0, 0, 0]), np.full((2, 2, 3), [0.2, 0.8, 0.1])
    >>> quantizer = KMeansColors(n_colors=2, random_state=0).fit([red, leaf])
    >>> quantizer.transform([leaf, red]).node_labels
    array([1, 1, 1, 1, 0, 0, 0, 0])
    """

    colors_: NDArray[np.float64]

    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        from sklearn.cluster import MiniBatchKMeans

        n_colors = check_integer(self.n_colors, "n_colors", 1)
        generator = check_random_state(self.random_state)
        pixels = _pixels(pictures, masks)
        if len(pixels) > MOST_PIXELS:
            pixels = pixels[generator.choice(len(pixels), MOST_PIXELS, replace=False)]
        distinct = len(np.unique(pixels, axis=0))
        if distinct < n_colors:
            raise ValueError(f"n_colors is {n_colors} but the images have only {distinct} distinct colors")
        clusters = MiniBatchKMeans(n_colors, n_init=5, random_state=generator).fit(pixels)
        centers = clusters.cluster_centers_
        self.colors_ = centers[np.argsort(centers @ LUMA, kind="stable")]
        self.n_labels_ = n_colors

    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        colors = _to_color(picture).reshape(-1, 3)
        distances = (self.colors_**2).sum(axis=1) - 2 * (colors @ self.colors_.T)  # squared, minus |color|^2
        return distances.argmin(axis=1).reshape(picture.shape[:2])

    def _check_parts(self) -> None:
        """Raise an error unless there is one color per label."""
        fits = not hasattr(self, "colors_") or self.colors_.shape == (self.n_labels_, 3)
        require(fits, "every label needs a color")


def _pixels(pictures: list[Picture], masks: list[Mask]) -> NDArray[np.float64]:
    """Return the pixels inside the masks, one row per pixel."""
    parts = [
        _to_color(picture).reshape(-1, 3) if mask is None else _to_color(picture)[mask]
        for picture, mask in zip(pictures, masks, strict=True)
    ]
    return np.concatenate(parts)


def _to_color(picture: Picture) -> Picture:
    """Return an image with three channels, equal for a gray image."""
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)
