"""Checkpoints of kernel matrices: written at once or not at all, and believed only where all of it fits."""

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
    """Fill in what a checkpoint knows, and yield a function that writes it again, with what is known then.

    The checkpoint is locked meanwhile: of two processes on one file, each would overwrite tiles of the other.
    Where nothing can be written, a whole checkpoint is read without a lock.

    Raises
    ------
    ValueError
        If the file is not a whole checkpoint of this very kernel matrix.
    OSError
        If another run writes it, or nobody can write there: better said before the work than after it.
    """
    place = Path(path)
    is_writable = place.parent.is_dir() and os.access(place.parent, os.W_OK)
    with locked(place) if is_writable else nullcontext():
        _load(place, matrix, fingerprint)
        if not is_writable and matrix.completed < 1:
            raise FileNotFoundError(f"checkpoint {place}: its folder does not exist, or is not writable")
        yield lambda known: _save(place, known, fingerprint)


def _save(place: Path, matrix: TiledMatrix, fingerprint: str) -> None:
    """Write what is known to a file that replaces the one before when it is complete."""
    done = matrix.done.copy()  # first: a tile that another thread adds meanwhile is not yet marked
    arrays = {"values": matrix.values, "done": done, "fingerprint": np.array(fingerprint)}
    with atomic_write(place) as stream:
        write_arrays(stream, arrays)


def _load(place: Path, matrix: TiledMatrix, fingerprint: str) -> None:
    """Add the tiles that a checkpoint has, if there is one; refuse one of other graphs or parameters."""
    if not os.path.lexists(place):
        return
    remove_stale_files(place.parent)  # a whole checkpoint is not written again, which would remove them
    text = np.array(fingerprint)
    try:
        with open_regular(place) as stream, ZipFile(stream) as archive:
            found = str(_member(archive, "fingerprint", text.dtype, ()))
            if found == fingerprint:
                values = _member(archive, "values", matrix.values.dtype, matrix.values.shape)
                done = _member(archive, "done", matrix.done.dtype, matrix.done.shape)
    except Exception as error:  # whatever a damaged archive makes its readers raise
        if is_system_error(error):
            raise
        raise ValueError(f"checkpoint {place} is not readable: delete it, or name another file") from error
    if found != fingerprint:
        raise ValueError(f"checkpoint {place} belongs to other graphs or parameters: name another file")
    matrix.add(values, done)


def _member(archive: ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Read one array, of the type and shape that it must have: no more bytes than that are ever read."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != ZIP_STORED:
        raise ValueError(f"{name} is packed")
    with archive.open(info) as stream:
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        found = read_header[npy.read_magic(stream)](stream)
        if found != (shape, False, dtype):
            raise ValueError(f"{name} has another type or shape: {found}")
        size = int(np.prod(shape)) * dtype.itemsize
        data = stream.read(size)
        if len(data) != size or stream.read(1):  # reading to the end also compares the checksum
            raise ValueError(f"{name} has another length")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def fingerprint(graphs: GraphDatabase | GridDatabase, estimator: Any, without: tuple[str, ...]) -> str:
    """Return a digest of the graphs and of all parameters that the kernel depends on."""
    parameters = {
        name: _plain_numbers(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in without
    }
    return digest_of([FORMAT, type(estimator).__name__, parameters, graph_fingerprint(graphs)], "checkpoint")


def _plain_numbers(value: Any) -> Any:
    """Arrays as lists, and whole numbers as floats where these are exact: 1 and 1.0 are one number."""
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    if isinstance(value, (list, tuple)):
        return [_plain_numbers(item) for item in value]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and abs(value) < 2**53 else value
