"""TEXTURES: scikit-image's brick, grass and gravel, cut into patches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.digits import quantize
from propkernels.graphs import GridDatabase

NAMES = ("brick", "grass", "gravel")
BRIGHTEST = 255


def load_texture_grids(patch_size: int = 32, n_levels: int = 3) -> Dataset:
    """Load patches of three textures, each a grid graph.

    Parameters
    ----------
    patch_size : int, default 32
        Side of the square patches in pixels; the images have 512 x 512 pixels.
    n_levels : int, default 3
        Number of gray levels, which are the node labels.

    Returns
    -------
    Dataset
        ``graphs`` is a GridDatabase. Three classes: 0 brick, 1 grass, 2 gravel.

    Raises
    ------
    ImportError
        If scikit-image is not installed, or its version does not contain the images.
    """
    patches = [cut_patches(read_texture(name), patch_size) for name in NAMES]
    target = np.repeat(np.arange(len(NAMES)), [len(part) for part in patches])
    images = np.concatenate(patches)
    graphs = GridDatabase(quantize(images, n_levels, BRIGHTEST))
    description = (
        f"Photographs of brick, grass and gravel from scikit-image, in square patches of side {patch_size}. "
        f"Pixels are labeled by one of {n_levels} gray levels."
    )
    return Dataset("TEXTURES", graphs, target, NAMES, {"images": list(images)}, description)


def read_texture(name: str) -> NDArray[Any]:
    """Return an image of the installed package, without downloading."""
    skimage = import_optional("skimage", extra="images", purpose="TEXTURES needs")
    path = Path(skimage.__file__).parent / "data" / f"{name}.png"
    if not path.exists():
        raise ImportError(
            f"TEXTURES needs a scikit-image that ships {path.name}, and the installed one does not: "
            "install another with pip install -U 'propkernels[images]'"
        )
    imread = import_optional("skimage.io", extra="images", purpose="TEXTURES needs").imread
    return np.asarray(imread(path))


def cut_patches(image: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the square patches of an image, row by row; incomplete patches are dropped."""
    if not 1 <= size <= min(image.shape):
        raise ValueError(f"patch_size must be between 1 and {min(image.shape)}, got {size}")
    rows, columns = image.shape[0] // size, image.shape[1] // size
    blocks = image[: rows * size, : columns * size].reshape(rows, size, columns, size)
    return blocks.swapaxes(1, 2).reshape(rows * columns, size, size)
