"""Flat arrays with one run per graph, node or bin; sparse ones checked at the door; dense ones that must fit.

Offsets, sizes and indices from outside go through :func:`check_offsets`, :func:`check_sizes` and
:func:`check_indices` before anything else looks at them: numpy and compiled loops believe them.

Every dense matrix goes through :func:`check_room`: what does not fit into memory is refused before it is
allocated, with the ways out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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
MOST_THINGS = 2.0**62  # in a flat array: sums below it never wrap around in 64 bits
FREE_THINGS, THINGS_PER_HOLDER = 2**20, 64  # that a file may declare without holding them
ASK_FROM = 2**26  # bytes; asking the system takes a millisecond, as long as a small kernel matrix does
MEMINFO = Path("/proc/meminfo")
CGROUPS = Path("/sys/fs/cgroup")
# Names of the limit, of what is used, and of the part of it that the system gives back when asked: version 2
# of control groups, and version 1.
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where runs of these lengths start in a flat array, and where the last one ends.

    Raises
    ------
    ValueError
        If a length is negative, or their sum is beyond 64 bits.

    Examples
    --------
    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    values = np.asarray(lengths)
    ends = np.zeros(len(values) + 1, dtype=np.int64)
    if len(values):
        np.cumsum(values, dtype=np.int64, out=ends[1:])
    if bool((ends[1:] < ends[:-1]).any()):  # a sum of numbers from 0 on that wraps around falls
        raise ValueError("lengths must not be negative, nor add up to 2**63")
    return ends


def check_whole(values: Any, name: str) -> NDArray[Any]:
    """Return a flat array of whole numbers, in the integer type that it has.

    Raises
    ------
    ValueError
        One sentence that says what was given instead.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and (array.size or array.dtype.kind != "f")):
        raise ValueError(f"{name} must list whole numbers of at most 64 bits, got {_shortly(values)}")
    return array if array.dtype.kind in "iu" else array.astype(np.int64)


def check_offsets(
    ptr: Any, total: int, name: str, *, pieces: int | None = None, piece: str = "piece"
) -> NDArray[np.int64]:
    """Return offsets that cut ``total`` things into pieces: from 0, never falling, up to the last thing.

    Neighbors are compared, not subtracted: the difference of two 64-bit numbers may wrap around.

    Parameters
    ----------
    ptr : array-like
        Where each piece begins, and where the last one ends.
    total : int
        Length of the array that is cut.
    name : str
        What the offsets are called in an error.
    pieces : int, optional
        How many pieces must result.
    piece : str, default="piece"
        What a piece is called in an error.

    Raises
    ------
    ValueError
        One sentence that names the first thing found wrong.

    Examples
    --------
    >>> check_offsets([0, 2, 2, 5], 5, "graph_ptr")
    array([0, 2, 2, 5])
    >>> check_offsets([0, 2**63 - 1, -2, 5], 5, "graph_ptr", piece="graph")
    Traceback (most recent call last):
    ...
    ValueError: graph_ptr falls from 9223372036854775807 to -2 at graph 1
    """
    array = check_whole(ptr, name)
    if len(array) == 0 or int(array[0]) != 0:
        raise ValueError(f"{name} must start at 0, got {int(array[0]) if len(array) else 'no numbers'}")
    falling = np.flatnonzero(array[1:] < array[:-1])
    if falling.size:
        i = int(falling[0])
        raise ValueError(f"{name} falls from {int(array[i])} to {int(array[i + 1])} at {piece} {i}")
    if int(array[-1]) != total:
        raise ValueError(f"{name} must end at {total}, got {int(array[-1])}")
    if pieces is not None and len(array) != pieces + 1:
        raise ValueError(f"{name} must list {pieces + 1} offsets, got {len(array)}")
    return array.astype(np.int64)


def check_sizes(
    sizes: Any, name: str, *, total: int | None = None, pieces: int | None = None
) -> NDArray[np.int64]:
    """Return sizes of pieces: none negative, with a sum that 64 bits hold, ``total`` where that is known.

    Parameters
    ----------
    sizes : array-like
    name : str
        What the sizes are called in an error.
    total : int, optional
        Length of the array that they cut.
    pieces : int, optional
        How many sizes must be listed.

    Raises
    ------
    ValueError
        One sentence that names the first thing found wrong.

    Examples
    --------
    >>> check_sizes([2, 0, 3], "n_nodes")
    array([2, 0, 3])
    >>> check_sizes([2**63 - 1, 2**63 - 1, 5], "n_nodes")
    Traceback (most recent call last):
    ...
    ValueError: n_nodes must add up to less than 2**62, got 1.8e+19
    """
    array = check_whole(sizes, name)
    if pieces is not None and len(array) != pieces:
        raise ValueError(f"{name} must list {pieces} numbers, got {len(array)}")
    if len(array) and int(array.min()) < 0:
        at = int(np.argmin(array))
        raise ValueError(f"{name} must not be negative, got {int(array[at])} at position {at}")
    found = float(array.sum(dtype=np.float64))  # cannot wrap around
    if found >= MOST_THINGS:
        raise ValueError(f"{name} must add up to less than 2**62, got {found:.2g}")
    if total is not None and int(array.sum(dtype=np.int64)) != total:
        raise ValueError(f"{name} must add up to {total}, got {int(array.sum(dtype=np.int64))}")
    return array.astype(np.int64)


def check_indices(places: Any, length: int, name: str, *, least: int = 0) -> NDArray[np.int64]:
    """Return positions in an array of some length; ``least=-1`` also takes -1, which stands for none.

    Raises
    ------
    ValueError
        One sentence that names the first number out of range.

    Examples
    --------
    >>> check_indices([2, 0], 3, "columns")
    array([2, 0])
    >>> check_indices([2, 3], 3, "columns")
    Traceback (most recent call last):
    ...
    ValueError: columns must be numbers from 0 to 2, got 3 at position 1
    """
    array = check_whole(places, name)
    if array.size and not (least <= int(array.min()) and int(array.max()) < length):
        at = int(np.argmin(array)) if int(array.min()) < least else int(np.argmax(array))
        allowed = f"numbers from {least} to {length - 1}" if length > least else "empty"
        raise ValueError(f"{name} must be {allowed}, got {int(array[at])} at position {at}")
    return array.astype(np.int64)


def check_declared(number: int, held: int, things: str, holders: str) -> None:
    """Refuse things that a file only counts, and does not hold, beyond a proportion to what it holds.

    A node without label, attributes and edges takes no byte of a file, so that a few bytes can ask for any
    number of them. Up to ``FREE_THINGS`` are allowed in any file, and ``THINGS_PER_HOLDER`` more for each
    thing that the file does hold.

    Parameters
    ----------
    number : int
        What the file declares.
    held : int
        Things in the file that take memory themselves.
    things, holders : str
        What both are called in an error.

    Examples
    --------
    >>> check_declared(10**6, 1, "nodes", "graphs and edges")
    >>> check_declared(10**8, 1, "nodes", "graphs and edges")
    Traceback (most recent call last):
    ...
    ValueError: 100,000,000 nodes are declared beside 1 graphs and edges, which allow 1,048,640 at most
    """
    most = FREE_THINGS + THINGS_PER_HOLDER * held
    if number > most:
        raise ValueError(
            f"{number:,} {things} are declared beside {held:,} {holders}, which allow {most:,} at most"
        )


def _shortly(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


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
    ends = offsets(lengths)
    shift = np.asarray(starts, dtype=np.int64) - ends[:-1]
    return np.arange(ends[-1]) + np.repeat(shift, np.diff(ends))


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
    ValueError: adjacency is damaged: its column indices must be numbers from 0 to 1, got 7 at position 0
    """
    rows, columns = matrix.shape
    kind = matrix.format
    if kind in ("csr", "csc"):
        lengths = (rows, columns) if kind == "csr" else (columns, rows)
        nouns = ("row", "column") if kind == "csr" else ("column", "row")
        check_compressed(matrix.indptr, matrix.indices, len(matrix.data), lengths, nouns, name)
    elif kind == "bsr":
        height, width = matrix.data.shape[1:]
        lengths = (rows // max(height, 1), columns // max(width, 1))
        nouns = ("row of blocks", "column of blocks")
        check_compressed(matrix.indptr, matrix.indices, len(matrix.data), lengths, nouns, name)
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
            with _damage(name):
                check_indices(places, length, f"its {noun} indices")
    return matrix


def _to_coo(matrix: Any, name: str) -> Any:
    try:
        return matrix.tocoo()
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def check_compressed(
    indptr: Any, indices: Any, n_values: int, lengths: tuple[int, int], nouns: tuple[str, str], name: str
) -> None:
    """Refuse offsets and indices of a compressed matrix that lead outside of its arrays or its shape.

    Parameters
    ----------
    indptr, indices : ndarray
    n_values : int
        How many values are stored; those behind the last offset are not used.
    lengths : pair of int
        Number of rows and columns (of a csc matrix, columns and rows).
    nouns : pair of str
        What these are called in an error.
    name : str
        What the matrix is called in an error.
    """
    with _damage(name):
        n_used = int(check_whole(indptr, "indptr")[-1]) if len(indptr) else 0
        check_offsets(indptr, n_used, "indptr", pieces=lengths[0], piece=nouns[0])
        if n_used > min(n_values, len(indices)):
            found = f"{n_values} values and {len(indices)} indices"
            raise ValueError(f"its offsets end at {n_used}, but it has {found}")
        check_indices(indices[:n_used], lengths[1], f"its {nouns[1]} indices")


@contextmanager
def _damage(name: str) -> Iterator[None]:
    """Say of a matrix that it is damaged, and why."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def _check_lists(matrix: Any, name: str) -> None:
    """The format lil: a list of columns and a list of values for each row."""
    rows, columns = matrix.shape
    if len(matrix.rows) != rows or len(matrix.data) != rows:
        raise ValueError(f"{name} is damaged: {_many(rows, 'row')} and {len(matrix.rows)} lists of columns")
    for row, (places, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(places) != len(values):
            raise ValueError(f"{name} is damaged: row {row} has {len(places)} columns, {len(values)} values")
        with _damage(name):
            check_indices(places, columns, f"its column indices in row {row}")


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
    propkernels._utils.arrays.KernelTooLargeError: a dense matrix of 10000000 x 10000000 needs 800000.0 GB ...
    """
    needed = 8 * rows * columns * matrices
    there = None if needed < ASK_FROM else available_memory()
    if there is not None and needed > there:
        several = "" if matrices == 1 else f" ({matrices} of them at a time)"
        raise KernelTooLargeError(
            f"a dense matrix of {rows} x {columns}{several} needs {in_bytes(needed)} of memory, and "
            f"{in_bytes(there)} are available: {ways_out}"
        )


def in_bytes(number: int) -> str:
    """A number of bytes in the unit that shows it.

    Examples
    --------
    >>> in_bytes(720_000_000_000), in_bytes(4_200_000), in_bytes(0)
    ('720.0 GB', '4.2 MB', '0 bytes')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number} bytes"


def available_memory() -> int | None:
    """Bytes that can be allocated before the system has to end a process, or None where nobody can tell.

    On Linux this is the least of what the machine, every control group of the process and ``ulimit -v`` have
    left; on macOS all of the machine's memory; on Windows None, since an allocation that is too large fails
    there by itself.
    """
    if MEMINFO.exists():
        return min((*_machine(), *_control_groups(), *_own_limit()), default=None)
    with suppress(ValueError, OSError, AttributeError):
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    return None


def _machine() -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024 * int(line.split()[1])


def _own_limit(pages: Path = Path("/proc/self/statm")) -> Iterator[int]:
    """What is left of the addresses that this process may use."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            used = int(pages.read_text().split()[0]) * resource.getpagesize()
            yield max(most - used, 0)


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
