"""From images to grids: intensities, gray levels, and palettes learned from training images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import ImageInput, check_choice, check_integer
from propkernels._utils.stored import require
from propkernels.graphs.grid_database import GridDatabase

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


Mask = NDArray[np.bool_] | None


class Quantizer(ImageInput, TransformerMixin, BaseEstimator, ABC):
    """Images in, a GridDatabase out: subclasses say what is learned, and which label a pixel gets."""

    n_labels_: int
    outside: str | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training images what labels stand for.

        Parameters
        ----------
        X : list of arrays
            Images (h, w) or (h, w, 3): integers up to the largest of their type, or floats from 0 to 1.
        y : ignored
        """
        check_outside(self.outside)
        pictures = check_pictures(X)
        self._learn(pictures, [find_inside(picture, self.outside) for picture in pictures])
        return self

    def transform(self, X: Any) -> GridDatabase:
        """Label the pixels of images.

        Returns
        -------
        GridDatabase
            With masks where ``outside`` says that some pixels do not belong to their images.
        """
        check_is_fitted(self, "n_labels_")
        pictures = check_pictures(X)
        masks = [find_inside(picture, self.outside) for picture in pictures]
        labels = [self._label(picture, mask) for picture, mask in zip(pictures, masks, strict=True)]
        return GridDatabase(labels, None if self.outside is None else masks)

    @abstractmethod
    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        """Check the parameters; set ``n_labels_`` and what else labels need."""

    @abstractmethod
    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        """Labels 0 .. n_labels_ - 1 of all pixels; those outside the mask may be anything from 0 on."""


SCALES = ("full", "image", "equalize")


class GrayLevels(Quantizer):
    """Quantize the brightness of images to a few levels, which become the labels of pixels.

    Parameters
    ----------
    n_levels : int, default=3
        Number of levels; labels are 0 (dark) to n_levels - 1 (bright).
    scale : {"full", "image", "equalize"}, default="full"
        What the levels divide equally: the whole range of intensities, the range between the darkest and the
        brightest pixel of each image, or the pixels of each image themselves, so that each level is
        about as frequent as any other (histogram equalization). The last leaves nothing to tell images
        apart but where the levels lie.
    outside : {None, "black"}, default=None
        "black": pixels that are black in all channels do not belong to their image and are masked out.

    Examples
    --------
    >>> import numpy as np
    >>> from propkernels.images import GrayLevels
    >>> pictures = [np.arange(6, dtype=np.uint8).reshape(2, 3) * 51]
    >>> GrayLevels(n_levels=2).fit_transform(pictures)[0].image
    array([[0, 0, 0],
           [1, 1, 1]])
    """

    def __init__(self, n_levels: int = 3, *, scale: str = "full", outside: str | None = None) -> None:
        self.n_levels = n_levels
        self.scale = scale
        self.outside = outside

    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        check_choice(self.scale, SCALES, "scale")
        self.n_labels_ = check_integer(self.n_levels, "n_levels", 1)

    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        gray = to_gray(picture)
        seen = gray.ravel() if mask is None else gray[mask]
        shares = _shares(gray, seen, self.scale) if len(seen) else gray
        return np.clip(np.floor(shares * self.n_labels_), 0, self.n_labels_ - 1).astype(np.int64)


def _shares(gray: Picture, seen: Picture, scale: str) -> Picture:
    """Where each pixel stands between 0 and 1 on the scale that levels divide."""
    if scale == "full":
        return gray
    if scale == "image":
        low, high = seen.min(), seen.max()
        return (gray - low) / (high - low) if high > low else np.zeros_like(gray)
    ordered = np.sort(seen)
    below, upto = (np.searchsorted(ordered, gray, side=side) for side in ("left", "right"))
    return np.asarray((below + upto) / (2 * len(ordered)))


class KMeansColors(Quantizer):
    """Quantize colors to the centers of k-means clusters, learned in fit and reused for new images.

    Parameters
    ----------
    n_colors : int, default=5
        Number of colors, the labels.
    outside : {None, "black"}, default=None
        "black": pixels that are black in all channels do not belong to their image and are masked out.
    n_samples : int, default=100_000
        At most so many pixels of the training images are clustered, chosen at random.
    random_state : int, RandomState or None, default=None
        Seed of the choice of pixels and of the clustering.

    Attributes
    ----------
    colors_ : ndarray of shape (n_colors, 3)
        The palette, from dark to bright, with intensities from 0 to 1.

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

    def __init__(
        self,
        n_colors: int = 5,
        *,
        outside: str | None = None,
        n_samples: int = 100_000,
        random_state: Any = None,
    ) -> None:
        self.n_colors = n_colors
        self.outside = outside
        self.n_samples = n_samples
        self.random_state = random_state

    def _learn(self, pictures: list[Picture], masks: list[Mask]) -> None:
        from sklearn.cluster import MiniBatchKMeans

        n_colors = check_integer(self.n_colors, "n_colors", 1)
        n_samples = check_integer(self.n_samples, "n_samples", 1)
        generator = check_random_state(self.random_state)
        pixels = _pixels(pictures, masks)
        if len(pixels) > n_samples:
            pixels = pixels[generator.choice(len(pixels), n_samples, replace=False)]
        distinct = len(np.unique(pixels, axis=0))
        if distinct < n_colors:
            raise ValueError(f"n_colors is {n_colors} but the images have only {distinct} distinct colors")
        clusters = MiniBatchKMeans(n_colors, n_init=5, random_state=generator).fit(pixels)
        centers = clusters.cluster_centers_
        self.colors_ = centers[np.argsort(centers @ LUMA, kind="stable")]
        self.n_labels_ = n_colors

    def _label(self, picture: Picture, mask: Mask) -> NDArray[np.int64]:
        colors = to_color(picture).reshape(-1, 3)
        distances = (self.colors_**2).sum(axis=1) - 2 * (colors @ self.colors_.T)  # less |color|^2
        return distances.argmin(axis=1).reshape(picture.shape[:2])

    def check_parts(self) -> None:
        """Refuse colors that are not one per label."""
        fits = not hasattr(self, "colors_") or self.colors_.shape == (self.n_labels_, 3)
        require(fits, "every label needs a color")


def _pixels(pictures: list[Picture], masks: list[Mask]) -> NDArray[np.float64]:
    """All pixels that count, one row each."""
    parts = [
        to_color(picture).reshape(-1, 3) if mask is None else to_color(picture)[mask]
        for picture, mask in zip(pictures, masks, strict=True)
    ]
    return np.concatenate(parts)
