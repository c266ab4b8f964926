"""Quantize images to grids: a palette learned from training images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from propkernels._utils.checks import check_integer
from propkernels._utils.stored import require
from propkernels.images.gray_levels import LUMA, Mask, Outside, Picture, Quantizer

MOST_PIXELS = 100_000  # training pixels that are clustered, drawn at random


class KMeansColors(Quantizer):
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

    def __init__(
        self,
        n_colors: int = 5,
        *,
        outside: Outside = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_colors = n_colors
        self.outside = outside
        self.random_state = random_state

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
