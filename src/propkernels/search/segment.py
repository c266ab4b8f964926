"""Postings (the graphs of each bin with counts), and Segment, their packed and searchable form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import offsets
from propkernels._utils.stored import ANY_NUMBER, Indices, Offsets, is_whole, not_negative, require
from propkernels.counts.counters import StreamCounts

PACKED_BITS = 8  # bits of the count in a packed posting; the other 24 hold the number of the graph
MOST_PACKED = 2**PACKED_BITS - 1
FENCE_WIDTH = 64  # bins between fences: one kilobyte of the directory


@dataclass(frozen=True)
class Postings:
    """Immutable counts of graphs, by bin.

    Attributes
    ----------
    n_graphs : int
    stream_ptr : ndarray of int64, (streams + 1,)
        Offsets of the bins of each stream.
    codes : ndarray of int64, (bins,)
        The code of each bin, ascending within a stream.
    bin_ptr : ndarray of int64, (bins + 1,)
        Offsets of the postings of each bin.
    graphs : ndarray of int32, (postings,)
        Graphs, ascending within a bin.
    counts : ndarray of float32 or float64, (postings,)
        Count of the bin in the graph; float32 if that is exact.
    """

    n_graphs: int
    stream_ptr: Annotated[NDArray[np.int64], Offsets("codes")]
    codes: Annotated[NDArray[np.int64], ANY_NUMBER]
    bin_ptr: Annotated[NDArray[np.int64], Offsets("graphs", pieces="codes")]
    graphs: Annotated[NDArray[np.int32], Indices("n_graphs")]
    counts: NDArray[Any]

    def _check_parts(self) -> None:
        """Refuse counts that do not match the postings."""
        require(
            is_whole(self.n_graphs, 0) and self.codes.ndim == 1, "codes or the number of graphs are missing"
        )
        require(self.counts.dtype in (np.float32, np.float64), "counts are floats")
        require(self.counts.shape == self.graphs.shape, "every posting needs a count")
        require(not_negative(self.counts), "counts are not negative")

    @classmethod
    def of(cls, streams: Sequence[StreamCounts]) -> Postings:
        """Return counts by graph as counts by bin."""
        from propkernels.search.segment_compiled import invert_rows

        orders = [np.argsort(stream.codes) for stream in streams]
        stream_ptr = offsets([len(order) for order in orders])
        bins = [_inverse(order, first) for order, first in zip(orders, stream_ptr.tolist(), strict=False)]
        lengths = np.zeros(stream_ptr[-1], dtype=np.int64)
        for stream, own in zip(streams, bins, strict=True):
            lengths[own] = np.bincount(stream.counts.indices, minlength=len(own))
        bin_ptr = offsets(lengths)
        data = compact(np.concatenate([stream.counts.data for stream in streams]))
        graphs, counts, filled = np.empty(len(data), dtype=np.int32), np.empty_like(data), bin_ptr[:-1].copy()
        ends = offsets([stream.counts.nnz for stream in streams])
        for stream, own, (first, last) in zip(streams, bins, pairwise(ends.tolist()), strict=True):
            rows = (stream.counts.indptr, stream.counts.indices, data[first:last])
            invert_rows(*rows, own, filled, graphs, counts)
        codes = np.concatenate([stream.codes[order] for stream, order in zip(streams, orders, strict=True)])
        return cls(streams[0].counts.shape[0], stream_ptr, codes, bin_ptr, graphs, counts)

    def restored(self) -> Segment:
        """Return the packed form."""
        return Segment.of(self)

    @staticmethod
    def merge(parts: Sequence[Postings], numbers: Sequence[NDArray[np.int64]]) -> Postings:
        """Return the merged postings of several sets of graphs.

        Parameters
        ----------
        parts : sequence of Postings
        numbers : sequence of ndarray of int64
            For each part, the new numbers of its graphs, ascending from part to part; -1: left out.
        """
        from propkernels.search.segment_compiled import count_postings, move_postings

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


class Segment(NamedTuple):
    """Immutable counts of graphs by bin, packed for search.

    A posting is one 32-bit word, graph << 8 | count; a count above 255 takes several words, whose counts add
    up. Bins in more than a quarter of the graphs are stored as dense rows of counts (``dense``), with words
    only for the excess over 255. If counts are not integers, or so large that words would take more bytes,
    postings are pairs of floats instead, without dense rows.

    Attributes
    ----------
    n_graphs : int
    stream_ptr : ndarray of int64, (streams + 1,)
        Offsets of the bins of each stream.
    fences : ndarray of int64
        Every 64th code of each stream.
    dense_bins : ndarray of int64, (rows,)
        Bins stored as dense rows.
    directory : ndarray of int64, (bins + 1, 2)
        Code and first posting of each bin, codes ascending within a stream; the last row holds the end of
        the postings.
    dense : ndarray of uint8, (rows, graphs)
    postings : ndarray of uint32, (postings,), or of float32 or float64, (2 * postings,)
        Graphs and counts, graphs ascending within a bin.
    fence_ptr : ndarray of int64, (streams + 1,)
        Offsets of the fences of each stream.
    """

    n_graphs: int
    stream_ptr: NDArray[np.int64]
    fences: NDArray[np.int64]
    dense_bins: NDArray[np.int64]
    directory: NDArray[np.int64]
    dense: NDArray[np.uint8]
    postings: NDArray[Any]
    fence_ptr: NDArray[np.int64]

    @classmethod
    def of(cls, part: Postings) -> Segment:
        """Return packed postings: words and dense rows, or pairs if these are shorter."""
        lengths = part.bin_ptr[1:] - part.bin_ptr[:-1]
        is_dense = 4 * lengths > part.n_graphs
        n_words = _word_lengths(part, is_dense)
        if n_words is None:
            is_dense, n_words = np.zeros(len(lengths), dtype=bool), lengths
            dense, postings = np.empty((0, part.n_graphs), dtype=np.uint8), _pairs(part)
        else:
            dense, postings = _rows_and_words(part, is_dense, n_words)
        return cls(
            part.n_graphs,
            part.stream_ptr,
            fences(part.stream_ptr, part.codes),
            np.flatnonzero(is_dense),
            _directory(part.codes, n_words),
            dense,
            postings,
            fence_ptr(part.stream_ptr),
        )

    def stored(self) -> Postings:
        """Return the unpacked postings, as stored in files of models."""
        bins, graphs, counts = self._listed()
        rows, dense_graphs = np.nonzero(self.dense)
        bins = np.concatenate([bins, self.dense_bins[rows]])
        graphs = np.concatenate([graphs, dense_graphs])
        counts = np.concatenate([counts, self.dense[rows, dense_graphs]])
        shape = (len(self.directory) - 1, self.n_graphs)
        whole = csr_array(
            (counts, (bins, graphs)), shape=shape
        )  # sums the words and the dense entry of each posting
        codes, bin_ptr = np.ascontiguousarray(self.directory[:-1, 0]), whole.indptr.astype(np.int64)
        found = whole.indices.astype(np.int32, copy=False)
        return Postings(self.n_graphs, self.stream_ptr, codes, bin_ptr, found, compact(whole.data))

    def _listed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return bins, graphs and counts of all words or pairs."""
        first = self.directory[:, 1]
        bins = np.repeat(np.arange(len(first) - 1), first[1:] - first[:-1])
        if self.is_packed:
            graphs, counts = self.postings >> np.uint32(PACKED_BITS), self.postings & np.uint32(MOST_PACKED)
        else:
            graphs, counts = self.postings[::2], self.postings[1::2]
        return bins, graphs.astype(np.int32), counts.astype(np.float64)

    @property
    def is_packed(self) -> bool:
        """Whether postings are words, not pairs."""
        return self.postings.dtype.kind == "u"

    @property
    def n_words(self) -> int:
        """Number of words or pairs."""
        return len(self.postings) // (1 if self.is_packed else 2)

    @property
    def n_cells(self) -> int:
        """Number of words or pairs plus cells of dense rows: the size by which segments are merged."""
        return self.n_words + self.dense.size

    def n_entries(self) -> int:
        """Number of postings: nonzero cells of dense rows, and distinct graphs among words or pairs."""
        first = self.directory[:, 1]
        listed = self.postings >> np.uint32(PACKED_BITS) if self.is_packed else self.postings[::2]
        begins = np.ones(len(listed), dtype=bool)
        begins[1:] = listed[1:] != listed[:-1]
        begins[first[:-1][first[1:] > first[:-1]]] = True
        for b in self.dense_bins.tolist():
            begins[first[b] : first[b + 1]] = False
        return int(np.count_nonzero(self.dense)) + int(np.count_nonzero(begins))


def fence_ptr(stream_ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of each stream's fences."""
    return offsets(-(-(stream_ptr[1:] - stream_ptr[:-1]) // FENCE_WIDTH))


def fences(stream_ptr: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return every 64th code of each stream."""
    ends = pairwise(stream_ptr.tolist())
    return np.concatenate([codes[:0], *(codes[first:last:FENCE_WIDTH] for first, last in ends)])


def _directory(codes: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return code and first posting of each bin; the last row holds the end of the postings."""
    found = np.zeros((len(codes) + 1, 2), dtype=np.int64)
    found[:-1, 0], found[:, 1] = codes, offsets(lengths)
    return found


def _word_lengths(part: Postings, is_dense: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Return the number of words per bin beside its dense row; None if pairs are shorter or required."""
    from propkernels.search.segment_compiled import count_words

    lengths = np.zeros(len(is_dense), dtype=np.int64)
    if part.n_graphs > 2 ** (32 - PACKED_BITS):
        return None
    if not count_words(part.bin_ptr, part.counts, is_dense, lengths):
        return None
    return lengths if lengths.sum() <= 2 * len(part.counts) else None


def _rows_and_words(
    part: Postings, is_dense: NDArray[np.bool_], n_words: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return dense rows, (dense bins, graphs), and the words of all other counts."""
    from propkernels.search.segment_compiled import pack_postings

    rows = np.where(is_dense, np.cumsum(is_dense) - 1, -1)
    dense = np.zeros((int(is_dense.sum()), part.n_graphs), dtype=np.uint8)
    first = offsets(n_words)
    words = np.empty(first[-1], dtype=np.uint32)
    pack_postings(part.bin_ptr, part.graphs, part.counts, rows, first, dense, words)
    return dense, words


def _pairs(part: Postings) -> NDArray[Any]:
    return compact(np.stack([part.graphs, part.counts], axis=1).astype(np.float64).ravel())


def _inverse(order: NDArray[np.int64], first: int) -> NDArray[np.int64]:
    """Return the position of each column in an order, counted from ``first``."""
    places = np.empty_like(order)
    places[order] = np.arange(first, first + len(order))
    return places


def compact(counts: NDArray[np.float64]) -> NDArray[Any]:
    """Return counts as float32 if that is exact, else unchanged."""
    short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts


def _common_bins(
    parts: Sequence[Postings],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the union of all bins, by stream and code, and the positions of each part's bins in it."""
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
