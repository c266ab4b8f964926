"""Nearest graphs: searches of segments, and of rows of features."""

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
from propkernels.counts.counters import StreamCounts
from propkernels.counts.products import self_products
from propkernels.search.bounds import possible
from propkernels.search.measures import COSINE, Measure
from propkernels.search.segment import FENCE_WIDTH, Segment

if TYPE_CHECKING:
    from propkernels.scale.opened import FeatureFolder

Item = TypeVar("Item")


class Neighbors(NamedTuple):
    """The most similar graphs, best first: arrays (queries, k), or (k,) for a single query.

    With a least similarity, numbers of graphs differ: one array per query, in arrays of objects (queries,).
    """

    similarities: NDArray[Any]
    ids: NDArray[Any]


class Query(NamedTuple):
    """The bins of one graph, all streams concatenated."""

    codes: NDArray[np.int64]
    streams: NDArray[np.int64]
    counts: NDArray[np.float64]
    weights: NDArray[np.float64]
    square: float
    measure: Measure = COSINE

    @classmethod
    def all(cls, streams: Sequence[StreamCounts], measure: Measure = COSINE) -> list[Query]:
        """Return one query per graph."""
        lengths = [stream.counts.indptr[1:] - stream.counts.indptr[:-1] for stream in streams]
        rows = np.concatenate([np.repeat(np.arange(len(own)), own) for own in lengths])
        order = np.argsort(rows, kind="stable")  # sorted by graph, then by stream
        codes = np.concatenate([stream.codes[stream.counts.indices] for stream in streams])[order]
        counts = np.concatenate([stream.counts.data for stream in streams]).astype(np.float64)[order]
        of_codes = np.repeat(np.arange(len(streams)), [stream.counts.nnz for stream in streams])[order]
        weights, squares = np.array([stream.weight for stream in streams]), self_similarities(streams)
        runs = [slice(*ends) for ends in pairwise(offsets(np.sum(lengths, axis=0)).tolist())]
        return [
            cls(codes[own], of_codes[own], counts[own], weights, square, measure)
            for own, square in zip(runs, squares.tolist(), strict=True)
        ]


def self_similarities(streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
    """Return k(x, x) of each graph; integer sums are exact, then weighted."""
    total = np.zeros(streams[0].counts.shape[0])
    for weight in dict.fromkeys(stream.weight for stream in streams):
        same = [self_products(stream.counts) for stream in streams if stream.weight == weight]
        total += weight * np.sum(same, axis=0)
    return total


def compact_squares(squares: NDArray[np.float64]) -> NDArray[Any]:
    """Return self-similarities in the smallest type that represents them exactly."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if len(squares) == 0 or (squares.min() >= 0 and squares.max() <= np.iinfo(kind).max):
            short = squares.astype(kind)
            if np.array_equal(short, squares):
                return short
    return squares


Spans = list[tuple[str, Any, Any]]  # name of an array of a segment, first and last elements of ranges


class Search:
    """Search of one segment for the graphs most similar to a query: locate, find, then best.

    Parameters
    ----------
    segment : Segment
    squares : ndarray, (graphs,)
        Self-similarity of each graph.
    query : Query
    first : int, default=0
        Number of the segment's first graph in the index.
    alive : ndarray of bool, (graphs,), optional
        False for removed graphs.
    start : int, default=0
        First graph of the segment that is searched.
    """

    def __init__(
        self,
        segment: Segment,
        squares: NDArray[Any],
        query: Query,
        first: int = 0,
        alive: NDArray[np.bool_] | None = None,
        start: int = 0,
    ) -> None:
        self.segment, self.squares, self.query = segment, squares, query
        self.first, self.alive, self.start = first, alive, start

    def locate(self) -> Self:
        """Find the range of the directory that may hold each code, by the fences."""
        from propkernels.search.segment_compiled import find_blocks

        codes, segment = self.query.codes, self.segment
        self.low, self.high = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.int64)
        fences = (segment.fences, segment.fence_ptr, FENCE_WIDTH)
        find_blocks(codes, self.query.streams, segment.stream_ptr, *fences, self.low, self.high)
        self.expect(lambda: [("directory", 2 * self.low, 2 * (self.high + 1))])
        return self

    def find(self) -> Self:
        """Find the postings and dense rows of each code, by the directory."""
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
        """Announce the memory that the next step reads; does nothing in memory."""

    def numbers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers in the index of graphs of the segment."""
        return self.first + places

    def damaged(self) -> ValueError:
        """Return the error for invalid offsets or numbers."""
        return ValueError("the index is damaged: fit it again")

    def similarities(self) -> NDArray[np.float64]:
        """Return the similarity of the query to every graph; -1 for removed graphs."""
        values = self._compared(self._products(), self.squares)
        if self.alive is not None:
            values[~self.alive] = -1.0
        return values

    def best(self, k: int, least: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the at most k largest similarities above ``least``, largest first, and their graphs.

        Bounds leave few graphs, or else a slightly loose comparison without division; only these are divided.
        """
        few = possible(self, k, least)
        places: NDArray[np.int64] | None
        if few is not None:
            places, total = few
            values = self._compared(total, self.squares[places])
        elif least < 0:
            values, places = self.similarities(), None
            values[: self.start] = -1.0
        else:
            total = self._products()
            query = self.query
            places = np.flatnonzero(query.measure.may_exceed(total, query.square, self.squares, least))
            if self.alive is not None:
                places = places[self.alive[places]]
            places = places[np.searchsorted(places, self.start) :]
            values = self._compared(total[places], self.squares[places])
        found = largest(values, min(k, len(values)))
        found = found[values[found] > least]
        return values[found], self.numbers(found if places is None else places[found])

    def _compared(self, total: NDArray[np.float64], squares: NDArray[Any]) -> NDArray[np.float64]:
        return self.query.measure.values(total, self.query.square, squares)

    def _products(self) -> NDArray[np.float64]:
        """Return the kernel between the query and every graph; bins of equal weight are summed first.

        Products of counts are integers and their sums are exact, so the result depends on neither segments
        nor order. Equal graphs have similarity exactly 1.
        """
        weights = dict.fromkeys(self.query.weights.tolist())
        if len(weights) == 1:
            return self._shared(slice(None)) * next(iter(weights))
        of_codes = self.query.weights[self.query.streams]
        parts = [self._shared(np.flatnonzero(of_codes == weight)) * weight for weight in weights]
        return sum_in_order(parts) if parts else np.zeros(self.segment.n_graphs)

    def _shared(self, some: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum of products of counts over some bins of the query, for every graph."""
        from propkernels.search.segment_compiled import add_packed, add_pairs, add_rows

        scores, counts = np.zeros(self.segment.n_graphs), self.query.counts[some]
        add = add_packed if self.segment.is_packed else add_pairs
        if not add(self.begin[some], self.end[some], counts, self.segment.postings, scores):
            raise self.damaged()
        add_rows(self.rows[some], counts, self.segment.dense, scores)
        return scores


def nearest(
    searches: Iterable[Search], k: int, n_jobs: int | None = None, above: float = -1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the k largest similarities of all segments, and the numbers of their graphs.

    Similarities up to ``above`` are left out.

    Segments come in the order of their numbers, so that ties keep that order. Threads run over segments.
    """
    least = [above]  # lower bound for graphs of later segments; never decreases
    values, numbers = np.empty(0), np.empty(0, dtype=np.int64)
    for some in _runs(iter(searches), thread_count(n_jobs)):
        found = run_threads(lambda search: search.best(k, least[0]), some, n_jobs)
        if len(values) == 0 and len(found) == 1:
            values, numbers = found[0]
            least[0] = max(above, _least(values, k))
            continue
        values = np.concatenate([values, *(own for own, _ in found)])
        numbers = np.concatenate([numbers, *(own for _, own in found)])
        best = largest(values, min(k, len(values)))
        values, numbers = values[best], numbers[best]
        least[0] = max(above, _least(values, k))
    return values, numbers


def _least(values: NDArray[np.float64], k: int) -> float:
    """Return the lower bound that a new value must exceed to be among the k largest."""
    return float(values[-1]) if 0 < k == len(values) else -1.0


def largest(values: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the positions of the k largest values, largest first; ties by position.

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
    """Yield batches of one item per thread."""
    while run := list(islice(items, width)):
        yield run


def nearest_rows(features: FeatureFolder, graph: int, k: int = 10) -> Neighbors:
    """Return the graphs of a feature folder that are most similar to one of them.

    Parts are searched one after the other. The similarity is the normalized dot product of features; if bins
    share a column, it is slightly larger than that of an index.

    Parameters
    ----------
    features : FeatureFolder
    graph : int
        Number of the graph in the plan; the results include it.
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
    """Return the positions of at most k values above ``least``, largest first; ties by position.

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
