"""Square matrices in files that are filled tile by tile: .npy, and .zarr."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from propkernels.utils.optional import import_optional

Matrix = NDArray[np.float64]


class MatrixFile(ABC):
    """A square matrix of float64 on the disk.

    Parameters
    ----------
    path : Path
        Where the matrix is while it is being written.
    n : int
        Number of rows.
    tile : int
        Rows and columns of a tile.
    """

    def __init__(self, path: Path, n: int, tile: int) -> None:
        self.path, self.n, self.tile = path, n, tile

    @abstractmethod
    def create(self) -> None:
        """Make the matrix, with nothing in it."""

    @abstractmethod
    def open(self) -> None:
        """Open what is there for writing; ValueError if it is not such a matrix."""

    @abstractmethod
    def write(self, rows: slice, columns: slice, values: Matrix) -> None:
        """Put a tile into its place."""

    @abstractmethod
    def tile_of(self, rows: slice, columns: slice) -> Matrix:
        """Read a tile back."""

    @abstractmethod
    def sync(self) -> None:
        """Return when all that was written is on the disk."""

    @abstractmethod
    def close(self) -> None:
        """Write no more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    @abstractmethod
    def read(path: Path) -> Any:
        """Open a complete matrix for reading, without loading it."""


class NpyFile(MatrixFile):
    """A .npy file; tiles are written row by row with plain writes, so that no memory is mapped."""

    _file: IO[bytes] | None = None

    def create(self) -> None:
        """Write the header, and reserve the length; blocks of the disk are taken as tiles come."""
        np.lib.format.open_memmap(self.path, mode="w+", dtype="<f8", shape=(self.n, self.n))

    def open(self) -> None:
        """Open for writing."""
        try:
            found = np.lib.format.open_memmap(self.path, mode="r")
        except Exception:  # numpy reads the header with Python's own parser, which has errors of many kinds
            found = None
        if found is None or (found.shape, found.dtype.str) != ((self.n, self.n), "<f8"):
            raise ValueError(f"{self.path} is not a matrix of {self.n} x {self.n}: remove it and its journal")
        self._first = int(found.offset)
        del found
        self._file = self.path.open("r+b", buffering=0)

    def write(self, rows: slice, columns: slice, values: Matrix) -> None:
        """Write the tile's part of each row."""
        assert self._file is not None
        for row, part in zip(range(rows.start, rows.stop), values.astype("<f8", order="C"), strict=True):
            self._file.seek(self._first + 8 * (row * self.n + columns.start))
            left = memoryview(part).cast("B")
            while len(left):
                left = left[self._file.write(left) :]

    def tile_of(self, rows: slice, columns: slice) -> Matrix:
        """Read the tile's part of each row."""
        assert self._file is not None
        values = np.empty((rows.stop - rows.start, columns.stop - columns.start), dtype="<f8")
        for row, part in zip(range(rows.start, rows.stop), values, strict=True):
            self._file.seek(self._first + 8 * (row * self.n + columns.start))
            if self._file.readinto(memoryview(part).cast("B")) != part.nbytes:  # type: ignore[attr-defined]
                raise ValueError(f"{self.path} is too short: remove it and its journal")
        return values

    def sync(self) -> None:
        """Flush to the disk."""
        assert self._file is not None
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    @staticmethod
    def read(path: Path) -> Any:
        """Memory-map the matrix."""
        return np.load(path, mmap_mode="r", allow_pickle=False)


class ZarrFile(MatrixFile):
    """A .zarr folder: one file per tile, each of which replaces the one before at once."""

    def create(self) -> None:
        """Make the folder."""
        zarr = _zarr()
        chunks = (min(self.tile, self.n),) * 2
        zarr.create_array(
            self.path, shape=(self.n, self.n), chunks=chunks, dtype="<f8", fill_value=float("nan")
        )

    def open(self) -> None:
        """Open for writing."""
        try:
            self._array = _zarr().open_array(self.path, mode="r+")
            fits = (self._array.shape, self._array.dtype.str) == ((self.n, self.n), "<f8")
        except (ValueError, KeyError, OSError, TypeError):
            fits = False
        if not fits:
            raise ValueError(f"{self.path} is not a matrix of {self.n} x {self.n}: remove it and its journal")

    def write(self, rows: slice, columns: slice, values: Matrix) -> None:
        """Write one chunk."""
        self._array[rows, columns] = values

    def tile_of(self, rows: slice, columns: slice) -> Matrix:
        """Read one chunk."""
        return np.asarray(self._array[rows, columns])

    def sync(self) -> None:
        """Flush all files of the folder that are new."""
        if hasattr(os, "sync"):
            os.sync()

    def close(self) -> None:
        """There is nothing to close: no file stays open."""

    @staticmethod
    def read(path: Path) -> Any:
        """Open the folder."""
        return _zarr().open_array(path, mode="r")


def _zarr() -> Any:
    return import_optional("zarr", extra="zarr", purpose="kernel matrices in .zarr need")


KINDS: dict[str, type[MatrixFile]] = {".npy": NpyFile, ".zarr": ZarrFile}


def check_space(path: Path, n: int) -> None:
    """Refuse a matrix that the disk has no room for."""
    needed, free = 8 * n * n, shutil.disk_usage(path.parent).free
    if needed > free:
        raise OSError(
            f"{path} needs {needed / 1e9:.1f} GB on the disk, and {free / 1e9:.1f} GB are free: name a file "
            "on another disk"
        )
