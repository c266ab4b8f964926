"""Segment: postings of some graphs, packed to be searched, in memory or mapped from a file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.retrieval.postings import Postings, compact
from propkernels.utils.arrays import offsets

PACKED_BITS = 8  # of a packed posting, for the count; the other 24 are the number of the graph
MOST_PACKED = 2**PACKED_BITS - 1
FENCE_WIDTH = 64  # bins of the directory from one fence to the next: a kilobyte


class Segment(NamedTuple):
    """Counts of some graphs, bin by bin; nothing in it ever changes.

    A posting is one 32-bit word, graph << 8 | count. Bins that more than a quarter of the graphs have are
    shorter as rows of counts of all graphs (``dense``), and have no postings. Where counts are not whole
    numbers up to 255, postings are pairs of floats instead, without rows.

    Attributes
    ----------
    n_graphs : int
    stream_ptr : ndarray of int64, (streams + 1,)
        Which bins belong to which stream.
    fences : ndarray of int64
        Every 64th code of each stream.
    dense_bins : ndarray of int64, (rows,)
        Bins that are rows.
    directory : ndarray of int64, (bins + 1, 2)
        Code and first posting of each bin, codes ascending within a stream; the last row says where the
        postings end.
    dense : ndarray of uint8, (rows, graphs)
    postings : ndarray of uint32, (postings,), or of float32 or float64, (2 * postings,)
        Graphs and counts, graphs ascending within a bin.
    fence_ptr : ndarray of int64, (streams + 1,)
        Which fences belong to which stream.
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
        """Pack postings."""
        packed, lengths = _fits_words(part), part.bin_ptr[1:] - part.bin_ptr[:-1]
        is_dense = packed & (4 * lengths > part.n_graphs)
        in_rows = np.repeat(is_dense, lengths)
        return cls(
            part.n_graphs,
            part.stream_ptr,
            fences(part.stream_ptr, part.codes),
            np.flatnonzero(is_dense),
            _directory(part.codes, np.where(is_dense, 0, lengths)),
            _rows(part, lengths[is_dense], in_rows),
            _words(part, ~in_rows) if packed else _pairs(part),
            fence_ptr(part.stream_ptr),
        )

    def stored(self) -> Postings:
        """Return the postings, of which this is the packed form: what files of models hold."""
        bins, graphs, counts = self._listed()
        rows, dense_graphs = np.nonzero(self.dense)
        of_dense = self.dense_bins[rows]
        bins = np.concatenate([bins, of_dense])
        order = np.argsort(bins, kind="stable")  # a bin is either listed or a row
        graphs = np.concatenate([graphs, dense_graphs.astype(np.int32)])[order]
        counts = np.concatenate([counts, self.dense[rows, dense_graphs]])[order]
        bin_ptr = offsets(np.bincount(bins, minlength=len(self.directory) - 1))
        codes = np.ascontiguousarray(self.directory[:-1, 0])
        return Postings(self.n_graphs, self.stream_ptr, codes, bin_ptr, graphs, compact(counts))

    def _listed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Bins, graphs and counts of the postings that are not in rows."""
        first = self.directory[:, 1]
        bins = np.repeat(np.arange(len(first) - 1), first[1:] - first[:-1])
        if self.is_packed:
            graphs, counts = self.postings >> np.uint32(PACKED_BITS), self.postings & np.uint32(MOST_PACKED)
        else:
            graphs, counts = self.postings[::2], self.postings[1::2]
        return bins, graphs.astype(np.int32), counts.astype(np.float64)

    @property
    def is_packed(self) -> bool:
        """Whether postings are words."""
        return self.postings.dtype.kind == "u"

    @property
    def n_entries(self) -> int:
        """Number of postings, up to those places of rows that are 0."""
        return self.n_postings + self.dense.size

    @property
    def n_postings(self) -> int:
        """Number of postings that are not in rows."""
        return len(self.postings) // (1 if self.is_packed else 2)


def fence_ptr(stream_ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which fences belong to which stream."""
    return offsets(-(-(stream_ptr[1:] - stream_ptr[:-1]) // FENCE_WIDTH))


def _fits_words(part: Postings) -> bool:
    whole = np.array_equal(part.counts, np.clip(np.rint(part.counts), 0, MOST_PACKED))
    return whole and part.n_graphs <= 2 ** (32 - PACKED_BITS)


def fences(stream_ptr: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return every 64th code of each stream."""
    ends = pairwise(stream_ptr.tolist())
    return np.concatenate([codes[:0], *(codes[first:last:FENCE_WIDTH] for first, last in ends)])


def _directory(codes: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Code and first posting of each bin; the last row says where the postings end."""
    found = np.zeros((len(codes) + 1, 2), dtype=np.int64)
    found[:-1, 0], found[:, 1] = codes, offsets(lengths)
    return found


def _rows(part: Postings, lengths: NDArray[np.int64], in_rows: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Rows of counts of all graphs, for bins with these numbers of postings; ``in_rows`` says which."""
    rows = np.zeros((len(lengths), part.n_graphs), dtype=np.uint8)
    rows[np.repeat(np.arange(len(lengths)), lengths), part.graphs[in_rows]] = part.counts[in_rows]
    return rows


def _words(part: Postings, kept: NDArray[np.bool_]) -> NDArray[np.uint32]:
    words = part.graphs[kept].astype(np.uint32)
    words <<= np.uint32(PACKED_BITS)
    words |= part.counts[kept].astype(np.uint32)
    return words


def _pairs(part: Postings) -> NDArray[Any]:
    return compact(np.stack([part.graphs, part.counts], axis=1).astype(np.float64).ravel())
