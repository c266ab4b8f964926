"""PLANTS and LEAVES: photographs in the data folder, quantized to grids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.datasets.dataset import DATA_VARIABLE, IMAGE_FILES, Dataset, data_folder
from propkernels.datasets.tu_files import open_archive, read_member
from propkernels.graphs import GridDatabase

if TYPE_CHECKING:
    from propkernels.images.gray_levels import Outside


def find_pictures(file: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a file of images; raise FileNotFoundError with the required folder."""
    place = data_folder() if folder is None else Path(folder)
    if place is None:
        raise FileNotFoundError(f"{file} is needed: set {DATA_VARIABLE} to the folder that has it")
    if not (place / file).is_file():
        raise FileNotFoundError(f"{file} is needed, and it is not in the folder {place}")
    return place / file


def label_gray(images: Any, n_levels: int) -> GridDatabase:
    """Return gray images quantized to levels that are equally frequent in each image."""
    from propkernels.images.gray_levels import GrayLevels

    return GrayLevels(n_levels, scale="equalize").fit_transform(images)


def label_colors(images: Any, n_colors: int, outside: Outside) -> GridDatabase:
    """Return color images quantized to a palette fitted to all images."""
    from propkernels.images.colors import KMeansColors

    return KMeansColors(n_colors, outside=outside, random_state=0).fit_transform(images)


def load_plants(
    *, n_colors: int = 5, outside: Outside = None, folder: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load 146 regions of beet leaves, 3 classes of disease symptoms.

    Parameters
    ----------
    n_colors : int, default=5
        Number of colors, which are the labels: a k-means palette of all images. To fit it to training
        images only, use ``extras["images"]`` and :class:`propkernels.images.KMeansColors`.
    outside : {None, "black"}, default=None
        None: the black background is a color, as in the paper, so that the shape of a region counts. "black":
        the background is masked out.
    folder : str or path, optional
        Folder of ``plants_demo.mat``; by default PROPKERNELS_DATA.

    Returns
    -------
    Dataset
        ``graphs`` is a GridDatabase. ``extras["images"]`` are the images, (h, w, 3) floats from 0 to 1.
    """
    images, target = read_plants(find_pictures(IMAGE_FILES["PLANTS"], folder))
    description = (
        "The authors' own excerpt of PLANTS: regions of beet leaves, at most 75 x 75 pixels, black outside; "
        f"{n_colors} colors by k-means."
    )
    graphs = label_colors(images, n_colors, outside)
    return Dataset("PLANTS", graphs, target, ("1", "2", "3"), {"images": images}, description)


def read_plants(path: Path) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
    """Return the images and their classes."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content: dict[str, Any] = loadmat(path, mat_dtype=True)
        cells, labels = content["A"].ravel(), content["graph_labels"].ravel()
    except (MatReadError, NotImplementedError, ValueError, KeyError, OSError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    return [np.asarray(cell, dtype=np.float64) for cell in cells], labels.astype(np.int64)


def load_leaves(*, n_colors: int = 5, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load 2,556 leaf photographs of PlantDoc, 28 classes, at most 75 pixels per side.

    Parameters
    ----------
    n_colors : int, default=5
        Number of colors, which are the labels: a k-means palette of all images.
    folder : str or path, optional
        Folder of ``plantdoc_75px.zip``; by default PROPKERNELS_DATA.

    Returns
    -------
    Dataset
        ``graphs`` is a GridDatabase. ``extras["images"]`` are the images (uint8), ``extras["split"]``
        is "train" or "test" for each.
    """
    images, target, names, split = read_leaves(find_pictures(IMAGE_FILES["LEAVES"], folder))
    description = (
        f"PlantDoc leaf photographs (CC BY 4.0), at most 75 pixels per side; {n_colors} colors by k-means."
    )
    graphs = label_colors(images, n_colors, None)
    return Dataset("LEAVES", graphs, target, names, {"images": images, "split": split}, description)


def read_leaves(path: Path) -> tuple[list[np.ndarray], np.ndarray, tuple[str, ...], np.ndarray]:
    """Return images, classes, names of classes, and the split ("train" or "test") of each image."""
    from propkernels.images.image_folder import as_image_folder, is_image

    with open_archive(path) as archive:
        members = sorted(m for m in archive.namelist() if is_image(Path(m).name))
        if not members:
            raise ValueError(f"{path.name} does not contain images")
        pictures = as_image_folder((m, read_member(archive, m, path)) for m in members)
    split = np.array([Path(member).parent.parent.name for member in members])
    return list(pictures.images), pictures.target, pictures.target_names, split
