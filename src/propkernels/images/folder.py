"""Folders of images: one subfolder per class."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


@dataclass(frozen=True, eq=False, repr=False)
class ImageFolder:
    """Images with their classes.

    Attributes
    ----------
    images : list of ndarray
        Gray (h, w) or color (h, w, 3), uint8.
    target : ndarray of int64
        The class of each image: the position of its name in ``target_names``; -1 where it is not known.
    target_names : tuple of str
        Names of the subfolders, sorted; empty where images are in no subfolders.
    paths : tuple of str
        Where each image lies, relative to the folder.
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
    """Read a folder of images: one subfolder per class, or, for prediction, images without classes.

    Images are read in the order of their names; hidden files and files with other
    suffixes (such as ``.txt``) are skipped. Palettes become colors, and transparency is dropped.

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
        If there are no images, or one cannot be read; the message names it.
    """
    root = Path(path)
    if not root.is_dir():
        raise NotADirectoryError(f"there is no folder {root}")
    files = _images(root, "*/*")
    if not files:
        return _unsorted(root, _images(root, "*"))
    named = [(file.relative_to(root).as_posix(), file.read_bytes()) for file in files]
    return as_image_folder(named)


def _images(root: Path, pattern: str) -> list[Path]:
    return sorted(file for file in root.glob(pattern) if is_picture(file.name) and file.is_file())


def _unsorted(root: Path, files: list[Path]) -> ImageFolder:
    """Images without classes."""
    if not files:
        raise ValueError(f"{root} has no images ({', '.join(SUFFIXES)}), nor subfolders with images")
    images = [decode_picture(file.read_bytes(), file.name) for file in files]
    unknown = np.full(len(files), -1, dtype=np.int64)
    return ImageFolder(images, unknown, (), tuple(file.name for file in files))


def as_image_folder(named: Sequence[tuple[str, bytes]]) -> ImageFolder:
    """Decode images whose paths end in CLASS/NAME."""
    names = [Path(path).parent.name for path, _ in named]
    classes = tuple(sorted(set(names)))
    position = {name: i for i, name in enumerate(classes)}
    images = [decode_picture(data, path) for path, data in named]
    target = np.array([position[name] for name in names], dtype=np.int64)
    return ImageFolder(images, target, classes, tuple(path for path, _ in named))


def is_picture(name: str) -> bool:
    """Whether a file is an image by its name.

    Examples
    --------
    >>> [is_picture(name) for name in ("leaf.JPG", "notes.txt", ".hidden.png")]
    [True, False, False]
    """
    return not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES


def decode_picture(data: bytes, name: str) -> NDArray[np.uint8]:
    """Decode one image to gray or color, 8 bits per channel; an error names it."""
    image: Any = _pillow()
    try:
        with image.open(io.BytesIO(data)) as picture:
            gray = picture.mode in ("1", "L", "LA", "I", "F") or picture.mode.startswith("I;")
            if picture.mode.startswith("I") or picture.mode == "F":
                return _from_deep_gray(np.asarray(picture))
            return np.asarray(picture.convert("L" if gray else "RGB"))
    except (OSError, SyntaxError, ValueError, EOFError, image.DecompressionBombError) as error:
        raise ValueError(f"the image {name} cannot be read: {error}") from None


def _from_deep_gray(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Bring 16 bits, or any range of floats, to 8 bits."""
    brightest = 65535.0 if values.dtype.kind in "iu" else max(float(values.max()), 1.0)
    return np.round(np.clip(values / brightest, 0, 1) * 255).astype(np.uint8)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "reading images needs Pillow: install it with pip install 'propkernels[images]'"
        ) from None
    return Image
