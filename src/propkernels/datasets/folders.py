"""Data sets from folders: images, point clouds, graph files or Parquet files, a subfolder per class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import reason_of
from propkernels._utils.parallel import workers
from propkernels._utils.safe_files import open_regular
from propkernels.convert.parquet import read_parquet
from propkernels.convert.points import from_points
from propkernels.datasets.dataset import Dataset, refuse_foreign
from propkernels.datasets.graph_files import FORMATS, read_graph_files
from propkernels.datasets.reading import Reading
from propkernels.datasets.tu_reader import read_tu
from propkernels.graphs import GraphDatabase

Reader = Callable[[Path, Sequence[Path], Reading], Dataset]


def read_folder(path: Path, how: Reading) -> Dataset:
    """Return the data set of a folder: a TU data set, or files of one kind, with a subfolder per class."""
    files = [
        file
        for pattern in ("*", "*/*")
        for file in sorted(path.glob(pattern))
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    if any(file.name.endswith("_A.txt") for file in files):
        how.refuse_columns("TU data sets")
        data = read_tu(path, target_required=how.target_required, n_jobs=how.n_jobs)
        target = how.stored_target(data.target, len(data.graphs), path)
        return replace(data, target=target, target_names=() if how.target_columns else data.target_names)
    for suffixes, reader in READERS:
        chosen = [file for file in files if file.suffix.lower() in suffixes]
        nested = [file for file in chosen if file.parent != path]
        for file in chosen:
            open_regular(file, path).close()  # refuses links out of the folder
        if chosen:
            return reader(path, nested or chosen, how)
    for file in files:
        refuse_foreign(file)
    raise ValueError(f"{path} has no files that can be read: {FOLDERS}")


def _read_images(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    from propkernels.images.gray_levels import GrayLevels
    from propkernels.images.image_folder import read_image_folder

    how.refuse_columns("images")
    folder = read_image_folder(path)
    grids = GrayLevels().fit_transform(folder.images)
    target = _classes([Path(name) for name in folder.paths], "images", path, how)
    return Dataset(
        path.name, grids, target, folder.target_names, {"paths": folder.paths, "images": folder.images}
    )


def read_clouds(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    """Return nearest-neighbor graphs of point clouds, see :func:`propkernels.from_points`."""
    how.refuse_columns("point clouds")
    names = [file.relative_to(path) for file in files]
    clouds = [read_points(file) for file in files]
    ids = [name.as_posix() for name in names]
    graphs = from_points(clouds, ids=ids, errors=how.errors)
    is_kept = [name not in graphs.skipped for name in ids]
    kept = [name for name, keep in zip(names, is_kept, strict=True) if keep]
    target = _classes(kept, "point clouds", path, how)
    classes = tuple(sorted(set(target.tolist()))) if target.ndim == 1 else ()
    places = stacked([cloud for cloud, keep in zip(clouds, is_kept, strict=True) if keep])
    extras = {"coordinates": places} if len(places) == graphs.n_nodes else {}
    return Dataset(path.name, graphs, target, classes, extras)


def _read_graph_files(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    suffixes = sorted({file.suffix.lower() for file in files})
    if len(suffixes) > 1:
        raise ValueError(f"{path} has files of several formats ({', '.join(suffixes)}): use one per folder")
    return read_graph_files(files, how, path.name, path)


def _read_parquet_files(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    how.refuse_columns("Parquet files of graphs")
    with workers(how.n_jobs):
        parts = [read_parquet(file) for file in files]
    graphs = GraphDatabase.concat([part for part, _ in parts])
    targets = [target for _, target in parts if target is not None]
    if len(targets) not in (0, len(parts)):
        raise ValueError(f"{path}: some of its Parquet files have a target, and others have none")
    target = np.concatenate(targets) if targets else None
    return Dataset(path.name, graphs, how.stored_target(target, len(graphs), path))


def read_points(path: Path) -> NDArray[np.float64]:
    """Return the coordinates of a cloud, (points, 2 or 3); raise ValueError if the file is invalid."""
    try:
        points = _read_npy(path)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as a point cloud: {reason_of(error)}") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3) or points.dtype.kind not in "fiu":
        raise ValueError(
            f"{path} has an array of {points.dtype} of shape {points.shape}: a point cloud has one row per "
            "point and two or three coordinates; save the coordinates alone"
        )
    return points.astype(np.float64)


def stacked(clouds: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the coordinates of several clouds below each other; those in the plane have z = 0 in space.

    Examples
    --------
    >>> stacked([np.ones((1, 3)), np.zeros((2, 2))]).shape
    (3, 3)
    """
    width = max((cloud.shape[1] for cloud in clouds), default=2)
    padded = [np.pad(cloud, ((0, 0), (0, width - cloud.shape[1]))) for cloud in clouds]
    return np.vstack([np.zeros((0, width)), *padded])


def _read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file after checking that its announced size is in the file."""
    with open_regular(path) as stream:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        try:
            shape, _, dtype = read(stream)
        except Exception:  # numpy raises errors of several kinds, such as those of Python's tokenizer
            raise ValueError("its header is damaged") from None
        if dtype.kind not in "fiu" or any(isinstance(n, bool) or n < 0 for n in shape):
            raise ValueError(f"it has an array of {dtype} of shape {shape}, and not one of numbers")
        size = path.stat().st_size
        if math.prod(max(n, 1) for n in shape) * dtype.itemsize > size:
            raise ValueError(f"it announces an array of shape {shape}, and has {size:,} bytes")
        stream.seek(0)
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _classes(names: Sequence[Path], what: str, path: Path, how: Reading) -> Any:
    """Return the subfolder of each file; raise ValueError if a target is required and there are none."""
    if how.target_columns:
        raise ValueError(
            f"--target (target_column=) does not apply to {what}: their subfolders are the target"
        )
    if all(name.parent != Path() for name in names):
        return np.array([name.parent.name for name in names])
    if how.target_required:
        raise ValueError(f"{path} has {what} but no subfolders, one per class, to learn from")
    return np.empty((len(names), 0))


IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (IMAGES, _read_images),
    ((".npy",), read_clouds),
    (tuple(suffix for suffix in FORMATS if suffix != ".txt"), _read_graph_files),
    ((".parquet",), _read_parquet_files),
    ((".txt",), _read_graph_files),
)
FOLDERS = (
    "a folder holds a TU data set (NAME_A.txt), images, point clouds (.npy), graph files (.json, "
    ".edges) or Parquet files, with or without a subfolder per class"
)
