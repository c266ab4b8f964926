"""Reader of point clouds: .npy arrays of coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import reason_of
from propkernels._utils.safe_files import open_regular


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


def with_places(places: NDArray[np.float64], n_nodes: int) -> dict[str, Any]:
    """Return the extras of a data set of clouds; empty if points and nodes differ, as of invalid clouds."""
    return {"coordinates": places} if len(places) == n_nodes else {}


def _read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file after checking that its announced size is in the file."""
    with open_regular(path) as stream:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError("it has Python objects instead of numbers")
        size = path.stat().st_size
        if math.prod(shape) * dtype.itemsize > size:
            raise ValueError(f"it announces an array of shape {shape}, and has {size:,} bytes")
        stream.seek(0)
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
