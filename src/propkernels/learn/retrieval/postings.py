"""Postings: for each bin, the graphs that it occurs in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import StreamCounts
from propkernels.utils.arrays import offsets


@dataclass(frozen=True)
class Postings:
    """Counts of some graphs, bin by bin; nothing in it ever changes.

    Attributes
    ----------
    n_graphs : int
    stream_ptr : ndarray of int64, (streams + 1,)
        Which bins belong to which stream.
    codes : ndarray of int64, (bins,)
        The code of each bin, ascending within a stream.
    bin_ptr : ndarray of int64, (bins + 1,)
        Which postings belong to which bin.
    graphs : ndarray of int32, (postings,)
        Graphs, ascending within a bin.
    counts : ndarray of float32 or float64, (postings,)
        How often the bin occurs in the graph; float32 where that is exact.
    """

    n_graphs: int
    stream_ptr: NDArray[np.int64]
    codes: NDArray[np.int64]
    bin_ptr: NDArray[np.int64]
    graphs: NDArray[np.int32]
    counts: NDArray[Any]

    @classmethod
    def of(cls, streams: Sequence[StreamCounts]) -> Postings:
        """Turn counts by graph into counts by bin."""
        parts = [_columns(stream) for stream in streams]
        codes, lengths, graphs, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        stream_ptr = offsets([len(part[0]) for part in parts])
        n_graphs = streams[0].counts.shape[0]
        return cls(n_graphs, stream_ptr, codes, offsets(lengths), graphs.astype(np.int32), compact(counts))

    def restored(self) -> Any:
        """Return the packed form, which an index has in memory."""
        from propkernels.learn.retrieval.segment import Segment

        return Segment.of(self)

    @staticmethod
    def merge(parts: Sequence[Postings], numbers: Sequence[NDArray[np.int64]]) -> Postings:
        """Join postings of several sets of graphs.

        Parameters
        ----------
        parts : sequence of Postings
        numbers : sequence of ndarray of int64
            For each part, the new numbers of its graphs, ascending from part to part; -1: left out.
        """
        from propkernels.learn.retrieval.postings_compiled import count_postings, move_postings

        stream_ptr, codes, targets = _common_bins(parts)
        lengths = np.zeros(len(codes), dtype=np.int64)
        for part, target, number in zip(parts, targets, numbers, strict=True):
            count_postings(part.bin_ptr, part.graphs, target, number, lengths)
        bin_ptr = offsets(lengths)
        graphs = np.empty(bin_ptr[-1], dtype=np.int32)
        counts = np.empty(bin_ptr[-1], dtype=np.result_type(*(part.counts for part in parts)))
        filled = bin_ptr[:-1].copy()
        for part, target, number in zip(parts, targets, numbers, strict=True):
            arrays = (part.bin_ptr, part.graphs, part.counts)
            move_postings(*arrays, target, number, filled, graphs, counts)
        n_graphs = sum(int((number >= 0).sum()) for number in numbers)
        return Postings(n_graphs, stream_ptr, codes, bin_ptr, graphs, counts)


def _columns(stream: StreamCounts) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes in ascending order, and for each the number of its graphs, the graphs and the counts."""
    order = np.argsort(stream.codes)
    columns = stream.counts.tocsc()[:, order]
    return stream.codes[order], np.diff(columns.indptr), columns.indices, columns.data


def compact(counts: NDArray[np.float64]) -> NDArray[Any]:
    """Float32 where all counts are exact in it."""
    short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts


def _common_bins(
    parts: Sequence[Postings],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[np.int64]]]:
    """Bins of all parts together, by stream and code; and for each part, which of them its bins are."""
    merged: list[NDArray[np.int64]] = []
    targets: list[list[NDArray[np.int64]]] = [[] for _ in parts]
    first = 0
    for s in range(len(parts[0].stream_ptr) - 1):
        own = [part.codes[part.stream_ptr[s] : part.stream_ptr[s + 1]] for part in parts]
        codes, inverse = np.unique(np.concatenate(own), return_inverse=True)
        ends = np.cumsum([len(part) for part in own])[:-1]
        for target, places in zip(targets, np.split(inverse + first, ends), strict=True):
            target.append(places)
        merged.append(codes)
        first += len(codes)
    stream_ptr = offsets([len(codes) for codes in merged])
    return stream_ptr, np.concatenate(merged), [np.concatenate(target) for target in targets]
