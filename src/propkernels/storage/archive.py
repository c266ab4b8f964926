"""Container of model files: a zip archive of a JSON header and arrays."""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Sequence
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from propkernels._utils.arrays import check_compressed
from propkernels._utils.safe_files import zip_writer

KINDS = "biufcUS"  # dtype kinds: booleans, numbers, text and bytes, no objects
ALIGNED = 64  # bytes
LONGEST_HEADER = 2**16 + 10  # bytes of an npy header


def write_array(stream: IO[bytes], array: NDArray[Any], place: int = 0) -> None:
    """Write an array in npy format, without a copy; ``place`` is the position of the stream in its file.

    Spaces in the header align the numbers in the file, so that they can be mapped.
    """
    text = repr(npy.header_data_from_array_1_0(array)).encode("latin1")
    header = text + b" " * (-(place + 11 + len(text)) % ALIGNED) + b"\n"
    stream.write(npy.magic(1, 0) + struct.pack("<H", len(header)) + header)
    in_order = array if array.flags.c_contiguous else array.T if array.flags.f_contiguous else array.copy("C")
    stream.write(in_order.reshape(-1).view(np.uint8).data)


def from_bytes(data: bytes | memoryview, copy: bool = True) -> NDArray[Any]:
    """Return the array of npy bytes; raise ValueError if header and number of bytes disagree.

    Without a copy, it is a read-only view of the bytes, if these are aligned and in native order.
    """
    stream = io.BytesIO(data[:LONGEST_HEADER])
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("an array has an unknown npy version")
    shape, fortran_order, dtype = npy.read_array_header_1_0(stream)
    if dtype.kind not in KINDS or dtype.itemsize == 0:
        raise ValueError(f"an array has the unsupported dtype {dtype}")
    start, count = stream.tell(), math.prod(shape)
    if count * dtype.itemsize != len(data) - start:
        raise ValueError(f"an array of shape {shape} has {len(data) - start} bytes")
    flat = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
    as_it_is = not copy and dtype.isnative and flat.flags.aligned
    array = flat if as_it_is else flat.astype(dtype.newbyteorder("="))
    return array.reshape(shape, order="F" if fortran_order else "C")


def as_read(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as loading would return it: native byte order, read-only; a view if possible."""
    view = array.astype(array.dtype.newbyteorder("="), copy=False).view()
    view.setflags(write=False)
    return view


FORMATS = {"csr": csr_array, "csc": csc_array}


def sparse_matrix(kind: str, shape: Sequence[int], data: Any, indices: Any, indptr: Any) -> Any:
    """Return a sparse matrix from its arrays, with all indices checked.

    scipy's check accepts an index pointer that ends below 0.

    Raises
    ------
    ValueError
        If an index is outside the shape, or lengths of arrays disagree.
    """
    rows, columns = (int(size) for size in shape)
    nouns = ("row", "column") if kind == "csr" else ("column", "row")
    if min(rows, columns) < 0 or data.ndim != 1 or data.dtype.kind not in "biuf" or len(data) != len(indices):
        raise ValueError("the arrays of a sparse matrix have inconsistent shapes or types")
    lengths = (rows, columns) if kind == "csr" else (columns, rows)
    check_compressed(indptr, indices, len(data), lengths, nouns, "a sparse matrix")
    matrix = FORMATS[kind]((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix


HEADER = "model.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # fixed date: equal models give equal files


def write_archive(stream: IO[bytes], header: str, arrays: Sequence[NDArray[Any]]) -> None:
    """Write the JSON header, then one member per array."""
    with zip_writer(stream) as archive:
        archive.writestr(ZipInfo(HEADER, LONG_AGO), header)
        for number, array in enumerate(arrays):
            info = ZipInfo(member(number), LONG_AGO)
            info.file_size = array.nbytes + LONGEST_HEADER  # an upper bound, for members above 2 GB
            with archive.open(info, "w") as part:
                write_array(part, array, stream.tell())


def member(number: int) -> str:
    """Return the member name of an array."""
    return f"arrays/{number}.npy"


def check_members(archive: ZipFile, n_bytes: int) -> None:
    """Raise ValueError for compressed or encrypted members, or members larger than the file (zip bombs)."""
    members = archive.infolist()
    for info in members:
        if info.compress_type != ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
            raise ValueError(f"{info.filename} is compressed or encrypted")
    if sum(info.file_size for info in members) > n_bytes:
        raise ValueError("its members are larger than the file")


def read_header(archive: ZipFile) -> dict[str, Any]:
    """Read the JSON header."""
    return from_json(archive.read(HEADER).decode("ascii"))


def to_json(header: dict[str, Any]) -> str:
    """Return a header as JSON text."""
    return json.dumps(header, allow_nan=False, ensure_ascii=True)


def from_json(text: str) -> dict[str, Any]:
    """Return the header of JSON text; NaN and Infinity raise ValueError."""
    header = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(header, dict):
        raise TypeError("its JSON is not an object")
    return header


def read_array(archive: ZipFile, number: int) -> NDArray[Any]:
    """Read an array by its number."""
    return from_bytes(archive.read(member(number)))


def map_array(archive: ZipFile, memory: memoryview, number: int) -> NDArray[Any]:
    """Return an array by its number, as a read-only view of the mapped file."""
    info = archive.getinfo(member(number))
    # the header of a member has 30 bytes, its name and further fields, whose lengths are its last numbers
    name, further = struct.unpack("<HH", memory[info.header_offset + 26 : info.header_offset + 30])
    start = info.header_offset + 30 + name + further
    return from_bytes(memory[start : start + info.file_size], copy=False)


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
