"""Checkpoints of kernel matrices: written at once or not at all, and believed only where all of it fits."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from numbers import Number
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grids.database import GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.pairwise.tiles import Save, TiledMatrix
from propkernels.utils.files import (
    atomic_write,
    is_system_error,
    locked,
    open_regular,
    remove_stale_files,
    write_arrays,
)
from propkernels.utils.randomness import label_keys

FORMAT = b"propkernels checkpoint 2"


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
    """A digest of the graphs and of all parameters that the kernel depends on: of bytes, never of a text."""
    digest = hashlib.sha256(FORMAT)
    parameters = {
        name: value for name, value in estimator.get_params(deep=False).items() if name not in without
    }
    for part in _bytes([type(estimator).__name__, parameters, *_contents(graphs)]):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _contents(graphs: GraphDatabase | GridDatabase) -> list[Any]:
    """The arrays that graphs, or grids, are made of."""
    if isinstance(graphs, GridDatabase):
        return [graphs.shapes, graphs.inside, *_labels(graphs.label_column)]
    adjacency = graphs.adjacency
    edges = [adjacency.indptr, adjacency.indices, adjacency.data, graphs.graph_ptr, graphs.node_attributes]
    return [*edges, *_labels(graphs.label_column), *_labels(graphs.edge_label_column)]


def _labels(column: Any) -> list[Any]:
    if isinstance(column, LabelDistributions):
        matrix = column.probabilities
        arrays = [matrix.indptr, matrix.indices, matrix.data, column.known, column.observed]
        return [label_keys(column.values), *arrays]
    if isinstance(column, LabelColumn):
        return [label_keys((*column.values, ("unobserved",)))[column.ids]]
    return [None]


def _bytes(thing: Any) -> Iterator[bytes]:
    """What a value is made of: kind by kind, numbers bit by bit, and how many parts each part has."""
    if isinstance(thing, np.generic):
        thing = thing.item()
    if thing is None or isinstance(thing, (bool, str)):
        yield f"{type(thing).__name__} {thing}".encode("utf-8", "surrogatepass")
    elif isinstance(thing, (int, float)):
        exact = isinstance(thing, float) or abs(thing) < 2**53  # 1 and 1.0 are one number
        yield b"number " + (float(thing).hex() if exact else f"{thing:x}").encode()
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        yield f"array {thing.dtype.str} {thing.shape}".encode()
        yield np.ascontiguousarray(thing).tobytes()
    elif hasattr(thing, "__array__") and not isinstance(thing, np.ndarray):
        yield from _bytes(np.asarray(thing))
    elif isinstance(thing, (Sequence, np.ndarray)):
        values = list(thing)
        if values and all(isinstance(value, Number) for value in values):
            yield from _bytes(np.asarray(values, dtype=np.float64))
            return
        yield f"list {len(values)}".encode()
        for value in values:
            yield from _bytes(value)
    elif isinstance(thing, dict):
        yield f"dict {len(thing)}".encode()
        for key in sorted(thing, key=str):
            yield from _bytes(key)
            yield from _bytes(thing[key])
    elif isinstance(thing, BaseEstimator):
        yield f"object {type(thing).__module__}.{type(thing).__qualname__}".encode()
        yield from _bytes(thing.get_params(deep=False))
    else:
        raise TypeError(f"a checkpoint cannot keep apart values of type {type(thing).__name__}")
