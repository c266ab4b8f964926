"""PLANTS: the authors' excerpt of leaf regions with disease symptoms."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.datasets.catalogue import IMAGE_FILES
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.images.pictures import find_pictures, label_colors


def load_plants(
    *, n_colors: int = 5, outside: str | None = None, folder: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load 146 regions of beet leaves, 3 classes of disease symptoms.

    Parameters
    ----------
    n_colors : int, default=5
        Number of colors, the labels: a k-means palette of all images. To fit it on training
        images only, start from ``extras["images"]`` with :class:`propkernels.images.KMeansColors`.
    outside : {None, "black"}, default=None
        None: the black around the regions is one of the colors, as in the paper, so that the shape of a
        region counts. "black": it is masked out.
    folder : str or path, optional
        Folder that has ``plants_demo.mat``; by default the one that PROPKERNELS_DATA names.

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
    """Read the images and their classes."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content: dict[str, Any] = loadmat(path, mat_dtype=True)
        cells, labels = content["A"].ravel(), content["graph_labels"].ravel()
    except (MatReadError, NotImplementedError, ValueError, KeyError, OSError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    return [np.asarray(cell, dtype=np.float64) for cell in cells], labels.astype(np.int64)
