"""Flat arrays with offsets, validation of sparse matrices, and a memory check for dense matrices.

Offsets, sizes and indices from outside are validated by :func:`check_offsets`, :func:`check_sizes` and
:func:`check_indices` before any other use: numpy and compiled loops do not check them.

:func:`check_room` is called before every dense matrix is allocated; its error suggests alternatives.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from propkernels._utils.checks import shown
from propkernels._utils.safe_files import text_of

WAYS_OUT = (
    'learn from features without a kernel matrix (solver="linear", or a linear model of scikit-learn on '
    "PropagationFeatures), or search with GraphIndex"
)
SPARSE = "leave sparse_output=True"
MOST_THINGS = 2.0**62  # largest sum of sizes: never overflows 64 bits
FREE_THINGS, THINGS_PER_HOLDER = 2**20, 64  # items that a file may declare without storing them
ASK_FROM = 2**26  # bytes; smaller matrices are not checked, because the check takes a millisecond
MEMINFO = Path("/proc/meminfo")
CGROUPS = Path("/sys/fs/cgroup")


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return an array of objects with one entry per value, also if values are sequences.

    Examples
    --------
    >>> object_array([(1, 2), None]).shape, object_array([np.zeros(3), np.ones(3)]).shape
    ((2,), (2,))
    """
    return np.fromiter(values, dtype=object, count=len(values))


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return the start of each run of these lengths in a flat array, and the end of the last run.

    Raises
    ------
    ValueError
        If a length is negative, or the sum exceeds 64 bits.

    Examples
    --------
    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    values = np.asarray(lengths)
    ends = np.zeros(len(values) + 1, dtype=np.int64)
    if len(values):
        np.cumsum(values, dtype=np.int64, out=ends[1:])
    if bool((ends[1:] < ends[:-1]).any()):  # a cumulative sum that overflows decreases
        raise ValueError("lengths must not be negative, nor add up to 2**63")
    return ends


def check_whole(values: Any, name: str) -> NDArray[Any]:
    """Return values as a flat array of integers, with unchanged integer dtype.

    Raises
    ------
    ValueError
        If the values are not integers of at most 64 bits; the message shows them.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and (array.size or array.dtype.kind != "f")):
        raise ValueError(f"{name} must list whole numbers of at most 64 bits, got {shown(values)}")
    return array if array.dtype.kind in "iu" else array.astype(np.int64)


def check_offsets(
    ptr: Any, total: int, name: str, *, pieces: int | None = None, piece: str = "piece"
) -> NDArray[np.int64]:
    """Return valid offsets of pieces of an array: they start at 0, never decrease and end at ``total``.

    Consecutive offsets are compared, not subtracted: a difference of 64-bit integers may overflow.

    Parameters
    ----------
    ptr : array-like
        Start of each piece, and end of the last one.
    total : int
        Length of the array.
    name : str
        Name of the offsets in errors.
    pieces : int, optional
        Required number of pieces.
    piece : str, default="piece"
        Name of a piece in errors.

    Raises
    ------
    ValueError
        The message names the first fault.

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
    """Return valid sizes of pieces: not negative, with a sum below 2**62, equal to ``total`` if given.

    Parameters
    ----------
    sizes : array-like
    name : str
        Name of the sizes in errors.
    total : int, optional
        Required sum of the sizes.
    pieces : int, optional
        Required number of sizes.

    Raises
    ------
    ValueError
        The message names the first fault.

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
    total_size = float(array.sum(dtype=np.float64))  # floats do not overflow
    if total_size >= MOST_THINGS:
        raise ValueError(f"{name} must add up to less than 2**62, got {total_size:.2g}")
    if total is not None and int(array.sum(dtype=np.int64)) != total:
        raise ValueError(f"{name} must add up to {total}, got {int(array.sum(dtype=np.int64))}")
    return array.astype(np.int64)


def check_indices(places: Any, length: int, name: str, *, least: int = 0) -> NDArray[np.int64]:
    """Return valid indices into an array of a given length; ``least=-1`` also allows -1 (no index).

    Raises
    ------
    ValueError
        The message names an index out of range.

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
    """Raise ValueError if a file declares far more items than it stores.

    A node without label, attributes and edges takes no bytes in a file, so a few bytes can declare any number
    of nodes. Allowed are ``FREE_THINGS`` items per file, and ``THINGS_PER_HOLDER`` more per stored item.

    Parameters
    ----------
    number : int
        Number of declared items.
    held : int
        Number of stored items.
    things, holders : str
        Names of declared and stored items in errors.

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


def sum_in_order(parts: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum of arrays, added in order into the first array, which is overwritten.

    An entry does not depend on the length of the arrays; ``np.sum(parts, axis=0)`` adds arrays of one entry
    in another order.

    Examples
    --------
    >>> sum_in_order([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    array([4., 6.])
    """
    return reduce(lambda total, part: np.add(total, part, out=total), parts)


def index_dtype(*numbers: int) -> type[np.signedinteger[Any]]:
    """Return int32 if it holds all numbers, else int64: scipy's rule for sparse matrices.

    Examples
    --------
    >>> index_dtype(7, 2**31 - 1).__name__, index_dtype(2**31).__name__
    ('int32', 'int64')
    """
    return np.int32 if max(numbers) < 2**31 else np.int64


def rows_of(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> csr_array:
    """Return the csr_array of arrays that fit each other: they are neither checked nor copied.

    scipy's constructor copies parts of larger arrays, which takes longer than to count them.

    Examples
    --------
    >>> rows_of(np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2]), (2, 2)).toarray()
    array([[0., 2.],
           [3., 0.]])
    """
    matrix = copy(_without_columns(shape[0]))
    matrix.resize(shape)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


@lru_cache(maxsize=8)
def _without_columns(n_rows: int) -> csr_array:
    """Return an empty matrix: to copy it and add columns takes a quarter of the time of a new one."""
    return csr_array((n_rows, 0))


def ranges(starts: ArrayLike, lengths: ArrayLike) -> NDArray[np.int64]:
    """Return the concatenation of ``arange(start, start + length)`` over all pairs.

    Examples
    --------
    >>> ranges([5, 0], [2, 3])
    array([5, 6, 0, 1, 2])
    """
    ends = offsets(lengths)
    shift = np.asarray(starts, dtype=np.int64) - ends[:-1]
    return np.arange(ends[-1]) + np.repeat(shift, np.diff(ends))


def power_of_two(least: int) -> int:
    """Return the smallest power of two that is at least ``least``, as size of a hash table.

    Examples
    --------
    >>> [power_of_two(n) for n in (0, 1, 2, 3, 1000)]
    [1, 1, 2, 4, 1024]
    """
    return 1 << max(least - 1, 0).bit_length()


def check_sparse(matrix: Any, name: str) -> Any:
    """Return a 2-d sparse matrix after checking that all indices are inside its shape.

    scipy does not check the arrays of a matrix, so its loops and ours could read out of bounds. The arrays
    are checked once, before any conversion.

    Parameters
    ----------
    matrix : scipy sparse matrix or array, of any format
    name : str
        Name of the matrix in errors.

    Returns
    -------
    sparse matrix
        The same matrix; a dok matrix is converted to coo.

    Raises
    ------
    ValueError
        The message names the first fault.

    Examples
    --------
    >>> broken = csr_array((np.ones(1), np.array([7]), np.array([0, 1, 1])), shape=(2, 2))
    >>> check_sparse(broken, "adjacency")
    Traceback (most recent call last):
    ...
    ValueError: adjacency is damaged: its column indices must be numbers from 0 to 1, got 7 at position 0
    """
    rows, columns = matrix.shape
    if matrix.format in ("csr", "csc", "bsr"):
        block = matrix.data.shape[1:] if matrix.format == "bsr" else (1, 1)
        ways = (("row", rows // max(block[0], 1)), ("column", columns // max(block[1], 1)))
        (noun, length), (other, width) = ways[::-1] if matrix.format == "csc" else ways
        check_compressed(
            matrix.indptr, matrix.indices, len(matrix.data), (length, width), (noun, other), name
        )
        return matrix
    with _damage(name):
        if matrix.format == "lil" and list(map(len, matrix.rows)) != list(map(len, matrix.data)):
            raise ValueError("rows have other numbers of columns than of values")
        if matrix.format == "dia" and np.shape(matrix.offsets) != matrix.data.shape[:1]:
            raise ValueError(f"{len(matrix.data)} diagonals have other offsets")
        entries = matrix.tocoo()
        for noun, length, places in zip(("row", "column"), (rows, columns), entries.coords, strict=True):
            if len(places) != len(entries.data):
                raise ValueError(f"{len(entries.data)} values have {len(places)} {noun}s")
            check_indices(places, length, f"its {noun} indices")
    return entries if matrix.format == "dok" else matrix


def check_compressed(
    indptr: Any, indices: Any, n_values: int, lengths: tuple[int, int], nouns: tuple[str, str], name: str
) -> None:
    """Raise ValueError if offsets or indices of a compressed matrix are outside its arrays or its shape.

    Parameters
    ----------
    indptr, indices : ndarray
    n_values : int
        Number of stored values; values after the last offset are ignored.
    lengths : pair of int
        Numbers of rows and columns (columns and rows for csc).
    nouns : pair of str
        Names of these in errors.
    name : str
        Name of the matrix in errors.
    """
    with _damage(name):
        n_used = int(check_whole(indptr, "indptr")[-1]) if len(indptr) else 0
        check_offsets(indptr, n_used, "indptr", pieces=lengths[0], piece=nouns[0])
        if n_used > min(n_values, len(indices)):
            lengths_text = f"{n_values} values and {len(indices)} indices"
            raise ValueError(f"its offsets end at {n_used}, but it has {lengths_text}")
        check_indices(indices[:n_used], lengths[1], f"its {nouns[1]} indices")


@contextmanager
def _damage(name: str) -> Iterator[None]:
    """Prefix a ValueError with the name of the damaged matrix."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}") from None


def freeze(*arrays: NDArray[Any] | csr_array | None) -> None:
    """Make arrays, and the arrays of sparse matrices, read-only; None is ignored."""
    for array in arrays:
        if isinstance(array, csr_array):
            freeze(array.data, array.indices, array.indptr)
        elif array is not None:
            array.setflags(write=False)


def aligned_empty(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array of float64 without values whose first entry begins a cache line.

    Rows of eight numbers, or a multiple of it, then touch as few lines as they can.
    """
    size = int(np.prod(shape))
    room = np.empty(size + 7)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + size].reshape(shape)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


class KernelTooLargeError(MemoryError):
    """A dense matrix would not fit into the available memory; nothing was computed."""


def check_room(rows: int, columns: int, matrices: int = 1, *, ways_out: str = WAYS_OUT) -> None:
    """Raise KernelTooLargeError if dense float64 matrices would not fit into memory.

    Parameters
    ----------
    rows, columns : int
    matrices : int, default=1
        Number of matrices of this shape in memory at the same time.
    ways_out : str
        Alternatives, for the error message.

    Raises
    ------
    KernelTooLargeError
        The message names needed memory, available memory and alternatives.

    Examples
    --------
    >>> check_room(1000, 1000)
    >>> check_room(10**7, 10**7)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    propkernels._utils.arrays.KernelTooLargeError: a dense matrix of 10000000 x 10000000 needs 800000.0 GB ...
    """
    needed = 8 * rows * columns * matrices
    available = None if needed < ASK_FROM else available_memory()
    if available is not None and needed > available:
        several = "" if matrices == 1 else f" ({matrices} of them at a time)"
        raise KernelTooLargeError(
            f"a dense matrix of {rows} x {columns}{several} needs {in_bytes(needed)} of memory, and "
            f"{in_bytes(available)} are available: {ways_out}"
        )


def in_bytes(number: int) -> str:
    """Return a number of bytes as text, in GB, MB, kB or bytes.

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
    """Return the number of bytes that can be allocated, or None if unknown.

    On Linux: minimum of the memory left on the machine, in every control group of the process and under
    ``ulimit -v``; on macOS: the machine's total memory; on Windows: None, because an allocation that is too
    large fails by itself.
    """
    if MEMINFO.exists():
        return min((*_machine(), *_control_groups(), *_own_limit()), default=None)
    with suppress(ValueError, OSError, AttributeError):
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    return None


def _machine() -> Iterator[int]:
    with suppress(OSError, ValueError):
        for line in text_of(MEMINFO).splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024 * int(line.split()[1])


def _own_limit(pages: Path = Path("/proc/self/statm")) -> Iterator[int]:
    """Yield the address space left to this process under ``ulimit -v``, if limited."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            used = int(text_of(pages).split()[0]) * resource.getpagesize()
            yield max(most - used, 0)


def _control_groups(processes: Path = Path("/proc/self/cgroup"), root: Path = CGROUPS) -> Iterator[int]:
    """Yield the memory left in each control group (version 2) of this process, innermost group first."""
    with suppress(OSError):
        own = [line.split(":", 2)[2] for line in text_of(processes).splitlines() if line.startswith("0::")]
        inner = root / own[0].strip("/") if own else root
        for group in (inner, *inner.parents)[: len(inner.relative_to(root).parts) + 1]:
            with suppress(OSError, ValueError):  # "max" means no limit
                left = int(text_of(group / "memory.max")) - int(text_of(group / "memory.current"))
                with suppress(OSError, KeyError):
                    used = dict(line.split() for line in text_of(group / "memory.stat").splitlines())
                    left += int(used["inactive_file"])  # which can be reclaimed
                yield max(left, 0)
