"""The file itself: a zip whose members are stored as they are, so that none grows when it is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from propkernels.storage.arrays import from_bytes, to_bytes

HEADER = "model.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same model makes the same file, to the byte


def write_archive(stream: IO[bytes], header: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Write the JSON first, and then one member for each array."""
    with ZipFile(stream, "w", ZIP_STORED, allowZip64=True) as archive:
        text = json.dumps(header, allow_nan=False, ensure_ascii=True)
        archive.writestr(ZipInfo(HEADER, LONG_AGO), text)
        for number, array in enumerate(arrays):
            archive.writestr(ZipInfo(member(number), LONG_AGO), to_bytes(np.asarray(array)))


def member(number: int) -> str:
    """Name of an array's member."""
    return f"arrays/{number}.npy"


def check_members(archive: ZipFile, n_bytes: int) -> None:
    """Refuse compressed or encrypted members, and more bytes than the file has: nothing unpacks into more."""
    members = archive.infolist()
    for info in members:
        if info.compress_type != ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
            raise ValueError(f"{info.filename} is compressed or encrypted")
    if sum(info.file_size for info in members) > n_bytes:
        raise ValueError("its members are larger than the file")


def read_header(archive: ZipFile) -> dict[str, Any]:
    """Read the JSON."""
    header = json.loads(archive.read(HEADER).decode("ascii"), parse_constant=_refuse)
    if not isinstance(header, dict):
        raise TypeError("its JSON is no object")
    return header


def read_array(archive: ZipFile, number: int) -> NDArray[Any]:
    """Read one array."""
    return from_bytes(archive.read(member(number)))


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")
