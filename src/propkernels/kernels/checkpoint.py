"""Checkpoints of kernel matrices: atomic writes, and validation of every byte on reading."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from propkernels._utils.descriptions import digest_of
from propkernels._utils.safe_files import (
    atomic_write,
    is_system_error,
    locked,
    open_regular,
    remove_stale_files,
    write_arrays,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.fingerprint import fingerprint as graph_fingerprint
from propkernels.graphs.grid_database import GridDatabase
from propkernels.kernels.tiles import Save, TiledMatrix

FORMAT = "propkernels checkpoint 3"


@contextmanager
def checkpointed(path: Any, matrix: TiledMatrix, fingerprint: str) -> Iterator[Save]:
    """Read the tiles of a checkpoint into a matrix, and yield a function that writes the checkpoint.

    The checkpoint stays locked, since two processes on one file would overwrite each other's tiles. In a
    folder without write permission, a complete checkpoint is read without a lock.

    Raises
    ------
    ValueError
        If the file is not a valid checkpoint of this kernel matrix.
    OSError
        If another run has locked the file, or the folder is not writable; raised before the computation.
    """
    place = Path(path)
    is_writable = place.parent.is_dir() and os.access(place.parent, os.W_OK)
    with locked(place) if is_writable else nullcontext():
        _load(place, matrix, fingerprint)
        if not is_writable and matrix.completed < 1:
            raise FileNotFoundError(f"checkpoint {place}: its folder does not exist, or is not writable")
        yield lambda current: _save(place, current, fingerprint)


def _save(place: Path, matrix: TiledMatrix, fingerprint: str) -> None:
    """Write the computed tiles to a file that atomically replaces the previous checkpoint."""
    done = matrix.done.copy()  # copied first, so that tiles added by other threads are not marked
    names = {"format": np.array(FORMAT), "fingerprint": np.array(fingerprint)}
    arrays = {**names, "values": matrix.values, "done": done}
    with atomic_write(place) as stream:
        write_arrays(stream, arrays)


def _load(place: Path, matrix: TiledMatrix, fingerprint: str) -> None:
    """Read the tiles of a checkpoint, if it exists; raise if it belongs to other graphs or parameters."""
    if not os.path.lexists(place):
        return
    remove_stale_files(place.parent)  # a complete checkpoint is not rewritten, so that no write removes them
    text = np.array(fingerprint)
    stored = ""
    try:
        with open_regular(place) as stream, ZipFile(stream) as archive:
            is_current = _is_current(archive)
            if is_current:
                stored = str(_member(archive, "fingerprint", text.dtype, ()))
            if stored == fingerprint:
                values = _member(archive, "values", matrix.values.dtype, matrix.values.shape)
                done = _member(archive, "done", matrix.done.dtype, matrix.done.shape)
    except Exception as error:  # damaged archives raise many types of errors
        if is_system_error(error):
            raise
        raise ValueError(f"checkpoint {place} is not readable: delete it, or name another file") from error
    if not is_current:
        raise ValueError(
            f"checkpoint {place} has the format of another version of propkernels: delete it, or name "
            "another file"
        )
    if stored != fingerprint:
        raise ValueError(f"checkpoint {place} belongs to other graphs or parameters: name another file")
    matrix.add(values, done)


def _is_current(archive: ZipFile) -> bool:
    """Whether a checkpoint has the format of this version; versions up to 0.1 wrote no format."""
    text = np.array(FORMAT)
    names = archive.namelist()
    if "format.npy" not in names and {"fingerprint.npy", "values.npy", "done.npy"} <= set(names):
        return False
    return bool(_member(archive, "format", text.dtype, ()) == text)


def _member(archive: ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of the expected type and shape; reads no more bytes than these need."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != ZIP_STORED:
        raise ValueError(f"{name} is compressed")
    with archive.open(info) as stream:
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        header = read_header[npy.read_magic(stream)](stream)
        if header != (shape, False, dtype):
            raise ValueError(f"{name} has another type or shape: {header}")
        size = int(np.prod(shape)) * dtype.itemsize
        data = stream.read(size)
        if len(data) != size or stream.read(1):  # reading to the end also verifies the checksum
            raise ValueError(f"{name} has another length")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def fingerprint(graphs: GraphDatabase | GridDatabase, estimator: Any, without: tuple[str, ...]) -> str:
    """Return a digest of the graphs and the parameters, except those named in ``without``."""
    parameters = {
        name: _plain_numbers(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in without
    }
    return digest_of([FORMAT, type(estimator).__name__, parameters, graph_fingerprint(graphs)], "checkpoint")


def _plain_numbers(value: Any) -> Any:
    """Return arrays as lists and integers as floats (if exact), so that 1 and 1.0 are equal."""
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    if isinstance(value, (list, tuple)):
        return [_plain_numbers(item) for item in value]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and abs(value) < 2**53 else value
