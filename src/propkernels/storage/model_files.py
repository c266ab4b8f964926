"""save_model and load_model: fitted estimators in files that are safe to load.

A file is a zip archive of a JSON header and arrays.
"""

from __future__ import annotations

import io
import json
import math
import mmap
import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Literal, overload
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from propkernels._utils.checks import reason_of, shown
from propkernels._utils.safe_files import Pathlike, atomic_write, open_regular, zip_writer
from propkernels._utils.typing import Estimator
from propkernels._version import __version__
from propkernels.graphs.database import GraphDatabase
from propkernels.search.index import GraphIndex
from propkernels.storage.classes import name_of
from propkernels.storage.codec import KINDS, Decoder, Encoder


class ModelFileError(ValueError):
    """A file is damaged, is not a model file, or was written by a newer version.

    See Also
    --------
    load_model : Raises this error.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     pk.load_model(file.name)
    Traceback (most recent call last):
    ...
    propkernels.storage.model_files.ModelFileError: ...
    """


FORMAT, FORMAT_VERSION = "propkernels model", 1


def save_model(model: Estimator | GraphDatabase, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator or index, or graphs, to one file.

    The file is a zip of JSON and arrays, without code. An existing file is replaced only after the new one is
    complete. Equal models give equal files.

    Parameters
    ----------
    model : estimator of this library, or GraphDatabase
    path : path
        Any name; the usual suffix is ``.pk``.

    Raises
    ------
    TypeError
        If the model contains an object of another library, such as a function as base kernel or a custom
        scheme; the message names the attribute.
    ValueError
        If :func:`load_model` would refuse the file; this is checked before anything is written.

    See Also
    --------
    load_model : Load the file.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> kernel = pk.PropagationKernel(t_max=2, random_state=0).fit(data.graphs[:20])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pk.save_model(kernel, f"{folder}/kernel.pk")
    ...     again = pk.load_model(f"{folder}/kernel.pk")
    >>> bool((again.transform(data.graphs[20:]) == kernel.transform(data.graphs[20:])).all())
    True
    """
    write_model(model, path, {})


def write_model(model: Any, path: str | os.PathLike[str], notes: dict[str, str]) -> None:
    """Save a model with notes, which :func:`read_model` returns and ``load_model`` ignores."""
    if not is_model(model):
        raise TypeError(
            f"save_model takes an estimator of this library or a GraphDatabase, got {shown(model)}"
        )
    encoder = Encoder()
    tree = encoder.encode(model, type(model).__name__)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "propkernels": __version__,
        "n_arrays": len(encoder.arrays),
        "model": tree,
    } | ({"notes": notes} if notes else {})
    text = _checked_text(header, encoder.arrays, type(model).__name__)
    with atomic_write(path) as stream:
        write_archive(stream, text, encoder.arrays)


def _checked_text(header: dict[str, Any], arrays: list[NDArray[Any]], name: str) -> str:
    """Return the header as text, after checking that ``load_model`` would accept the model."""
    try:
        text = to_json(header)
        _decoded(from_json(text), lambda number: as_read(arrays[number]))
    except MemoryError:
        raise
    except Exception as error:
        reason = reason_of(error)
        raise ValueError(f"the {name} cannot be saved: load_model would refuse it ({reason})") from error
    return text


@overload
def load_model(path: Pathlike, *, mmap_mode: Literal["r"]) -> GraphIndex: ...
@overload
def load_model(path: Pathlike, *, mmap_mode: None = None) -> Any: ...
def load_model(path: Pathlike, *, mmap_mode: Literal["r"] | None = None) -> Estimator | Any:
    """Load a model saved by :func:`save_model`.

    Loading an untrusted file is safe: only objects of this library are created, no code of the file is run,
    nothing is written, and all values are checked.

    Parameters
    ----------
    path : path
    mmap_mode : {"r"} or None, default=None
        "r", for a :class:`GraphIndex`: its arrays are checked, and then stay in the file. Queries read what
        they need, and processes share it. The index is read-only, and the file must not change meanwhile.

    Returns
    -------
    estimator
        Its results are bit-identical to those of the saved estimator.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file, or was written by a newer version (a ValueError).
    OSError
        If the file does not exist or is not readable.

    See Also
    --------
    save_model : Save a model.
    propkernels.storage.ModelFileError : Raised for damaged files.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pk.save_model(pk.PropagationKernel(t_max=2, random_state=0).fit(graphs), f"{folder}/kernel.pk")
    ...     kernel = pk.load_model(f"{folder}/kernel.pk")
    >>> kernel.transform(graphs).shape
    (10, 10)
    """
    if mmap_mode not in (None, "r"):
        raise ValueError(f"mmap_mode must be 'r' or None, got {shown(mmap_mode)}")
    model = read_model(path, is_mapped=mmap_mode == "r")[0]
    if mmap_mode == "r" and not isinstance(model, GraphIndex):
        raise TypeError(f"mmap_mode is for a GraphIndex, and {path} holds a {type(model).__name__}: omit it")
    return model


def read_model(path: str | os.PathLike[str], is_mapped: bool = False) -> tuple[Any, dict[str, str]]:
    """Return a saved model and its notes; arrays of a mapped one stay in the file."""
    with open_regular(path) as stream:
        try:
            return _read(stream, os.fstat(stream.fileno()).st_size, is_mapped)
        except ModelFileError as error:
            raise ModelFileError(f"{Path(path)} {error}") from None
        except Exception as error:
            reason = reason_of(error)
            text = f"{Path(path)} is damaged or not a propkernels model file ({reason})"
            raise ModelFileError(text) from error


def _read(stream: IO[bytes], n_bytes: int, is_mapped: bool) -> tuple[Any, dict[str, str]]:
    with ZipFile(stream) as archive:
        check_members(archive, n_bytes)
        if not is_mapped:
            return _decoded(read_header(archive), lambda number: read_array(archive, number))
        memory = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        return _decoded(read_header(archive), lambda number: map_array(archive, memory, number))


def _decoded(header: dict[str, Any], arrays: Callable[[int], NDArray[Any]]) -> tuple[Any, dict[str, str]]:
    """Return the model and the notes of a header; ``arrays`` returns an array by its number."""
    _check_version(header)
    model = Decoder(arrays).decode(header["model"])
    if not is_model(model):
        raise ValueError("it does not contain an estimator")
    notes = header.get("notes", {})
    if not isinstance(notes, dict) or not all(isinstance(text, str) for text in notes.values()):
        raise TypeError("its notes are not text")
    return model, notes


def is_model(thing: Any) -> bool:
    """Whether an object is a savable estimator or a GraphDatabase."""
    return name_of(thing) is not None and (hasattr(thing, "get_params") or isinstance(thing, GraphDatabase))


def _check_version(header: dict[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise ModelFileError("is not a propkernels model file")
    version = header["format_version"]
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"its format version is {version!r}")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"was written by propkernels {header.get('propkernels')} in format {version}, but this is "
            f"propkernels {__version__}, which reads formats up to {FORMAT_VERSION}: install a newer one"
        )


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
