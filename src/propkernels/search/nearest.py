"""Nearest neighbors of a graph: among the graphs of segments, and among rows of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import offsets, sum_in_order
from propkernels._utils.checks import check_integer
from propkernels._utils.parallel import run_threads, thread_count
from propkernels._utils.progress import ProgressBar
from propkernels.counting.counters import StreamCounts
from propkernels.gram.products import self_products
from propkernels.search.segment import FENCE_WIDTH, Segment

if TYPE_CHECKING:
    from propkernels.scale.opened import FeatureFolder

Item = TypeVar("Item")


class Neighbors(NamedTuple):
    """The most similar graphs, best first: arrays (queries, k), or (k,) for a single graph."""

    similarities: NDArray[np.float64]
    ids: NDArray[Any]


class Query(NamedTuple):
    """The bins of one graph, those of all streams behind each other."""

    codes: NDArray[np.int64]
    streams: NDArray[np.int64]
    counts: NDArray[np.float64]
    weights: NDArray[np.float64]
    square: float

    @classmethod
    def all(cls, streams: Sequence[StreamCounts]) -> list[Query]:
        """Return one query per graph."""
        lengths = [stream.counts.indptr[1:] - stream.counts.indptr[:-1] for stream in streams]
        rows = np.concatenate([np.repeat(np.arange(len(own)), own) for own in lengths])
        order = np.argsort(rows, kind="stable")  # graph by graph, and stream by stream within a graph
        codes = np.concatenate([stream.codes[stream.counts.indices] for stream in streams])[order]
        counts = np.concatenate([stream.counts.data for stream in streams]).astype(np.float64)[order]
        of_codes = np.repeat(np.arange(len(streams)), [stream.counts.nnz for stream in streams])[order]
        weights, squares = np.array([stream.weight for stream in streams]), self_similarities(streams)
        runs = [slice(*ends) for ends in pairwise(offsets(np.sum(lengths, axis=0)).tolist())]
        return [
            cls(codes[own], of_codes[own], counts[own], weights, square)
            for own, square in zip(runs, squares.tolist(), strict=True)
        ]


def self_similarities(streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
    """Return k(x, x) of each graph; whole numbers are added up before they are weighted."""
    total = np.zeros(streams[0].counts.shape[0])
    for weight in dict.fromkeys(stream.weight for stream in streams):
        same = [self_products(stream.counts) for stream in streams if stream.weight == weight]
        total += weight * np.sum(same, axis=0)
    return total


Spans = list[tuple[str, Any, Any]]  # arrays of a segment by name, and from which elements to which


class Search:
    """The graphs of a segment that are most similar to a query: locate, find, then ask for them.

    Parameters
    ----------
    segment : Segment
    squares : ndarray, (graphs,)
        Self-similarity of each graph.
    query : Query
    first : int, default=0
        Number of the first graph.
    alive : ndarray of bool, (graphs,), optional
        Graphs that are not left out.
    """

    def __init__(
        self,
        segment: Segment,
        squares: NDArray[Any],
        query: Query,
        first: int = 0,
        alive: NDArray[np.bool_] | None = None,
    ) -> None:
        self.segment, self.squares, self.query = segment, squares, query
        self.first, self.alive = first, alive

    def locate(self) -> Self:
        """Find the bins of the directory between which each code must be, by the fences."""
        from propkernels.search.segment_compiled import find_blocks

        codes, segment = self.query.codes, self.segment
        self.low, self.high = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.int64)
        fences = (segment.fences, segment.fence_ptr, FENCE_WIDTH)
        find_blocks(codes, self.query.streams, segment.stream_ptr, *fences, self.low, self.high)
        self.expect(lambda: [("directory", 2 * self.low, 2 * (self.high + 1))])
        return self

    def find(self) -> Self:
        """Find the postings and rows of the codes that the segment has, by the directory."""
        from propkernels.search.segment_compiled import find_bins, find_postings

        segment, n_codes = self.segment, len(self.query.codes)
        bins, self.begin, self.end, self.rows = np.empty((4, n_codes), dtype=np.int64)
        find_bins(self.query.codes, self.low, self.high, segment.directory, bins)
        arrays = (segment.directory, segment.dense_bins, segment.n_words)
        if not find_postings(bins, *arrays, self.begin, self.end, self.rows):
            raise self.damaged()
        self.expect(self._postings)
        return self

    def _postings(self) -> Spans:
        n_graphs, rows = self.segment.n_graphs, self.rows[self.rows >= 0]
        width = 1 if self.segment.is_packed else 2
        return [
            ("postings", width * self.begin, width * self.end),
            ("dense", n_graphs * rows, n_graphs * (rows + 1)),
        ]

    def expect(self, spans: Callable[[], Spans]) -> None:
        """Prepare for what the next step looks at; in memory there is nothing to prepare."""

    def numbers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers that graphs of the segment have in the index."""
        return self.first + places

    def damaged(self) -> ValueError:
        """Return the error of numbers that lead nowhere."""
        return ValueError("the index is damaged: fit it again")

    def similarities(self) -> NDArray[np.float64]:
        """Return the normalized kernel between the query and every graph; -1 for graphs that are left out."""
        values = self._normalized(self._products(), self.squares)
        if self.alive is not None:
            values[~self.alive] = -1.0
        return values

    def best(self, k: int, least: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the k largest values that exceed a number, largest first, and the numbers of their graphs.

        Few graphs are left by a comparison of squares, which is a little generous; only those are divided.
        """
        if least < 0:
            values, places = self.similarities(), None
        else:
            total = self._products()
            generous = (1 - 1e-9) * least * least * self.query.square
            places = np.flatnonzero(total * total >= generous * self.squares)
            if self.alive is not None:
                places = places[self.alive[places]]
            values = self._normalized(total[places], self.squares[places])
        found = largest(values, min(k, len(values)))
        found = found[values[found] > least]
        return values[found], self.numbers(found if places is None else places[found])

    def _normalized(self, total: NDArray[np.float64], squares: NDArray[Any]) -> NDArray[np.float64]:
        length = np.sqrt(self.query.square * squares.astype(np.float64, copy=False))
        return np.divide(total, length, out=np.zeros(len(total)), where=length > 0)

    def _products(self) -> NDArray[np.float64]:
        """Return the kernel between the query and every graph; bins of equal weight are added up first.

        Products of counts are whole numbers and their sums exact, so that the result depends on neither
        segments nor order. Equal graphs have similarity 1, exactly.
        """
        weights = dict.fromkeys(self.query.weights.tolist())
        if len(weights) == 1:
            return self._shared(slice(None)) * next(iter(weights))
        of_codes = self.query.weights[self.query.streams]
        parts = [self._shared(np.flatnonzero(of_codes == weight)) * weight for weight in weights]
        return sum_in_order(parts) if parts else np.zeros(self.segment.n_graphs)

    def _shared(self, some: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Add up the products of counts in some of the query's bins, for every graph."""
        from propkernels.search.segment_compiled import add_packed, add_pairs, add_rows

        scores, counts = np.zeros(self.segment.n_graphs), self.query.counts[some]
        add = add_packed if self.segment.is_packed else add_pairs
        if not add(self.begin[some], self.end[some], counts, self.segment.postings, scores):
            raise self.damaged()
        add_rows(self.rows[some], counts, self.segment.dense, scores)
        return scores


def nearest(
    searches: Iterable[Search], k: int, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the k largest similarities of all segments, and the numbers of their graphs.

    Segments come in the order of the numbers, so that equals stay in order. Threads take segments in turn.
    """
    least = [-1.0]  # what a graph of a later segment must exceed, which only grows
    values, numbers = np.empty(0), np.empty(0, dtype=np.int64)
    for some in _runs(iter(searches), thread_count(n_jobs)):
        found = run_threads(lambda search: search.best(k, least[0]), some, n_jobs)
        if len(values) == 0 and len(found) == 1:
            values, numbers = found[0]
            least[0] = _least(values, k)
            continue
        values = np.concatenate([values, *(own for own, _ in found)])
        numbers = np.concatenate([numbers, *(own for _, own in found)])
        best = largest(values, min(k, len(values)))
        values, numbers = values[best], numbers[best]
        least[0] = _least(values, k)
    return values, numbers


def _least(values: NDArray[np.float64], k: int) -> float:
    """Return what a further value must exceed to be among the k largest."""
    return float(values[-1]) if 0 < k == len(values) else -1.0


def largest(values: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the places of the k largest values, largest first; among equals the first ones.

    Examples
    --------
    >>> largest(np.array([0.5, 0.9, 0.5, 0.1, 0.5]), 3)
    array([1, 0, 2])
    """
    if k == 0:
        return np.empty(0, dtype=np.int64)
    least = np.partition(values, len(values) - k)[len(values) - k]
    candidates = np.flatnonzero(values >= least)
    order = np.lexsort((candidates, -values[candidates]))
    return candidates[order[:k]]


def _runs(items: Iterator[Item], width: int) -> Iterator[list[Item]]:
    """Yield items in runs of one per thread."""
    while run := list(islice(items, width)):
        yield run


def nearest_rows(features: FeatureFolder, graph: int, k: int = 10) -> Neighbors:
    """Return the graphs of a folder of features that are most similar to one of them.

    Parts are searched one after the other. The similarity is the normalized dot product of features; where
    bins share a column, it is a little larger than that of an index.

    Parameters
    ----------
    features : FeatureFolder
    graph : int
        Number of the graph in the plan; it is among the results.
    k : int, default=10
    """
    row, k = row_of(features, graph), min(check_integer(k, "k", 1), len(features))
    query, length = row.toarray().ravel(), float(self_products(row)[0])
    values, ids, least = np.empty(0), np.empty(0, dtype=np.int64), -1.0
    with ProgressBar("Searching", features.n_parts) as bar:
        for block in features:
            scale = np.sqrt(length * self_products(block.features))
            own = np.divide(block.features @ query, scale, out=np.zeros(len(block.ids)), where=scale > 0)
            best = candidates(own, k, least)
            values, ids = np.concatenate([values, own[best]]), np.concatenate([ids, block.ids[best]])
            kept = largest(values, min(k, len(values)))
            values, ids = values[kept], ids[kept]
            least = float(values[-1]) if len(values) == k else -1.0
            bar.step()
    return Neighbors(values, ids)


def candidates(values: NDArray[np.float64], k: int, least: float) -> NDArray[np.int64]:
    """Return the places of at most k values above a number, largest first; among equals the first ones.

    Examples
    --------
    >>> candidates(np.array([0.5, 0.9, 0.5, 0.1]), 2, 0.1)
    array([1, 0])
    >>> candidates(np.array([0.5, 0.9, 0.5, 0.1]), 2, 0.5)
    array([1])
    """
    above = np.flatnonzero(values > least)
    return above[largest(values[above], min(k, len(above)))]


def row_of(features: FeatureFolder, graph: int) -> Any:
    """Return the features of one graph, (1, columns)."""
    places = np.flatnonzero(features.ids == check_integer(graph, "graph", 0))
    if len(places) == 0:
        raise ValueError(f"{features.folder} has no graph {graph}")
    ends = np.cumsum(features.part_sizes)
    part = int(np.searchsorted(ends, places[0], side="right"))
    return features.block(part).features[[int(places[0] - (ends[part] - features.part_sizes[part]))]]
