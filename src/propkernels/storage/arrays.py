"""Arrays as bytes in numpy's own format, read with care."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

KINDS = "biufcUS"  # booleans, numbers, text and bytes: nothing that refers to objects


def to_bytes(array: NDArray[Any]) -> bytes:
    """Write an array, header first."""
    stream = io.BytesIO()
    npy.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def from_bytes(data: bytes) -> NDArray[Any]:
    """Read an array; what its header declares must agree with the number of bytes that follow."""
    stream = io.BytesIO(data)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("the version of an array is unknown")
    shape, fortran_order, dtype = npy.read_array_header_1_0(stream)
    if dtype.kind not in KINDS or dtype.itemsize == 0:
        raise ValueError(f"an array has the type {dtype}")
    start, count = stream.tell(), math.prod(shape)
    if count * dtype.itemsize != len(data) - start:
        raise ValueError(f"an array of shape {shape} has {len(data) - start} bytes")
    flat = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
    array = flat.astype(dtype.newbyteorder("="))
    return array.reshape(shape, order="F" if fortran_order else "C")
