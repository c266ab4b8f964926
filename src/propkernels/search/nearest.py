"""Nearest graphs: queries, and searches of segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import offsets, sum_in_order
from propkernels.counts.counters import StreamCounts
from propkernels.counts.products import self_products
from propkernels.search.bounds import COSINE, Measure, possible

if TYPE_CHECKING:
    from propkernels.search.inverted_file import Segment

MOST_SHOWN, MOST_DRAWN = 5, 3  # neighbors of a query, and queries, in displays


class _Pair(NamedTuple):
    similarities: NDArray[Any]
    ids: NDArray[Any]


class Neighbors(_Pair):
    """The most similar graphs, best first: arrays (queries, k), or (k,) for a single query.

    With a least similarity, numbers of graphs differ: one array per query, in arrays of objects (queries,).
    Notebooks draw the graphs, if they are still in memory.
    """

    _graphs: Any = None  # the indexed graphs
    _places: Any = None  # of each query's neighbors among them

    def _shown_with(self, graphs: Any, places: Sequence[NDArray[np.int64]]) -> Neighbors:
        """Return the same neighbors with their graphs, for drawings."""
        found = Neighbors(*self)
        found._graphs, found._places = graphs, places
        return found

    def __getstate__(self) -> None:
        """Pickle and copy the arrays alone."""

    def _rows(self) -> list[list[tuple[Any, float]]]:
        """Return ids and similarities of each query's neighbors."""
        several = self.similarities.ndim == 2 or self.similarities.dtype == object
        pairs = zip(self.similarities, self.ids, strict=True) if several else [(self.similarities, self.ids)]
        return [list(zip(ids.tolist(), values.tolist(), strict=True)) for values, ids in pairs]

    def __repr__(self) -> str:
        rows = self._rows()
        lines = [
            f"{i}: " + ", ".join(f"{name} {value:.3f}" for name, value in row[:MOST_SHOWN])
            for i, row in enumerate(rows[:MOST_SHOWN])
        ]
        more = [f"... and {len(rows) - MOST_SHOWN} more"] if len(rows) > MOST_SHOWN else []
        return "\n".join(["Neighbors and similarities of each graph:", *lines, *more])

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import plain_drawing
        from propkernels.plotting.pages.fragments import Drawing, Drawings, Remark, show_result

        rows = self._rows()
        parts: list[Any] = []
        for i, row in enumerate(rows[:MOST_DRAWN]):
            names = getattr(self._graphs, "ids", None)
            if self._graphs is None:
                texts = ", ".join(f"{name}: {value:.3f}" for name, value in row[:MOST_SHOWN])
                parts.append(Remark(f"graph {i}: {texts}"))
                continue
            cards = []
            for place, (name, value) in zip(self._places[i].tolist(), row[:MOST_SHOWN], strict=False):
                text = f"{name if names is None else names[place]}: {value:.3f}"
                cards.append(Drawing(plain_drawing(self._graphs, place), text))
            parts += [Remark(f"nearest to graph {i}, with similarities")] if len(rows) > 1 else []
            parts.append(Drawings(cards))
        if len(rows) > MOST_DRAWN:
            parts.append(Remark(f"and those of {len(rows) - MOST_DRAWN} more graphs"))
        return show_result("Most similar graphs", *parts)


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


class Search:
    """Search of one segment for the graphs most similar to a query.

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
        self.begin, self.end, self.rows = np.empty((3, len(query.codes)), dtype=np.int64)
        bins = (segment.stream_ptr, segment.codes, segment.bin_ptr, segment.dense_bins)
        _core.find_postings(query.codes, query.streams, bins, self.begin, self.end, self.rows)

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
        return values[found], self.first + (found if places is None else places[found])

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
        scores, counts = np.zeros(self.segment.n_graphs), self.query.counts[some]
        add = _core.add_packed if self.segment.is_packed else _core.add_pairs
        add(self.begin[some], self.end[some], counts, self.segment.postings, scores)
        _core.add_rows(self.rows[some], counts, self.segment.dense, 0, scores)
        return scores


def nearest(
    searches: Iterable[Search], k: int, above: float = -1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the k largest similarities of all segments, and the numbers of their graphs.

    Similarities up to ``above`` are left out.
    """
    values, numbers = np.empty(0), np.empty(0, dtype=np.int64)
    for search in searches:
        # graphs of later segments must exceed the k-th value; among equals, earlier graphs come first
        least = max(above, float(values[-1])) if 0 < k == len(values) else above
        found, places = search.best(k, least)
        values, numbers = np.concatenate([values, found]), np.concatenate([numbers, places])
        if len(values) > len(found):
            best = largest(values, min(k, len(values)))
            values, numbers = values[best], numbers[best]
    return values, numbers


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
