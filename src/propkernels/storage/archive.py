"""Archives of arrays: the container of model files."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from propkernels._utils.arrays import check_compressed
from propkernels._utils.safe_files import zip_writer

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


def as_read(array: NDArray[Any]) -> NDArray[Any]:
    """Return what reading a written array gives, as a read-only view where the bytes are the same."""
    view = array.astype(array.dtype.newbyteorder("="), copy=False).view()
    view.setflags(write=False)
    return view


FORMATS = {"csr": csr_array, "csc": csc_array}


def sparse_matrix(kind: str, shape: Sequence[int], data: Any, indices: Any, indptr: Any) -> Any:
    """Put a matrix together; scipy's own check passes over an index pointer that ends below 0.

    Raises
    ------
    ValueError
        If an entry lies outside the matrix, or the parts do not fit.
    """
    rows, columns = (int(size) for size in shape)
    nouns = ("row", "column") if kind == "csr" else ("column", "row")
    if min(rows, columns) < 0 or data.ndim != 1 or data.dtype.kind not in "biuf" or len(data) != len(indices):
        raise ValueError("the parts of a sparse matrix do not fit together")
    lengths = (rows, columns) if kind == "csr" else (columns, rows)
    check_compressed(indptr, indices, len(data), lengths, nouns, "a sparse matrix")
    matrix = FORMATS[kind]((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix


HEADER = "model.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same model makes the same file, to the byte


def write_archive(stream: IO[bytes], header: str, arrays: Sequence[NDArray[Any]]) -> None:
    """Write the JSON first, and then one member for each array."""
    with zip_writer(stream) as archive:
        archive.writestr(ZipInfo(HEADER, LONG_AGO), header)
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
    return from_json(archive.read(HEADER).decode("ascii"))


def to_json(header: dict[str, Any]) -> str:
    """Write a header as text."""
    return json.dumps(header, allow_nan=False, ensure_ascii=True)


def from_json(text: str) -> dict[str, Any]:
    """Read a header; words for numbers that JSON lacks are refused."""
    header = json.loads(text, parse_constant=_refuse)
    if not isinstance(header, dict):
        raise TypeError("its JSON is not an object")
    return header


def read_array(archive: ZipFile, number: int) -> NDArray[Any]:
    """Read one array."""
    return from_bytes(archive.read(member(number)))


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
