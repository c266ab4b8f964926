"""Levels: a bin with count c becomes c columns with value 1, whose dot product sums the smaller counts.

``min(a, b) = sum over k of [a >= k] [b >= k]``: the histogram intersection, which is the kernel of optimal
assignments of the nodes of two graphs (Kriege, Giscard and Wilson, NeurIPS 2016), is the dot product of the
columns (bin, 1), ..., (bin, c). There are as many entries as counted items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import index_dtype, offsets, rows_of
from propkernels._utils.parallel import run_threads
from propkernels._utils.randomness import mix
from propkernels.counts.counters import (
    Codes,
    Counter,
    Known,
    Occurrences,
    StreamCounts,
    Values,
    after_known,
    looked_up,
)
from propkernels.graphs.database import GraphDatabase


@dataclass(frozen=True)
class LevelCounter(Counter):
    """Turns each bin of another counter into its levels.

    Attributes
    ----------
    counter : Counter
    """

    counter: Counter

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return the counts of levels; ``known`` codes are the first columns."""
        streams = levels_of(self.counter.count(graphs, None))
        if known is None:
            return streams
        return [after_known(stream, codes) for stream, codes in zip(streams, known, strict=True)]

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield the items of the bins; levels have no separate items."""
        return (replace(items, assigned=True) for items in self.counter.occurrences(graphs))

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Return runs of graphs whose items fit into memory."""
        return self.counter.parts_of(graphs)


def levels_of(streams: Sequence[StreamCounts], coded: bool = True) -> list[StreamCounts]:
    """Return streams with bins turned into levels; streams that share counts share the result.

    Kernel matrices need no codes: without ``coded``, streams keep those of the bins.

    Examples
    --------
    >>> stream = StreamCounts(csr_array([[2.0, 0.0], [1.0, 1.0]]), np.array([7, 9]), 0, 1.0)
    >>> (levels,) = levels_of([stream])
    >>> levels.counts.toarray()
    array([[1., 1., 0.],
           [1., 0., 1.]])
    >>> levels.codes[[0, 2]]
    array([7, 9])
    """
    distinct = {id(stream.counts): stream.counts for stream in streams}
    work = sum(counts.nnz for counts in distinct.values())
    made = dict(zip(distinct, run_threads(count_levels, list(distinct.values()), work=work), strict=True))

    def one_stream(stream: StreamCounts) -> StreamCounts:
        counts, most = made[id(stream.counts)]
        is_same = counts is stream.counts or not coded
        codes = stream.codes if is_same else level_codes(stream.codes, most)
        return StreamCounts(counts, codes, stream.iteration, stream.weight)

    return run_threads(one_stream, streams, work=work if coded else 0)


def count_levels(counts: csr_array) -> tuple[csr_array, NDArray[np.int64]]:
    """Return the columns (bin, 1), (bin, 2), ... of each bin, and the number of levels of each bin."""
    numbers = counts.data.astype(np.int64)
    ends = offsets(numbers)
    if ends[-1] == counts.nnz:  # all counts are 1
        return counts, np.ones(counts.shape[1], dtype=np.int64)
    most = largest_counts(counts, 0)
    firsts = offsets(most)
    shape = (counts.shape[0], int(firsts[-1]))
    index = index_dtype(int(ends[-1]), shape[1])
    columns = (np.repeat(firsts[counts.indices], numbers) + level_numbers(numbers) - 1).astype(index)
    return rows_of(np.ones(len(columns)), columns, ends[counts.indptr].astype(index), shape), most


def largest_counts(counts: csr_array, least: int = 1) -> NDArray[np.int64]:
    """Return the largest count of each bin, at least ``least``: its number of levels."""
    most = np.full(counts.shape[1], least, dtype=np.int64)
    np.maximum.at(most, counts.indices, counts.data.astype(np.int64))
    return most


def level_codes(codes: Codes, most: NDArray[np.int64]) -> Codes:
    """Return the codes of levels; the first level of a bin has the code of the bin."""
    coded, level = np.repeat(codes, most), level_numbers(most)
    later = level > 1
    coded[later] = mix(coded[later].view(np.uint64), level[later]).view(np.int64)
    return coded


def level_numbers(most: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1, 2, ... for the levels of each bin in turn.

    Examples
    --------
    >>> level_numbers(np.array([2, 1, 3]))
    array([1, 2, 1, 1, 2, 3])
    """
    ends = offsets(most)
    return np.arange(1, ends[-1] + 1) - np.repeat(ends[:-1], most)


def level_weights(
    streams: Sequence[StreamCounts], known: Sequence[Codes], weights: Sequence[Values]
) -> tuple[NDArray[np.int64], list[Values]]:
    """Return the first level of each bin of counted graphs, through all streams, and weights of all levels.

    ``weights`` are those of the ``known`` codes of levels, stream by stream; other levels have weight 0.
    """
    most = [largest_counts(stream.counts) for stream in streams]
    codes = [level_codes(stream.codes, levels) for stream, levels in zip(streams, most, strict=True)]
    ptr = np.concatenate([[0], np.cumsum(np.concatenate(most))]).astype(np.int64)
    return ptr, [looked_up(*parts) for parts in zip(codes, known, weights, strict=True)]
