"""BRODATZ, PLANTS and LEAVES: pictures in the folder PROPKERNELS_DATA, quantized to grids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.datasets import Dataset
from propkernels.datasets.dataset import DATA_VARIABLE, data_folder
from propkernels.datasets.tu import open_archive, read_member
from propkernels.images import GrayLevels, KMeansColors
from propkernels.images.image_folder import as_image_folder, decode_image, is_image

VERSIONS = ("original", "rotated", "scaled", "rotated_scaled")
SIDE, MIDDLE = 64, 45
Images = NDArray[np.uint8]


def find_file(name: str) -> Path:
    """Return the path of a file of pictures; raise FileNotFoundError with the required folder."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(f"{name} is needed: set {DATA_VARIABLE} to the folder that has it")
    if not (folder / name).is_file():
        raise FileNotFoundError(f"{name} is needed, and it is not in the folder {folder}")
    return folder / name


def load_brodatz(versions: Sequence[str] = VERSIONS) -> Dataset:
    """Load patches of 32 Brodatz textures: 16 per texture, in up to four versions each.

    Each crop of 256 x 256 is cut into 16 patches of 64 x 64, the originals. "rotated" rotates a patch by 90
    degrees; "scaled" enlarges its central 45 x 45 pixels to 64 x 64, bilinearly; "rotated_scaled" does both.
    Each patch is histogram-equalized and quantized separately, so that its three gray levels are about
    equally frequent and textures differ only in their arrangement. ``extras["groups"]`` numbers the patches:
    all versions of a patch belong in the same fold.
    """
    names, crops = read_crops(find_file("brodatz32.zip"))
    patches = np.concatenate([cut_patches(crop, SIDE) for crop in crops])
    images = np.concatenate([make_version(patches, version) for version in versions])
    groups = np.tile(np.arange(len(patches)), len(versions))
    extras = {"groups": groups, "versions": np.repeat(versions, len(patches)), "images": list(images)}
    grids = GrayLevels(3, scale="equalize").fit_transform(images)
    return Dataset("BRODATZ", grids, groups // (len(patches) // len(crops)), names, extras)


def read_crops(path: Path) -> tuple[tuple[str, ...], list[Images]]:
    """Return names and images of the crops, sorted by name."""
    with open_archive(path) as archive:
        members = sorted(member for member in archive.namelist() if member.endswith(".png"))
        if not members:
            raise ValueError(f"{path.name} does not contain images (.png)")
        crops = [decode_image(read_member(archive, member, path), member) for member in members]
    return tuple(PurePosixPath(member).stem for member in members), crops


def cut_patches(image: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the square patches of an image, row by row; incomplete patches are dropped."""
    rows, columns = image.shape[0] // size, image.shape[1] // size
    blocks = image[: rows * size, : columns * size].reshape(rows, size, columns, size)
    return blocks.swapaxes(1, 2).reshape(rows * columns, size, size)


def make_version(patches: Images, version: str) -> Images:
    """Return patches rotated by 90 degrees, enlarged at their center, or both."""
    from PIL import Image

    if "scaled" in version:
        first = (SIDE - MIDDLE) // 2
        box = (first, first, first + MIDDLE, first + MIDDLE)
        middles = [Image.fromarray(patch).crop(box) for patch in patches]
        patches = np.stack([np.asarray(m.resize((SIDE, SIDE), Image.Resampling.BILINEAR)) for m in middles])
    return np.rot90(patches, axes=(1, 2)) if "rotated" in version else patches


def load_plants() -> Dataset:
    """Load 146 regions of beet leaves, 3 classes of disease symptoms: the authors' own excerpt of PLANTS.

    Labels are five colors, a k-means palette of all images; the black background is one of them, as in the
    paper, so that the shape of a region counts.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    path = find_file("plants_demo.mat")
    try:
        content: dict[str, Any] = loadmat(path, mat_dtype=True)
        cells, labels = content["A"].ravel(), content["graph_labels"].ravel()
    except (MatReadError, NotImplementedError, ValueError, KeyError, OSError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    images = [np.asarray(cell, dtype=np.float64) for cell in cells]
    grids = KMeansColors(5, random_state=0).fit_transform(images)
    return Dataset("PLANTS", grids, labels.astype(np.int64), ("1", "2", "3"), {"images": images})


def load_leaves(n_colors: int = 5) -> Dataset:
    """Load 2,556 leaf photographs of PlantDoc, 28 classes, at most 75 pixels per side.

    Labels are colors, a k-means palette of all images; ``extras["split"]`` is "train" or "test" for each.
    """
    path = find_file("plantdoc_75px.zip")
    with open_archive(path) as archive:
        members = sorted(member for member in archive.namelist() if is_image(Path(member).name))
        if not members:
            raise ValueError(f"{path.name} does not contain images")
        found = as_image_folder((member, read_member(archive, member, path)) for member in members)
    split = np.array([Path(member).parent.parent.name for member in members])
    grids = KMeansColors(n_colors, random_state=0).fit_transform(found.images)
    extras = {"images": list(found.images), "split": split}
    return Dataset("LEAVES", grids, found.target, found.target_names, extras)
