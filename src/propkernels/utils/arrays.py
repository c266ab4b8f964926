"""Flat arrays with one run per graph, node or bin; sparse ones checked at the door; dense ones that must fit.

Every dense matrix goes through :func:`check_room`: what does not fit into memory is refused before it is
allocated, with the ways out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

WAYS_OUT = (
    'learn from features without a kernel matrix (solver="linear", or LinearModel on PropagationFeatures), '
    "or search with GraphIndex"
)
SPARSE = "leave sparse_output=True"
ASK_FROM = 2**26  # bytes; asking the system takes a millisecond, as long as a small kernel matrix does
MEMINFO = Path("/proc/meminfo")
CGROUPS = Path("/sys/fs/cgroup")
# Names of the limit, of what is used, and of the part of it that the system gives back when asked: version 2
# of control groups, and version 1.
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where runs of these lengths start in a flat array, and where the last one ends.

    Examples
    --------
    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    values = np.asarray(lengths)
    ends = np.zeros(len(values) + 1, dtype=np.int64)
    if len(values):
        np.cumsum(values, dtype=np.int64, out=ends[1:])
    return ends


def sum_in_order(parts: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add up arrays one after the other, into the first, which must not be used elsewhere.

    Each entry is the same however many there are beside it; ``np.sum(parts, axis=0)`` adds in another order
    where each array has one entry.

    Examples
    --------
    >>> sum_in_order([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    array([4., 6.])
    """
    return reduce(lambda total, part: np.add(total, part, out=total), parts)


def index_dtype(*numbers: int) -> type[np.signedinteger[Any]]:
    """Return the smaller of int32 and int64 that holds all the numbers: scipy's rule for sparse matrices.

    Examples
    --------
    >>> index_dtype(7, 2**31 - 1).__name__, index_dtype(2**31).__name__
    ('int32', 'int64')
    """
    return np.int32 if max(numbers) < 2**31 else np.int64


def ranges(starts: ArrayLike, lengths: ArrayLike) -> NDArray[np.int64]:
    """Concatenate ``arange(start, start + length)`` for each pair.

    Examples
    --------
    >>> ranges([5, 0], [2, 3])
    array([5, 6, 0, 1, 2])
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(np.asarray(starts, dtype=np.int64) - (ends - lengths), lengths)


def power_of_two(least: int) -> int:
    """Return the smallest power of two that is at least so large, as sizes of hash tables are.

    Examples
    --------
    >>> [power_of_two(n) for n in (0, 1, 2, 3, 1000)]
    [1, 1, 2, 4, 1024]
    """
    power = 1
    while power < least:
        power *= 2
    return power


def check_sparse(matrix: Any, name: str) -> Any:
    """Return a 2-d sparse matrix whose indices all lie inside its shape.

    scipy believes the arrays of which a matrix is made; its loops and ours would read outside of them. The
    arrays are looked through once, before anything is converted.

    Parameters
    ----------
    matrix : scipy sparse matrix or array, of any format
    name : str
        What it is called in an error.

    Returns
    -------
    sparse matrix
        The same one; a dok matrix becomes coo.

    Raises
    ------
    ValueError
        One sentence that names the first thing found wrong.

    Examples
    --------
    >>> broken = csr_array((np.ones(1), np.array([7]), np.array([0, 1, 1])), shape=(2, 2))
    >>> check_sparse(broken, "adjacency")
    Traceback (most recent call last):
    ...
    ValueError: adjacency is damaged: it has an entry in column 7, but 2 columns
    """
    rows, columns = matrix.shape
    kind = matrix.format
    if kind in ("csr", "csc"):
        lengths = (rows, columns) if kind == "csr" else (columns, rows)
        nouns = ("row", "column") if kind == "csr" else ("column", "row")
        _check_compressed(matrix.indptr, matrix.indices, len(matrix.data), lengths, nouns, name)
    elif kind == "bsr":
        height, width = matrix.data.shape[1:]
        lengths = (rows // max(height, 1), columns // max(width, 1))
        nouns = ("row of blocks", "column of blocks")
        _check_compressed(matrix.indptr, matrix.indices, len(matrix.data), lengths, nouns, name)
    elif kind == "dia":
        if np.shape(matrix.offsets) != matrix.data.shape[:1]:
            raise ValueError(f"{name} is damaged: {_many(len(matrix.data), 'diagonal')} and other offsets")
    elif kind == "lil":
        _check_lists(matrix, name)
    else:
        matrix = matrix if kind == "coo" else _to_coo(matrix, name)
        for axis, (noun, length) in enumerate((("row", rows), ("column", columns))):
            places = matrix.coords[axis]
            if len(places) != len(matrix.data):
                raise ValueError(f"{name} is damaged: {len(matrix.data)} values have {len(places)} {noun}s")
            _check_range(places, length, noun, name)
    return matrix


def _to_coo(matrix: Any, name: str) -> Any:
    try:
        return matrix.tocoo()
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def _check_compressed(
    indptr: Any, indices: Any, n_values: int, lengths: tuple[int, int], nouns: tuple[str, str], name: str
) -> None:
    """Offsets that start at 0, never fall and end within the values; indices inside the shape."""
    if indptr.dtype.kind not in "iu" or indptr.shape != (lengths[0] + 1,):
        raise ValueError(f"{name} is damaged: {_many(lengths[0], nouns[0])} and {len(indptr)} offsets")
    if indptr[0] != 0 or bool((indptr[1:] < indptr[:-1]).any()):
        raise ValueError(f"{name} is damaged: the offsets of its {nouns[0]}s do not rise from 0")
    used = int(indptr[-1])
    if used > min(n_values, len(indices)):
        found = f"{n_values} values and {len(indices)} indices"
        raise ValueError(f"{name} is damaged: its offsets end at {used}, but it has {found}")
    _check_range(indices[:used], lengths[1], nouns[1], name)


def _check_range(places: Any, length: int, noun: str, name: str) -> None:
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError(f"{name} is damaged: its {noun} indices are {places.dtype} values")
    if places.size and not (int(places.min()) >= 0 and int(places.max()) < length):
        wrong = int(places.min()) if int(places.min()) < 0 else int(places.max())
        raise ValueError(f"{name} is damaged: it has an entry in {noun} {wrong}, but {_many(length, noun)}")


def _check_lists(matrix: Any, name: str) -> None:
    """The format lil: a list of columns and a list of values for each row."""
    rows, columns = matrix.shape
    if len(matrix.rows) != rows or len(matrix.data) != rows:
        raise ValueError(f"{name} is damaged: {_many(rows, 'row')} and {len(matrix.rows)} lists of columns")
    for row, (places, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(places) != len(values):
            raise ValueError(f"{name} is damaged: row {row} has {len(places)} columns, {len(values)} values")
        if places:
            _check_range(np.asarray(places), columns, "column", name)


def _many(number: int, noun: str) -> str:
    """A number and its noun: "1 column", "2 columns"."""
    first, *rest = noun.split(" ")
    return " ".join([str(number), first if number == 1 else f"{first}s", *rest])


def freeze(*arrays: NDArray[Any] | csr_array | None) -> None:
    """Make arrays, and the arrays of sparse matrices, read-only; None is passed over."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
        elif array is not None:
            freeze(array.data, array.indices, array.indptr)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, from now on read-only."""
    array.setflags(write=False)
    return array


class KernelTooLargeError(MemoryError):
    """A dense matrix would not fit into the memory that is available; nothing was computed."""


def check_room(rows: int, columns: int, matrices: int = 1, *, ways_out: str = WAYS_OUT) -> None:
    """Refuse dense matrices of floats that would not fit, before they are allocated.

    Parameters
    ----------
    rows, columns : int
    matrices : int, default=1
        How many of that shape are in memory at a time.
    ways_out : str
        What to do instead.

    Raises
    ------
    KernelTooLargeError
        With one sentence: what is needed, what there is, and the ways out.

    Examples
    --------
    >>> check_room(1000, 1000)
    >>> check_room(10**7, 10**7)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    propkernels.utils.arrays.KernelTooLargeError: a dense matrix of 10000000 x 10000000 needs 800000.0 GB ...
    """
    needed = 8 * rows * columns * matrices
    there = None if needed < ASK_FROM else available_memory()
    if there is not None and needed > there:
        several = "" if matrices == 1 else f" ({matrices} of them at a time)"
        raise KernelTooLargeError(
            f"a dense matrix of {rows} x {columns}{several} needs {needed / 1e9:.1f} GB of memory, and "
            f"{there / 1e9:.1f} GB are available: {ways_out}"
        )


def available_memory() -> int | None:
    """Bytes that can be allocated before the system has to end a process, or None where nobody can tell.

    On Linux this is the least of what the machine and every control group of the process have left; on macOS
    all of the machine's memory; on Windows None, since an allocation that is too large fails there by itself.
    """
    if MEMINFO.exists():
        return min((*_machine(), *_control_groups()), default=None)
    with suppress(ValueError, OSError, AttributeError):
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    return None


def _machine() -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024 * int(line.split()[1])


def _control_groups(processes: Path = Path("/proc/self/cgroup"), root: Path = CGROUPS) -> Iterator[int]:
    """What is left in the groups of this process, from the innermost one outward."""
    with suppress(OSError):
        for line in processes.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                yield from _left_inside(root, path, *_VERSION_2)
            elif "memory" in controllers.split(","):
                yield from _left_inside(root / "memory", path, *_VERSION_1)


def _left_inside(root: Path, path: str, limit: str, usage: str, inactive: str) -> Iterator[int]:
    inner = root / path.strip("/")
    for group in (inner, *inner.parents):
        if root != group and root not in group.parents:
            return
        with suppress(OSError, ValueError):  # "max": without a limit
            most, used = int((group / limit).read_text()), int((group / usage).read_text())
            yield max(most - used + _reclaimable(group, inactive), 0)


def _reclaimable(group: Path, name: str) -> int:
    with suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text().splitlines():
            if line.split()[0] == name:
                return int(line.split()[1])
    return 0
