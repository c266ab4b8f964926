"""Counts of items that are listed run by run of graphs: codes, each once per graph, with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import index_dtype, offsets, rows_of
from propkernels._utils.parallel import run_threads
from propkernels.counts.counters import StreamCounts

ENTRIES_OF_A_STEP = 4  # entries that are copied in the time of an elementary step


class CodeList(NamedTuple):
    """Counts of a run of graphs.

    Attributes
    ----------
    lengths : ndarray of int64, (graphs,)
        Number of entries of each graph.
    columns : ndarray of int32, (entries,)
        Bin of each entry.
    counts : ndarray of float64, (entries,)
    bins : ndarray of int64
        Code of each bin, in order of appearance.
    """

    lengths: NDArray[Any]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]
    bins: NDArray[np.int64]

    @classmethod
    def of(cls, lengths: NDArray[Any], codes: NDArray[np.int64], counts: NDArray[np.float64]) -> CodeList:
        """Number the codes of entries."""
        columns, bins = numbered(codes)
        return cls(lengths, columns, counts, bins)

    @classmethod
    def added(cls, parts: Sequence[CodeList]) -> CodeList:
        """Return the sum of the counts of one graph."""
        columns, bins = numbered(np.concatenate([part.bins[part.columns] for part in parts]))
        counts = np.concatenate([part.counts for part in parts])
        totals = np.bincount(columns, weights=counts, minlength=len(bins))  # whole numbers: exact
        every = np.arange(len(bins), dtype=np.int32)
        return cls(np.array([len(bins)]), every, np.asarray(totals, dtype=np.float64), bins)


def numbered(codes: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the number of each code, in order of appearance, and the distinct codes.

    Examples
    --------
    >>> numbered(np.array([7, 5, 7]))
    (array([0, 1, 0], dtype=int32), array([7, 5]))
    """
    bins, (numbers,) = _merged([codes])
    return numbers, bins


def count_lists(lists: Sequence[CodeList], known: NDArray[np.int64] | None = None) -> StreamCounts:
    """Return the counts of all graphs as one stream; ``known`` codes are the first columns."""
    bins, numbers = _merged([np.empty(0, np.int64) if known is None else known, *(one.bins for one in lists)])
    ends = offsets([len(one.columns) for one in lists])
    indptr = offsets(np.concatenate([one.lengths for one in lists]))
    columns, counts = np.empty(ends[-1], dtype=index_dtype(int(ends[-1]))), np.empty(ends[-1])

    def place(k: int) -> None:
        run = slice(ends[k], ends[k + 1])
        columns[run], counts[run] = numbers[k + 1][lists[k].columns], lists[k].counts

    run_threads(place, range(len(lists)), work=int(ends[-1]) // ENTRIES_OF_A_STEP)
    shape = len(indptr) - 1, len(bins)
    return StreamCounts(rows_of(counts, columns, indptr.astype(columns.dtype), shape), bins, 0, 1.0)


def _merged(lists: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
    """Return the distinct codes of several lists, in order of appearance, and the numbers of each list."""
    bins = np.empty(sum(map(len, lists)), dtype=np.int64)
    numbers = [np.empty(len(codes), dtype=np.int32) for codes in lists]
    codes = [np.ascontiguousarray(own, dtype=np.int64) for own in lists]
    n_bins = _core.number_codes(codes, bins, numbers)
    return bins[:n_bins].copy(), numbers
