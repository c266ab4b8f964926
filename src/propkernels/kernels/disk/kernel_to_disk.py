"""kernel_to_disk: a kernel matrix that does not fit into memory, written tile by tile, and resumable."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.graphs.check import check_graphs
from propkernels.kernels.disk.journal import Journal
from propkernels.kernels.disk.matrix_files import KINDS, MatrixFile, check_space
from propkernels.kernels.pairwise.checkpoint import fingerprint
from propkernels.kernels.training_tiles import TrainingTiles
from propkernels.utils.checks import check_integer, shown
from propkernels.utils.files import Pathlike
from propkernels.utils.progress import ProgressBar

NOT_IN_THE_KERNEL = ("n_jobs", "time_limit", "checkpoint", "device")
SYNC_EVERY = 5.0  # seconds: so much work is done again after a kill


def kernel_to_disk(kernel: Any, graphs: Any, path: Pathlike, *, tile: int = 2048) -> Any:
    """Write the kernel matrix of graphs to the disk, tile by tile, in bounded memory.

    The matrix has the bits that ``kernel.fit_transform(graphs)`` would return, normalization included. While
    it is being written it is called ``PATH.partial``, and a journal ``PATH.journal`` says which tiles are on
    the disk: after a kill, a full disk or Ctrl-C, the same call goes on from there. In memory are the graphs,
    their counts, and a few tiles.

    Parameters
    ----------
    kernel : estimator
        A kernel of this library; it is cloned. Its ``random_state`` must be a number, and ``time_limit`` and
        ``checkpoint`` are not used.
    graphs : GraphDatabase or sequence of graphs
        See :func:`propkernels.check_graphs`.
    path : str or path
        A new file ``.npy``, or folder ``.zarr`` (which needs the extra ``zarr``).
    tile : int, default=2048
        Rows and columns of a tile.

    Returns
    -------
    numpy.memmap or zarr.Array
        The matrix, opened for reading.

    Raises
    ------
    FileExistsError
        If ``path`` exists.
    ValueError
        If ``PATH.partial`` is of other graphs, parameters or tiles.

    See Also
    --------
    GraphIndex : Searches graphs without a matrix.
    LinearModel : Learns from features without a matrix.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    >>> kernel = pk.PropagationKernel(t_max=2, normalize=True, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     matrix = pk.kernel_to_disk(kernel, graphs, f"{folder}/K.npy", tile=8)
    ...     bool((matrix == kernel.fit_transform(graphs)).all())
    ...     del matrix
    True
    """
    target, tile = _check_path(path), check_integer(tile, "tile", 1)
    _check_kernel(kernel)
    database = check_graphs(graphs)
    mark = fingerprint(database, kernel, NOT_IN_THE_KERNEL)
    journal = Journal(_beside(target, ".journal"), {"of": mark, "graphs": len(database), "tile": tile})
    kind = KINDS[target.suffix]
    with kind(_beside(target, ".partial"), len(database), tile) as file:
        done = _begin(file, journal, target)
        _fill(file, journal, clone(kernel).fit(database).training_tiles(), done)
    os.replace(file.path, target)
    journal.remove()
    return kind.read(target)


def _check_path(path: Pathlike) -> Path:
    target = Path(path)
    if target.suffix not in KINDS:
        raise ValueError(f"a kernel matrix is written to a .npy file or a .zarr folder, got {target.name!r}")
    if target.exists():
        raise FileExistsError(f"{target} exists and was left as it is: name another file, or remove it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.name} cannot be written: {target.parent} is not a folder")
    return target


def _check_kernel(kernel: Any) -> None:
    if isinstance(kernel, type) or not hasattr(kernel, "training_tiles"):
        raise TypeError(f"kernel must be a kernel of this library, got {shown(kernel)}")
    if getattr(kernel, "learns_weights", False):
        raise ValueError("weights that are learned need the whole matrix at once: give the sum its weights")
    for name, value in kernel.get_params(deep=True).items():
        is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if name.rpartition("__")[2] == "random_state" and not is_number:
            raise ValueError(
                f"{name} must be a number, got {shown(value)}: work that was killed and goes on needs the "
                "same random numbers"
            )


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(target.name + suffix)


def _begin(file: MatrixFile, journal: Journal, target: Path) -> set[int]:
    """Open what there is, or make it; return the tiles that are done, and still hold what was written."""
    if not file.path.exists():
        check_space(target, file.n)
        journal.begin()  # first: a file without a journal is refused
        file.create()
    elif not journal.exists():
        raise ValueError(f"{file.path} has no journal, so that nobody knows what is in it: remove it")
    done = journal.done(len(tiles := _tiles(file)))
    file.open()
    return {number for number, crc in done.items() if _found(file, *tiles[number]) == crc}


def _found(file: MatrixFile, rows: slice, columns: slice) -> int | None:
    """Checksum of a tile on the disk; None where its mirror image is not that."""
    values = file.tile_of(rows, columns)
    if rows != columns and not np.array_equal(values, file.tile_of(columns, rows).T, equal_nan=True):
        return None
    return checksum(values)


def checksum(values: NDArray[np.float64]) -> int:
    """CRC-32 of the bytes of a tile, row by row."""
    return crc32(np.ascontiguousarray(values, dtype="<f8").tobytes())


def _tiles(file: MatrixFile) -> list[tuple[slice, slice]]:
    """Tiles on and above the diagonal, row by row; the others mirror them."""
    cuts = [slice(a, min(a + file.tile, file.n)) for a in range(0, file.n, file.tile)]
    return [(rows, columns) for i, rows in enumerate(cuts) for columns in cuts[i:]]


def _fill(file: MatrixFile, journal: Journal, kernel: TrainingTiles, done: set[int]) -> None:
    """Compute and write what is missing; tiles are in the journal once they are on the disk."""
    tiles, written, saved = _tiles(file), dict[int, int](), monotonic()
    with ProgressBar("Kernel matrix", len(tiles), len(done)) as bar:
        try:
            for number, (rows, columns) in enumerate(tiles):
                if number in done:
                    continue
                values = kernel.tile(rows, columns)
                file.write(rows, columns, values)
                if rows != columns:
                    file.write(columns, rows, np.ascontiguousarray(values.T))
                written[number] = checksum(values)
                bar.step()
                if monotonic() - saved > SYNC_EVERY:
                    _save(file, journal, written)
                    saved = monotonic()
        finally:
            _save(file, journal, written)


def _save(file: MatrixFile, journal: Journal, written: dict[int, int]) -> None:
    file.sync()
    if written:
        journal.add(written)
        written.clear()
