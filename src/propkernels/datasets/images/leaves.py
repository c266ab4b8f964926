"""LEAVES: photographs of healthy and diseased leaves."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from propkernels.datasets.catalogue import IMAGE_FILES
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.images.pictures import find_pictures, label_colors
from propkernels.datasets.tu.files import open_archive, read_member


def load_leaves(*, n_colors: int = 5, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load 2,556 leaf photographs of PlantDoc, 28 classes, at most 75 pixels per side.

    Parameters
    ----------
    n_colors : int, default=5
        Number of colors, the labels: a k-means palette of all images.
    folder : str or path, optional
        Folder that has ``plantdoc_75px.zip``; by default the one that PROPKERNELS_DATA names.

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
    """Read images, classes, their names, and the part that each image belongs to."""
    from propkernels.images.folder import as_image_folder, is_image

    with open_archive(path) as archive:
        members = sorted(m for m in archive.namelist() if is_image(Path(m).name))
        if not members:
            raise ValueError(f"{path.name} does not contain images")
        pictures = as_image_folder((m, read_member(archive, m, path)) for m in members)
    split = np.array([Path(member).parent.parent.name for member in members])
    return list(pictures.images), pictures.target, pictures.target_names, split
