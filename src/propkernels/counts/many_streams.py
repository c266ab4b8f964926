"""Products of the counts of many streams and few graphs: each thread adds streams to a matrix of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from ctypes import addressof, c_char
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import offsets
from propkernels._utils.parallel import equal_work, one_blas_thread, run_threads, threads_for
from propkernels.counts.products_compiled import (
    ENTRY,
    WIDE_ENTRY,
    Streams,
    add_squares,
    add_stream_ratios,
    add_streams,
    mirror_rows,
)

MANY_STREAMS = 64
EXACT_FLOAT32, EXACT_FLOAT64 = 2.0**24, 2.0**53
ROWS_OF_A_PRODUCT = 256


class Stack(NamedTuple):
    """Count matrices whose arrays are parts of the same three arrays, as one compiled call returns them.

    Attributes
    ----------
    indptr, indices, data : ndarray
        The CSR arrays of all of them.
    places : ndarray of int64, (matrices, 3)
        Where the offsets and the entries of each matrix begin, and its number of bins.
    copies : ndarray of int64, (matrices,)
        How often each matrix counts.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    places: NDArray[np.int64]
    copies: NDArray[np.int64]

    def lengths(self, n: int) -> NDArray[np.int64]:
        """Return the number of entries of each matrix with n rows."""
        return self.indptr[self.places[:, 0] + n].astype(np.int64)


def stacked(parts: Sequence[csr_array], copies: NDArray[np.int64]) -> list[Stack]:
    """Return count matrices by the arrays that they are parts of."""
    stacks: dict[tuple[int, ...], tuple[Any, ...]] = {}
    for part, times in zip(parts, copies.tolist(), strict=True):
        own = part.indptr, part.indices, part.data
        whole = tuple(map(_whole, own))
        key = tuple(map(id, whole))
        if key not in stacks:
            stacks[key] = whole, tuple(map(_address, whole)), [], []
        _, begins, places, number = stacks[key]
        at = [(_address(a) - begin) // a.itemsize for a, begin in zip(own, begins, strict=True)]
        if at[1] == at[2]:
            places.append((*at[:2], part.shape[1]))
            number.append(times)
        else:  # columns and counts are at different places of their arrays
            stacks[tuple(map(id, own))] = own, begins, [(0, 0, part.shape[1])], [times]
    return [
        Stack(a.ravel(), b.ravel(), c.ravel(), np.array(places), np.array(number))
        for (a, b, c), _, places, number in stacks.values()
        if places
    ]


def _whole(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that an array without gaps is a part of, if both are alike; else the array itself."""
    base = array.base
    fits = isinstance(base, np.ndarray) and base.dtype == array.dtype and base.flags.c_contiguous
    return base if fits and array.flags.c_contiguous else array  # type: ignore[return-value]


def _address(array: NDArray[Any]) -> int:
    """Return where an array begins in memory."""
    if array.size and array.flags.writeable:
        return addressof(c_char.from_buffer(array.data))
    return int(array.__array_interface__["data"][0])  # takes four times as long


def _pieces(stacks: Sequence[Stack], n: int, threads: int) -> list[Stack]:
    """Return parts of stacks with about equal numbers of entries, largest first."""
    lengths = [stack.lengths(n) for stack in stacks]
    most = sum(int(length.sum()) for length in lengths) / threads
    pieces = []
    for stack, length in zip(stacks, lengths, strict=True):
        work = offsets(length)
        bounds = equal_work(work, max(round(work[-1] / most), 1) if work[-1] else 1)
        pieces += [
            (int(work[b] - work[a]), stack._replace(places=stack.places[a:b], copies=stack.copies[a:b]))
            for a, b in pairwise(bounds.tolist())
        ]
    return [piece for _, piece in sorted(pieces, key=lambda piece: -piece[0])]


def _add_popular(counts: NDArray[Any], times: NDArray[Any], sums: NDArray[Any]) -> None:
    """Add the products of popular bins, (bins, graphs), to the rows of a matrix up to the diagonal."""
    weighted = counts if (times == 1).all() else counts * times[:, None]
    for first in range(0, len(sums) if len(counts) else 0, ROWS_OF_A_PRODUCT):
        last = min(first + ROWS_OF_A_PRODUCT, len(sums))
        sums[first:last, :last] += weighted[:, first:last].T @ counts[:, :last]


class Sum:
    """Sum of the products of streams below the diagonal of a matrix, and the diagonal.

    Streams are added to a matrix, zeros before, of the type of ``entry``. When its diagonal reaches the
    ``limit`` up to which sums are exact, it is added to ``total`` and cleared.
    """

    def __init__(self, matrix: NDArray[Any], entry: np.dtype[Any], limit: float) -> None:
        self.matrix, self.entry, self.limit = matrix, entry, limit
        self.own, self.diagonal = np.zeros((2, len(matrix)))
        self.total: NDArray[np.float64] | None = None

    def add(self, stack: Stack, popular_from: int) -> bool:
        """Add the streams of a stack; return False if one of them exceeds the limit by itself."""
        n, lengths = len(self.own), stack.lengths(len(self.own))
        most, first = int(lengths.max(initial=0)), 0
        room = Streams.make(self.entry, n, int(stack.places[:, 2].max(initial=0)), most, most // popular_from)
        while first < len(stack.places):
            last = add_streams(*stack, first, popular_from, self.limit, room, self.matrix, self.own)
            n_popular = int(room.numbers[3])
            _add_popular(room.dense[:n_popular], room.times[:n_popular], self.matrix)
            room.dense[:n_popular] = 0.0
            if room.numbers[4]:
                if not self.own.any():
                    return False
                self.spill()
            first = last
        return True

    def spill(self) -> None:
        """Move the matrix to ``total``, which has the exact range of float64."""
        self.total = self.matrix.astype(np.float64) if self.total is None else self.total + self.matrix
        self.diagonal += self.own
        self.matrix[:], self.own[:] = 0.0, 0.0


def sum_streams(
    parts: Sequence[csr_array], copies: NDArray[np.int64], popular_from: int, threads: int
) -> tuple[list[NDArray[Any]], NDArray[np.float64]]:
    """Return matrices whose sum has the products of all streams below its diagonal, and the diagonal.

    Sums are float32 within its exact range: no entry exceeds the largest one of the diagonal. If a single
    stream exceeds it, they are float64.
    """
    n = parts[0].shape[0]
    pieces = _pieces(stacked(parts, copies), n, threads)
    for entry, limit in ((ENTRY, EXACT_FLOAT32), (WIDE_ENTRY, EXACT_FLOAT64)):
        stack = np.zeros((min(threads, len(pieces)), n, n), dtype=entry["count"])
        sums = [Sum(matrix, entry, limit) for matrix in stack]
        free = deque(sums)

        def one_piece(stack: Stack, free: deque[Sum] = free) -> bool:
            own = free.pop()
            fits = own.add(stack, popular_from)
            free.append(own)
            return fits

        with one_blas_thread():
            if all(run_threads(one_piece, pieces, threads)):
                break
    totals = [one.total for one in sums if one.total is not None]
    return [*stack, *totals], np.sum([one.own + one.diagonal for one in sums], axis=0)


def sum_squares(parts: Sequence[csr_array], threads: int) -> NDArray[np.float64]:
    """Return the sum of squared counts of each graph over all streams, exact."""
    n = parts[0].shape[0]
    pieces = _pieces(stacked(parts, np.ones(len(parts), dtype=np.int64)), n, threads)
    squares = np.zeros((len(pieces), n))
    run_threads(lambda k: add_squares(*pieces[k][:-1], squares[k]), range(len(pieces)), threads)
    return np.asarray(squares.sum(axis=0))


def add_ratios_of(
    parts: Sequence[csr_array],
    weights: Sequence[float],
    minimum: bool,
    total: NDArray[Any],
    n_jobs: int | None,
) -> None:
    """Add the weighted ratios s / (l + r - s) of streams, in order, to a symmetric matrix of few graphs.

    s is the sum of products of counts, or of the smaller counts (``minimum``); l and r are those of each
    graph with itself.
    """
    n, n_entries = len(total), sum(part.nnz for part in parts)
    threads = threads_for(n_entries + len(parts) * n * n // 4, n_jobs)
    bounds = (
        np.sqrt(np.linspace(0, n * n, threads + 1)).astype(np.int64).tolist()
    )  # of equal numbers of pairs
    rows, shares = list(pairwise(bounds)), iter(weights)
    for stack in _in_order(parts):
        own = np.array([next(shares) for _ in stack.places])

        def one_run(run: tuple[int, int], stack: Stack = stack, own: NDArray[Any] = own) -> None:
            most, n_bins = int(stack.lengths(n).max()), int(stack.places[:, 2].max())
            room = (
                np.empty(n_bins + 1, dtype=np.int64),
                np.empty(most, dtype=np.int64),
                *(np.empty(size) for size in (most, n, n)),
            )
            add_stream_ratios(*stack[:4], own, minimum, *run, room, total)

        run_threads(one_run, rows, threads)
    run_threads(lambda run: mirror_rows(total, *run), rows, threads)


def _in_order(parts: Sequence[csr_array]) -> Iterator[Stack]:
    """Yield stacks of consecutive matrices that are parts of the same arrays."""
    for _, some in groupby(parts, key=lambda part: tuple(id(_whole(a)) for a in (part.indptr, part.indices))):
        group = list(some)
        stacks = stacked(group, np.ones(len(group), dtype=np.int64))
        if len(stacks) > 1:
            stacks = [stacked([part], np.ones(1, dtype=np.int64))[0] for part in group]
        yield from stacks
