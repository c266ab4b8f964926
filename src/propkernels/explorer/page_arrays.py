"""Typed arrays inside a page: smallest integer types, gzip, base64."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 8


def pack(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return a section of a page: the bytes of all arrays, and the type, offset and length of each.

    Examples
    --------
    >>> section = pack({"sizes": np.array([3, 300])})
    >>> section["arrays"]
    [{'name': 'sizes', 'type': 'u2', 'offset': 0, 'length': 2}]
    """
    parts, places, offset = [], [], 0
    for name, array in arrays.items():
        small = smallest(np.ascontiguousarray(array))
        kind = small.dtype.newbyteorder("<")
        raw = small.astype(kind, copy=False).tobytes()
        places.append({"name": name, "type": kind.str[1:], "offset": offset, "length": small.size})
        padding = -len(raw) % ALIGNMENT
        parts += [raw, bytes(padding)]
        offset += len(raw) + padding
    packed = gzip.compress(b"".join(parts), compresslevel=6, mtime=0)
    return {"base64": b64encode(packed).decode("ascii"), "arrays": places}


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the smallest type that represents them; floats are unchanged.

    Examples
    --------
    >>> smallest(np.array([0, 255])).dtype, smallest(np.array([-1, 255])).dtype
    (dtype('uint8'), dtype('int16'))
    """
    if array.dtype.kind not in "iub":
        return array
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    types = ("u1", "u2", "u4") if least >= 0 else ("i1", "i2", "i4")
    for name in types:
        room = np.iinfo(name)
        if room.min <= least and most <= room.max:
            return array.astype(name)
    raise ValueError(f"a page supports integers of at most 32 bits, got {least} to {most}")


def words(codes: NDArray[Any]) -> NDArray[np.uint32]:
    """Return 64-bit codes as pairs of 32-bit words, lower word first."""
    return np.ascontiguousarray(codes).astype("<u8" if codes.dtype.kind == "u" else "<i8").view("<u4")
