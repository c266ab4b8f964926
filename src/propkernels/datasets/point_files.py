"""Readers of point clouds: .npy arrays of coordinates and .ply files of vertices."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import reason_of
from propkernels._utils.safe_files import open_regular, read_regular

SUFFIXES = (".npy", ".ply")
TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}
LONGEST_HEADER = 2**16


def read_points(path: Path) -> NDArray[np.float64]:
    """Return the coordinates of a cloud, (points, 2 or 3); raise ValueError if the file is invalid."""
    try:
        points = _read_npy(path) if path.suffix.lower() == ".npy" else read_ply(read_regular(path))
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


def read_ply(content: bytes) -> NDArray[np.float64]:
    r"""Return x, y and z of the vertices of a PLY file, ASCII or binary.

    Examples
    --------
    >>> header = b"ply\nformat ascii 1.0\nelement vertex 2\n"
    >>> axes = b"property float x\nproperty float y\nproperty float z\n"
    >>> read_ply(header + axes + b"end_header\n0 0 1\n2 0 0.5\n").tolist()
    [[0.0, 0.0, 1.0], [2.0, 0.0, 0.5]]
    """
    end = content.find(b"end_header", 0, LONGEST_HEADER)
    if not content.startswith(b"ply") or end < 0:
        raise ValueError("it has no header of PLY")
    start = content.index(b"\n", end) + 1
    order, n_points, fields = _header(content[:end].decode("ascii", "replace"))
    if n_points > len(content):
        raise ValueError(f"it announces {n_points:,} vertices, more than it has bytes")
    if order is None:
        lines = content[start:].split(b"\n", n_points)[:n_points]
        table = np.loadtxt(io.BytesIO(b"\n".join(lines)), ndmin=2, max_rows=n_points)
        if table.shape[0] != n_points or (n_points and table.shape[1] < len(fields)):
            raise ValueError(f"it announces {n_points:,} vertices, and has {len(table):,}")
        columns = [table[:, [name for name, _ in fields].index(axis)] for axis in "xyz"]
        return np.column_stack(columns).astype(np.float64)
    dtype = np.dtype([(name, order + kind) for name, kind in fields])
    if start + n_points * dtype.itemsize > len(content):
        raise ValueError(f"it announces {n_points:,} vertices, more than it has")
    vertices = np.frombuffer(content, dtype, n_points, start)
    return np.column_stack([vertices[axis] for axis in "xyz"]).astype(np.float64)


def _header(text: str) -> tuple[str | None, int, list[tuple[str, str]]]:
    """Return the byte order (None for text), the number of vertices, and names and types of their data."""
    order, n_points, fields, elements = "", -1, list[tuple[str, str]](), list[str]()
    for words in (line.split() for line in text.splitlines()[1:]):
        if words[:1] == ["format"] and len(words) == 3:
            order = words[1]
        elif words[:1] == ["element"] and len(words) == 3:
            elements.append(words[1])
            if words[1] == "vertex" and words[2].isdecimal() and len(words[2]) < 16:
                n_points = int(words[2])
        elif words[:1] == ["property"] and elements == ["vertex"]:
            if len(words) != 3 or words[1] not in TYPES:
                raise ValueError(f"the property {' '.join(words[1:])!r} of its vertices is not a number")
            fields.append((words[2], TYPES[words[1]]))
    if order not in (*ORDERS, "ascii"):
        raise ValueError(f"its format {order!r} is not ascii, {' or '.join(ORDERS)}")
    if n_points < 0 or elements[0] != "vertex" or not {"x", "y", "z"} <= {name for name, _ in fields}:
        raise ValueError("its first element is not vertex with x, y and z")
    return ORDERS.get(order), n_points, fields
