"""Images in the data folder, and how they become grids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from propkernels.datasets.download import DATA_VARIABLE, data_folder
from propkernels.graphs import GridDatabase


def find_pictures(file: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a file with images; they are on no server, so an error says where to put them."""
    place = data_folder() if folder is None else Path(folder)
    if place is None:
        raise FileNotFoundError(f"{file} is needed: set {DATA_VARIABLE} to the folder that has it")
    if not (place / file).is_file():
        raise FileNotFoundError(f"{file} is needed, and it is not in the folder {place}")
    return place / file


def label_gray(images: Any, n_levels: int) -> GridDatabase:
    """Quantize gray images to levels that are equally frequent in each of them."""
    from propkernels.images.quantizers import GrayLevels

    return GrayLevels(n_levels, scale="equalize").fit_transform(images)


def label_colors(images: Any, n_colors: int, outside: str | None) -> GridDatabase:
    """Quantize color images to the colors of a palette that is fitted to all of them."""
    from propkernels.images.quantizers import KMeansColors

    return KMeansColors(n_colors, outside=outside, random_state=0).fit_transform(images)
