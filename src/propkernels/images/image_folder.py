"""Folders of images: one subfolder per class."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import read_regular
from propkernels.datasets.sources import IMAGES as SUFFIXES

MOST_PIXELS = 2**26  # of one image; 8192 x 8192
FREE_PIXELS, PIXELS_OF_A_BYTE = 2**20, 50  # a pixel takes 34 bytes in a grid
MOST_BYTES = 2**32  # of all decoded images together
MOST_FILE_BYTES = 2**28
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")  # no other parser sees the bytes


@dataclass(frozen=True, eq=False, repr=False)
class ImageFolder:
    """Images and their classes, as returned by :func:`read_image_folder`.

    Attributes
    ----------
    images : list of ndarray
        Gray (h, w) or color (h, w, 3), uint8.
    target : ndarray of int64
        Class of each image, an index into ``target_names``; -1 if images have no classes.
    target_names : tuple of str
        Sorted names of the subfolders; empty if there are no subfolders.
    paths : tuple of str
        Path of each image, relative to the folder.
    """

    images: list[NDArray[np.uint8]]
    target: NDArray[np.int64]
    target_names: tuple[str, ...]
    paths: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        return f"ImageFolder({len(self)} images, {len(self.target_names)} classes)"


def read_image_folder(path: str | os.PathLike[str]) -> ImageFolder:
    """Read a folder of images: one subfolder per class, or no subfolders for images without classes.

    Images are read in the order of their names; hidden files and files without the suffix of an image are
    skipped. Palettes become colors, and transparency is dropped. Untrusted files are safe to read: sizes are
    checked before decoding, and links that lead out of the folder are refused.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    ImageFolder

    Raises
    ------
    ImportError
        If Pillow is not installed.
    ValueError
        If there are no images, or an image cannot be read, is too large or lies outside the folder.
    """
    root = Path(path)
    if not root.is_dir():
        raise NotADirectoryError(f"{root} is not a folder")
    files = _images(root, "*/*") or _images(root, "*")
    if not files:
        raise ValueError(f"{root} has no images ({', '.join(SUFFIXES)}), nor subfolders with images")
    return as_image_folder(
        (file.relative_to(root).as_posix(), read_regular(file, root, MOST_FILE_BYTES)) for file in files
    )


def _images(root: Path, pattern: str) -> list[Path]:
    return sorted(file for file in root.glob(pattern) if is_image(file.name) and file.is_file())


def as_image_folder(named: Iterable[tuple[str, bytes]]) -> ImageFolder:
    """Decode images; the parent folder in a path is the class, and bare names have no class."""
    images, paths, total = [], [], 0
    for path, data in named:
        images.append(decode_image(data, path))
        paths.append(path)
        total += images[-1].nbytes
        if total > MOST_BYTES:
            raise ValueError(f"the images up to {path} take more than the {MOST_BYTES:,} bytes allowed")
    names = [Path(path).parent.name for path in paths]
    if not any(names):
        return ImageFolder(images, np.full(len(images), -1, dtype=np.int64), (), tuple(paths))
    classes = tuple(sorted(set(names)))
    position = {name: i for i, name in enumerate(classes)}
    target = np.array([position[name] for name in names], dtype=np.int64)
    return ImageFolder(images, target, classes, tuple(paths))


def is_image(name: str) -> bool:
    """Return whether a file name has the suffix of an image.

    Examples
    --------
    >>> [is_image(name) for name in ("leaf.JPG", "notes.txt", ".hidden.png")]
    [True, False, False]
    """
    return not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES


def decode_image(data: bytes, name: str) -> NDArray[np.uint8]:
    """Return an image as gray or color with 8 bits per channel; errors contain its name.

    The size in the header is checked before decoding.
    """
    pillow = import_optional("PIL.Image", extra="images", purpose="reading images needs")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(io.BytesIO(data), formats=FORMATS) as image:
                _check_size(image.size, len(data))
                return _decode(image)
    except Exception as error:  # the parsers of Pillow raise errors of many kinds for damaged files
        raise ValueError(f"the image {name} cannot be read: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    if type(error).__name__ == "UnidentifiedImageError":
        return "it is not an image of a known format, or it is damaged"
    return " ".join(str(error).split()) or type(error).__name__


def _check_size(size: tuple[int, int], n_bytes: int) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise ValueError(f"it has no pixels ({width} x {height})")
    most = min(FREE_PIXELS + PIXELS_OF_A_BYTE * n_bytes, MOST_PIXELS)
    if width * height > most:
        raise ValueError(
            f"it has {width} x {height} pixels, more than the {most:,} allowed for {n_bytes:,} bytes"
        )


def _decode(image: Any) -> NDArray[np.uint8]:
    gray = image.mode in ("1", "L", "LA", "I", "F") or image.mode.startswith("I;")
    if image.mode.startswith("I") or image.mode == "F":
        return _from_deep_gray(np.asarray(image))
    return np.asarray(image.convert("L" if gray else "RGB"))


def _from_deep_gray(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Scale 16-bit integers or floats to 8 bits."""
    if not np.isfinite(values).all():
        raise ValueError("it has intensities that are not finite")
    brightest = 65535.0 if values.dtype.kind in "iu" else max(float(values.max()), 1.0)
    return np.round(np.clip(values / brightest, 0, 1) * 255).astype(np.uint8)
