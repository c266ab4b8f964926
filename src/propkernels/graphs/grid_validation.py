"""Validation of the input of GridDatabase; errors name the image."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import kind_of, shown
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import UNOBSERVED, LabelColumn

TOLERANCE = 1e-6  # of the sum of the probabilities of a pixel


@dataclass(frozen=True)
class CheckedImage:
    """A valid image: shape, flat mask (None: all pixels count), and labels of the pixels that count."""

    shape: tuple[int, ...]
    inside: NDArray[np.bool_] | None
    labels: LabelColumn | LabelDistributions


def as_images(images: Any) -> list[Any]:
    """Return a list of images; raise TypeError for a single image or another type."""
    if isinstance(images, np.ndarray) and images.dtype != object:
        labels = images.dtype.kind in "biu"
        if images.ndim < (3 if labels else 4):
            raise TypeError(
                f"expected several images, got one array of shape {images.shape}: put it into a list, [image]"
            )
    if isinstance(images, (str, bytes, Mapping, Set)) or not hasattr(images, "__iter__"):
        raise TypeError(f"images must be a list of arrays, got {kind_of(images)}")
    return list(images)


def as_masks(masks: Any, n_images: int) -> list[Any]:
    """Return a list with a mask or None per image."""
    if masks is None:
        return [None] * n_images
    if isinstance(masks, (str, bytes, Mapping, Set)) or not hasattr(masks, "__iter__"):
        raise TypeError(f"masks must be a list of boolean arrays, or None, got {shown(masks)}")
    listed = list(masks)
    if len(listed) != n_images:
        raise ValueError(f"there are {len(listed)} masks for {n_images} images")
    return listed


def check_image(image: Any, mask: Any, position: int) -> CheckedImage:
    """Validate an image of labels (integers) or label distributions (floats, labels along the last axis)."""
    array = _as_array(image, position)
    distributed = array.dtype.kind == "f"
    shape = array.shape[:-1] if distributed else array.shape
    if not shape:
        kind = "label distributions" if distributed else "labels"
        raise ValueError(f"image {position} has no grid: {kind} of shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"image {position} has no pixels: its shape is {array.shape}")
    inside = _check_mask(mask, shape, position)
    pixels = array.reshape(-1, array.shape[-1]) if distributed else array.reshape(-1)
    kept = pixels if inside is None else pixels[inside]
    make = _distributions if distributed else _labels
    return CheckedImage(shape, inside, make(kept, shape, inside, position))


def pixel_attributes(attributes: Any, images: list[CheckedImage]) -> NDArray[Any]:
    """Return one row per counted pixel of arrays of shape (h, w, D), or (h, w) for one attribute."""
    if isinstance(attributes, (str, bytes, Mapping, Set)) or not hasattr(attributes, "__iter__"):
        raise TypeError(f"attributes must be a list of arrays, one per image, got {shown(attributes)}")
    listed = list(attributes)
    if len(listed) != len(images):
        raise ValueError(f"there are attributes of {len(listed)} images for {len(images)} images")
    rows: list[NDArray[Any]] = []
    for position, (values, image) in enumerate(zip(listed, images, strict=True)):
        array = np.ma.filled(values, np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        array = array[..., None] if array.shape == image.shape else array
        if array.dtype.kind not in "biuf" or array.shape[:-1] != image.shape:
            raise ValueError(
                f"the attributes of image {position} must be numbers of shape {(*image.shape, 'D')}, "
                f"got dtype {array.dtype} and shape {array.shape}"
            )
        flat = array.reshape(-1, array.shape[-1])
        rows.append(flat if image.inside is None else flat[image.inside])
        if rows[0].shape[1] != rows[-1].shape[1]:
            numbers = rows[-1].shape[1], rows[0].shape[1]
            raise ValueError(
                f"image {position} has {numbers[0]} attributes per pixel, but image 0 has {numbers[1]}"
            )
    return np.concatenate(rows) if rows else np.empty((0, 0))


def _as_array(image: Any, position: int) -> NDArray[Any]:
    try:
        array = image if isinstance(image, np.ma.MaskedArray) else np.asarray(image)
    except ValueError:
        raise ValueError(f"image {position} is not an array: its rows have different lengths") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"image {position} must hold labels (integers) or label distributions (floats), "
            f"got {kind_of(image)} of dtype {array.dtype}"
        )
    return array


def _check_mask(mask: Any, shape: tuple[int, ...], position: int) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    array = np.asarray(mask)
    if array.dtype != bool:
        raise TypeError(f"the mask of image {position} must be boolean, got dtype {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"the mask of image {position} has shape {array.shape}, the image {shape}")
    if not array.any():
        raise ValueError(f"image {position} has no pixels: its mask is False throughout")
    return None if array.all() else array.ravel()


def _labels(
    pixels: NDArray[Any], shape: tuple[int, ...], inside: NDArray[np.bool_] | None, position: int
) -> LabelColumn:
    values = np.ma.filled(pixels, UNOBSERVED) if isinstance(pixels, np.ma.MaskedArray) else pixels
    if values.dtype.kind == "i" and values.min() < UNOBSERVED:
        at = int(values.argmin())
        raise ValueError(
            f"image {position} has the label {values[at]} at {_place(at, shape, inside)}: labels must not be "
            f"below {UNOBSERVED}, the mark of an unobserved pixel"
        )
    return LabelColumn.from_values(values)


def _distributions(
    pixels: NDArray[Any], shape: tuple[int, ...], inside: NDArray[np.bool_] | None, position: int
) -> LabelDistributions:
    """Return label distributions; a pixel whose probabilities are all masked or NaN is unobserved."""
    values = np.ma.filled(pixels, np.nan) if isinstance(pixels, np.ma.MaskedArray) else pixels
    known = ~np.isnan(values).all(axis=1)
    sums = values.sum(axis=1, dtype=np.float64)
    wrong = known & ~((values >= 0).all(axis=1) & (np.abs(sums - 1) < TOLERANCE))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"image {position} holds no label distribution at {_place(at, shape, inside)}: "
            f"{_shortly(values[at])} must be probabilities that add up to 1 "
            "(floats are label distributions, labels are integers; other numbers go into attributes=)"
        )
    return LabelDistributions(np.where(known[:, None], values, 0.0), known=known)


def _shortly(values: NDArray[Any]) -> str:
    shown = ", ".join(f"{value:g}" for value in values[:4])
    return f"[{shown}{', ...' if len(values) > 4 else ''}]"


def _place(at: int, shape: tuple[int, ...], inside: NDArray[np.bool_] | None) -> tuple[int, ...]:
    """Return the coordinates of the pixel at position ``at`` of the pixels inside the mask."""
    flat = at if inside is None else int(np.flatnonzero(inside)[at])
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def check_same_dimension(shapes: list[tuple[int, ...]]) -> int:
    """Return the common number of axes of all images; 2 without images."""
    for position, shape in enumerate(shapes):
        if len(shape) != len(shapes[0]):
            raise ValueError(
                f"image {position} has {len(shape)} dimensions but image 0 has {len(shapes[0])}: "
                "one database holds images of one dimension"
            )
    return len(shapes[0]) if shapes else 2
