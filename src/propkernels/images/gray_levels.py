"""GrayLevels: equally wide or equally frequent levels of brightness."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propkernels.images.pictures import Picture, to_gray
from propkernels.images.quantizer import Mask, Quantizer
from propkernels.utils.checks import check_choice, check_integer

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
