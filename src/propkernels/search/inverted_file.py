"""InvertedFile: the graphs of each bin with counts (postings), packed in segments; adding and removing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import index_dtype, offsets, rows_of
from propkernels._utils.locks import derived
from propkernels._utils.parallel import run_threads, whole_runs
from propkernels._utils.stored import ANY_NUMBER, Indices, Offsets, is_whole, not_negative, require
from propkernels.counts.counters import StreamCounts, rank_bins
from propkernels.counts.levels import level_numbers
from propkernels.search.nearest import Query, Search, compact_squares, nearest, self_similarities

PACKED_BITS = 8  # bits of the count in a packed posting; the other 24 hold the number of the graph
MOST_PACKED = 2**PACKED_BITS - 1
MOST_GRAPHS = 2 ** (32 - PACKED_BITS)  # of a segment with packed postings
POSTINGS_AT_ONCE = 2**22  # that are packed or checked
WORTH_THREADS = 20_000  # graphs; a query of fewer takes longer in Python than in compiled loops


class Postings(NamedTuple):
    """Counts of graphs by bin, before they are packed; as :class:`Segment`, with graphs and counts apart.

    Attributes
    ----------
    n_graphs : int
    stream_ptr, codes, bin_ptr : ndarray of int64
    graphs : ndarray of int32, (postings,)
        Graphs, ascending within a bin.
    counts : ndarray of float32 or float64, (postings,)
        Count of the bin in the graph; float32 if that is exact.
    """

    n_graphs: int
    stream_ptr: NDArray[np.int64]
    codes: NDArray[np.int64]
    bin_ptr: NDArray[np.int64]
    graphs: NDArray[np.int32]
    counts: NDArray[Any]


def inverted(streams: Sequence[StreamCounts]) -> Postings:
    """Return counts by graph as counts by bin."""
    ranked, n_graphs = [rank_bins(stream) for stream in streams], streams[0].counts.shape[0]
    stream_ptr = offsets([len(stream.codes) for stream in ranked])
    numbers = [stream.counts.nnz for stream in ranked]
    ends = offsets(numbers).tolist()
    # streams below each other, each in its own columns: row s * n_graphs + g is graph g in stream s
    parts = list(zip((stream.counts for stream in ranked), ends, stream_ptr.tolist(), strict=False))
    indptr = np.concatenate([ends[:1], *(counts.indptr[1:] + end for counts, end, _ in parts)])
    index, data = index_dtype(ends[-1], len(indptr)), np.concatenate([counts.data for counts, _, _ in parts])
    columns = np.concatenate(
        [counts.indices.astype(index, copy=False) + index(first) for counts, _, first in parts]
    )
    whole = rows_of(data, columns, indptr.astype(index), (len(indptr) - 1, int(stream_ptr[-1]))).tocsc()
    graphs = whole.indices - np.repeat(n_graphs * np.arange(len(ranked), dtype=index), numbers)
    codes = np.concatenate([stream.codes for stream in ranked])
    return Postings(
        n_graphs,
        stream_ptr,
        codes,
        whole.indptr.astype(np.int64),
        graphs.astype(np.int32, copy=False),
        compact(whole.data),
    )


@dataclass(frozen=True, eq=False)
class Segment:
    """Immutable counts of graphs by bin, packed for search; also as it is in files.

    A posting is one 32-bit word, graph << 8 | count; a count above 255 takes several words, whose counts add
    up. Bins in more than a quarter of the graphs are stored as dense rows of counts (``dense``), with words
    only for the excess over 255. If counts are not integers, or so large that words would take more bytes,
    postings are pairs of floats instead, without dense rows.

    Attributes
    ----------
    n_graphs : int
    stream_ptr : ndarray of int64, (streams + 1,)
        Offsets of the bins of each stream.
    codes : ndarray of int64, (bins,)
        The code of each bin, ascending within a stream.
    bin_ptr : ndarray of int64, (bins + 1,)
        Offsets of the postings of each bin.
    postings : ndarray of uint32, (postings,), or of float32 or float64, (postings, 2)
        Graphs and counts, graphs ascending within a bin.
    dense_bins : ndarray of int64, (rows,)
        Bins stored as dense rows, ascending.
    dense : ndarray of uint8, (rows, graphs)
    """

    n_graphs: int
    stream_ptr: Annotated[NDArray[np.int64], Offsets("codes")]
    codes: Annotated[NDArray[np.int64], ANY_NUMBER]
    bin_ptr: Annotated[NDArray[np.int64], Offsets("postings", pieces="codes")]
    postings: Annotated[NDArray[Any], ANY_NUMBER]
    dense_bins: Annotated[NDArray[np.int64], Indices("codes")]
    dense: Annotated[NDArray[np.uint8], ANY_NUMBER]

    def _check_parts(self) -> None:
        """Refuse postings of graphs that are not there, and arrays of the wrong shape or order."""
        require(is_whole(self.n_graphs, 0) and self.codes.ndim == 1, "codes are missing")
        require(self.dense.shape == (len(self.dense_bins), self.n_graphs), "dense rows have a cell per graph")
        require((np.diff(self.dense_bins) > 0).all(), "dense bins ascend")
        ascends = self.codes[1:] > self.codes[:-1]
        inner = self.stream_ptr[(self.stream_ptr > 0) & (self.stream_ptr < len(self.codes))]
        ascends[inner - 1] = True
        require(ascends.all(), "the codes of a stream ascend")
        if self.is_packed:
            require(self.postings.dtype == np.uint32 and self.postings.ndim == 1, "postings are 32-bit words")
        else:
            require(self.postings.dtype.kind == "f" and self.postings.shape[1:] == (2,), "postings are pairs")
            require(len(self.dense_bins) == 0, "pairs have no dense rows")
        for first in range(0, len(self.postings), POSTINGS_AT_ONCE):
            self._check_postings(first, first + POSTINGS_AT_ONCE)

    def _check_postings(self, first: int, last: int) -> None:
        """Refuse graphs that are not in the segment, or do not ascend within a bin."""
        some = self.postings[first : last + 1]
        if self.is_packed:
            graphs = some >> np.uint32(PACKED_BITS)
        else:
            require(not_negative(some), "counts are not negative")
            graphs = some[:, 0]
            require((graphs == np.rint(graphs)).all(), "graphs are whole numbers")
        require(graphs.max() < self.n_graphs, "postings have graphs of the segment")
        falls = first + 1 + np.flatnonzero(graphs[1:] < graphs[:-1])
        begins = self.bin_ptr[np.searchsorted(self.bin_ptr, falls)] == falls
        require(begins.all(), "graphs ascend within a bin")

    @classmethod
    def of(cls, streams: Sequence[StreamCounts]) -> Segment:
        """Return the counts of graphs by bin."""
        return cls.packed(inverted(streams))

    @classmethod
    def packed(cls, part: Postings) -> Segment:
        """Return packed postings: words and dense rows, or pairs if these are shorter."""
        lengths = np.diff(part.bin_ptr)
        is_dense = 4 * lengths > part.n_graphs
        found = _rows_and_words(part, is_dense)
        if found is None:
            is_dense, bin_ptr = np.zeros(len(lengths), dtype=bool), part.bin_ptr
            dense = np.empty((0, part.n_graphs), dtype=np.uint8)
            postings = compact(np.stack([part.graphs, part.counts], axis=1).astype(np.float64))
        else:
            dense, postings, bin_ptr = found
        bins = (part.stream_ptr, part.codes, bin_ptr)
        return cls(part.n_graphs, *bins, postings, np.flatnonzero(is_dense), dense)

    @classmethod
    def merge(cls, parts: Sequence[Segment], numbers: Sequence[NDArray[np.int64]]) -> Segment:
        """Return several segments as one.

        Parameters
        ----------
        parts : sequence of Segment
        numbers : sequence of ndarray of int64
            For each part, the new numbers of its graphs, ascending from part to part; -1: left out.
        """
        return cls.packed(unpacked(parts, numbers))

    def listed(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]:
        """Return bins, graphs and counts of words or pairs, and of dense rows; those of a posting add up."""
        bins = np.repeat(np.arange(len(self.codes), dtype=np.int32), np.diff(self.bin_ptr))
        if self.is_packed:
            graphs, counts = self.postings >> np.uint32(PACKED_BITS), self.postings & np.uint32(MOST_PACKED)
        else:
            graphs, counts = self.postings.T
        rows, dense_graphs = np.nonzero(self.dense)
        return (
            np.concatenate([bins, self.dense_bins[rows]], dtype=np.int32),
            np.concatenate([graphs, dense_graphs], dtype=np.int32, casting="unsafe"),
            np.concatenate([counts, self.dense[rows, dense_graphs]], dtype=np.float64),
        )

    @property
    def is_packed(self) -> bool:
        """Whether postings are words, not pairs."""
        return self.postings.dtype.kind == "u"

    @property
    def n_cells(self) -> int:
        """Number of words or pairs plus cells of dense rows: the size by which segments are merged."""
        return len(self.postings) + self.dense.size


def unpacked(parts: Sequence[Segment], numbers: Sequence[NDArray[np.int64]]) -> Postings:
    """Return the postings of segments, one per bin and graph, with numbers as for :meth:`Segment.merge`."""
    stream_ptr, codes, targets = _common_bins(parts)
    bins, graphs, counts = [], [], []
    for part, target, number in zip(parts, targets, numbers, strict=True):
        own_bins, own_graphs, own_counts = part.listed()
        new = number.astype(np.int32)[own_graphs]
        kept = slice(None) if (number >= 0).all() else new >= 0
        bins.append(target.astype(np.int32)[own_bins[kept]])
        graphs.append(new[kept])
        counts.append(own_counts[kept])
    shape = len(codes), sum(int((number >= 0).sum()) for number in numbers)
    arrays = (np.concatenate(counts), (np.concatenate(bins), np.concatenate(graphs)))
    whole = csr_array(arrays, shape=shape)  # sums what is of one posting
    bin_ptr, found = whole.indptr.astype(np.int64), whole.indices.astype(np.int32, copy=False)
    return Postings(shape[1], stream_ptr, codes, bin_ptr, found, compact(whole.data))


def _rows_and_words(
    part: Postings, is_dense: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.int64]] | None:
    """Return dense rows, (dense bins, graphs), the words of all other counts, and offsets of bins.

    None if pairs are shorter or required.
    """
    if part.n_graphs > MOST_GRAPHS:
        return None
    dense, n_rows = np.zeros((int(is_dense.sum()), part.n_graphs), dtype=np.uint8), 0
    words, ends, n_words = [np.empty(0, dtype=np.uint32)], [np.zeros(1, dtype=np.int64)], 0
    for first, last in pairwise(whole_runs(part.bin_ptr, POSTINGS_AT_ONCE).tolist()):
        ptr = part.bin_ptr[first : last + 1] - part.bin_ptr[first]
        graphs, counts = (array[part.bin_ptr[first] : part.bin_ptr[last]] for array in part[-2:])
        with np.errstate(invalid="ignore"):  # of what is no whole number
            left = counts.astype(np.uint32)
        if not (left == counts).all():
            return None
        has_row, lengths = is_dense[first:last], np.diff(ptr)
        in_row, new_rows = np.repeat(has_row, lengths), int(has_row.sum())
        row = np.repeat(np.arange(n_rows, n_rows + new_rows), lengths[has_row])
        dense[row, graphs[in_row]] = np.minimum(left[in_row], MOST_PACKED)
        if left.max(initial=0) > MOST_PACKED:  # several words, of which a dense row stands for the first
            times = np.maximum(-(-left.astype(np.int64) // MOST_PACKED), 1)
            place, firsts = level_numbers(times) - 1, offsets(times)
            left = np.minimum(np.repeat(left, times) - MOST_PACKED * place, MOST_PACKED)
            graphs, ptr = np.repeat(graphs, times), firsts[ptr]
            in_row = np.repeat(in_row, times) & (place == 0)
        shifted = graphs[~in_row].astype(np.uint32) << np.uint32(PACKED_BITS)
        words.append(shifted | left[~in_row].astype(np.uint32, copy=False))
        ends.append(n_words + np.cumsum(np.diff(ptr) - np.where(has_row, lengths, 0)))
        n_words, n_rows = n_words + len(words[-1]), n_rows + new_rows
    return (dense, np.concatenate(words), np.concatenate(ends)) if n_words <= 2 * len(part.counts) else None


def compact(counts: NDArray[np.float64]) -> NDArray[Any]:
    """Return counts as float32 if that is exact, else unchanged."""
    short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts


def _common_bins(
    parts: Sequence[Segment],
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


@dataclass(frozen=True, eq=False)
class InvertedFile:
    """Immutable counts of graphs by bin, in segments; adding and removing graphs return a new file.

    The new file shares segments with the old one, which does not change: concurrent readers are safe.

    New graphs form a new segment; segments of similar size are merged, so that there are few of them and
    adding n graphs one by one takes O(n log n) time; none has more graphs than words can number. Removed
    graphs are only marked, until they are half of all.

    Attributes
    ----------
    segments : list of Segment
        Numbers of graphs continue from one segment to the next.
    weights : ndarray, (streams,)
        Weight of each stream in the kernel.
    squares : ndarray, (graphs,)
        Self-similarity of each graph.
    alive : ndarray of bool, (graphs,)
        False for removed graphs.
    """

    segments: list[Segment]
    weights: NDArray[np.float64]
    squares: NDArray[np.float64]
    alive: NDArray[np.bool_]

    def _check_parts(self) -> None:
        """Refuse segments whose streams or graphs do not match weights and squares."""
        require(self.weights.ndim == self.squares.ndim == self.alive.ndim == 1, "weights and sums are lists")
        n_streams = {len(part.stream_ptr) - 1 for part in self.segments}
        require(n_streams <= {len(self.weights)}, "every stream needs a weight")
        n_graphs = sum(part.n_graphs for part in self.segments)
        require(len(self.squares) == len(self.alive) == n_graphs, "every graph needs its sum of squares")
        require(not_negative(self.weights) and not_negative(self.squares), "weights are not negative")

    @classmethod
    def of(cls, streams: Sequence[StreamCounts]) -> InvertedFile:
        """Return a file of one segment."""
        weights = np.array([stream.weight for stream in streams])
        squares = self_similarities(streams)
        return cls([Segment.of(streams)], weights, squares, np.ones(len(squares), dtype=bool))

    def __post_init__(self) -> None:
        n_graphs = sum(part.n_graphs for part in self.segments)
        if not len(self.squares) == len(self.alive) == n_graphs:  # compiled loops rely on it
            raise ValueError(f"{n_graphs} graphs have {len(self.squares)} lengths, {len(self.alive)} marks")

    def append(self, streams: Sequence[StreamCounts]) -> InvertedFile:
        """Return a file with additional graphs at the end."""
        added = self_similarities(streams)
        segments = [*self.segments, Segment.of(streams)]
        while len(segments) > 1 and 2 * segments[-1].n_cells >= segments[-2].n_cells:
            ends = np.cumsum([part.n_graphs for part in segments[-2:]])
            if ends[-1] > MOST_GRAPHS:
                break
            segments[-2:] = [Segment.merge(segments[-2:], np.split(np.arange(ends[-1]), ends[:-1]))]
        squares = np.concatenate([self.squares, added])
        alive = np.concatenate([self.alive, np.ones(len(added), dtype=bool)])
        return InvertedFile(segments, self.weights, squares, alive)

    def drop(self, graphs: NDArray[np.int64]) -> tuple[InvertedFile, bool]:
        """Return a file without some graphs, and whether the remaining graphs were renumbered from 0."""
        alive = self.alive.copy()
        alive[graphs] = False
        if 2 * int(alive.sum()) > len(alive):
            return InvertedFile(self.segments, self.weights, self.squares, alive), False
        numbers = np.where(alive, np.cumsum(alive) - 1, -1)
        parts = np.split(numbers, np.cumsum([part.n_graphs for part in self.segments])[:-1])
        squares = self.squares[alive]
        merged = Segment.merge(self.segments, parts)
        return InvertedFile([merged], self.weights, squares, np.ones(len(squares), dtype=bool)), True

    def __len__(self) -> int:
        return int(np.count_nonzero(self.alive))

    def places(self) -> NDArray[np.int64]:
        """Return the numbers of the graphs that are not removed."""
        return np.flatnonzero(self.alive)

    def nearest(
        self, queries: Sequence[Query], k: int, above: float = -1.0
    ) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Return, per query, the k largest similarities above a number and their graphs.

        Threads run over the queries of a large file.
        """
        work = None if len(self.squares) >= WORTH_THREADS else 0
        return run_threads(lambda query: nearest(self.searches(query), k, above), queries, work=work)

    def later(self, query: Query, graph: int, above: float) -> NDArray[np.int64]:
        """Return the graphs after a given one with similarities above a number, the most similar first."""
        return nearest(self.searches(query, graph + 1), len(self.alive), above)[1]

    def searches(self, query: Query, start: int = 0) -> Iterator[Search]:
        """Yield a prepared search of each segment for one query, of graphs from ``start`` on."""
        if not np.array_equal(self.weights, query.weights):
            raise ValueError("the index was fitted with another kernel: fit it again")
        first, all_alive = 0, bool(self.alive.all())
        for part in self.segments:
            own = slice(first, first + part.n_graphs)
            alive = None if all_alive else self.alive[own]
            if first + part.n_graphs > start:
                skipped = max(start - first, 0)
                yield Search(part, self.short_squares[own], query, first, alive, skipped)
            first += part.n_graphs

    @property
    def short_squares(self) -> NDArray[Any]:
        """Self-similarities in the smallest type that represents them exactly; files do not have them."""
        return derived(self, "short_squares", lambda: compact_squares(self.squares))

    def similarities(self, query: Query) -> NDArray[np.float64]:
        """Return the similarity of a query to every graph; -1 for removed graphs."""
        return np.concatenate([search.similarities() for search in self.searches(query)])
