"""BRODATZ: rotated and scaled texture patches, after the data set Brodatz32 of the paper."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice
from propkernels.datasets.dataset import IMAGE_FILES, Dataset
from propkernels.datasets.pictures import find_pictures, label_gray
from propkernels.datasets.textures import cut_patches
from propkernels.datasets.tu_files import open_archive, read_member

VERSIONS = ("original", "rotated", "scaled", "rotated_scaled")
SIDE = 64
MIDDLE = 45
Images = NDArray[np.uint8]


def load_brodatz(
    versions: str | Iterable[str] = VERSIONS,
    *,
    n_levels: int = 3,
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load patches of 32 Brodatz textures: 16 per texture, in up to four versions each.

    Each crop of 256 x 256 is cut into 16 patches of 64 x 64, the originals. "rotated" rotates a patch by 90
    degrees; "scaled" enlarges its central 45 x 45 pixels to 64 x 64, bilinearly; "rotated_scaled" does both.
    Each patch is histogram-equalized and quantized separately, so that its gray levels are about equally
    frequent and textures differ only in their arrangement.

    Parameters
    ----------
    versions : str or iterable of str
        Any of "original", "rotated", "scaled", "rotated_scaled"; all four give 2,048 grids.
    n_levels : int, default=3
        Number of gray levels, which are the labels.
    folder : str or path, optional
        Folder of ``brodatz32.zip``; by default PROPKERNELS_DATA.

    Returns
    -------
    Dataset
        ``graphs`` is a GridDatabase. ``extras["groups"]`` numbers the patches: keep all versions of a patch
        in the same fold (``StratifiedGroupKFold``). ``extras["versions"]`` and ``extras["images"]``, the
        patches before equalization (uint8), are in the order of the grids.
    """
    chosen = [versions] if isinstance(versions, str) else list(versions)
    for version in chosen:
        check_choice(version, VERSIONS, "versions")
    if not chosen:
        raise ValueError("versions must name at least one version")
    names, crops = read_crops(find_pictures(IMAGE_FILES["BRODATZ"], folder))
    patches = np.concatenate([cut_patches(crop, SIDE) for crop in crops])
    images = np.concatenate([make_version(patches, version) for version in chosen])
    groups = np.tile(np.arange(len(patches)), len(chosen))
    extras = {"groups": groups, "versions": np.repeat(chosen, len(patches)), "images": list(images)}
    target = groups // (len(patches) // len(crops))
    return Dataset("BRODATZ", label_gray(images, n_levels), target, names, extras, _description(n_levels))


def read_crops(path: Path) -> tuple[tuple[str, ...], list[Images]]:
    """Return names and images of the crops, sorted by name."""
    from propkernels.images.image_folder import decode_image

    with open_archive(path) as archive:
        members = sorted(member for member in archive.namelist() if member.endswith(".png"))
        if not members:
            raise ValueError(f"{path.name} does not contain images (.png)")
        crops = [decode_image(read_member(archive, member, path), member) for member in members]
    return tuple(PurePosixPath(member).stem for member in members), crops


def make_version(patches: Images, version: str) -> Images:
    """Return patches rotated by 90 degrees, enlarged at their center, or both."""
    if "scaled" in version:
        patches = np.stack([_enlarged(patch) for patch in patches])
    return np.rot90(patches, axes=(1, 2)) if "rotated" in version else patches


def _enlarged(patch: Images) -> Images:
    from PIL import Image

    first = (SIDE - MIDDLE) // 2
    middle: Any = Image.fromarray(patch).crop((first, first, first + MIDDLE, first + MIDDLE))
    return np.asarray(middle.resize((SIDE, SIDE), Image.Resampling.BILINEAR))


def _description(n_levels: int) -> str:
    return (
        "Crops of 32 textures of the Brodatz album, a stand-in for the data set Brodatz32 of Valkealahti and "
        f"Oja (1998): patches of {SIDE} x {SIDE}, original, rotated by 90 degrees, scaled (the middle "
        f"{MIDDLE} x {MIDDLE} pixels enlarged), and both; histogram-equalized one by one, {n_levels} levels."
    )
