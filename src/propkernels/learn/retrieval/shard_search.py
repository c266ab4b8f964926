"""A query of one shard, in steps: between them the disk reads for many shards at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import StreamCounts
from propkernels.learn.retrieval.shard_file import FENCE_WIDTH, Shard
from propkernels.utils.arrays import MOST_THINGS

Item = TypeVar("Item")
CALM = 32  # steps without the disk, after which pages are no longer asked for


class Query(NamedTuple):
    """The bins of one graph, those of all streams behind each other."""

    codes: NDArray[np.int64]
    streams: NDArray[np.int64]
    counts: NDArray[np.float64]
    weights: NDArray[np.float64]
    square: float

    @classmethod
    def of(cls, streams: Sequence[StreamCounts], row: int, square: float) -> Query:
        """Take one of several graphs; ``square`` is its self-similarity."""
        rows = [slice(*stream.counts.indptr[row : row + 2]) for stream in streams]
        parts = list(zip(streams, rows, strict=True))
        return cls(
            np.concatenate([stream.codes[stream.counts.indices[own]] for stream, own in parts]),
            np.repeat(np.arange(len(parts)), [own.stop - own.start for own in rows]),
            np.concatenate([stream.counts.data[own] for stream, own in parts]).astype(np.float64),
            np.array([stream.weight for stream in streams]),
            square,
        )


class ReadAhead:
    """Whether the disk has to be asked for pages: not while all that is looked at is in memory anyway."""

    def __init__(self) -> None:
        self.n_reads, self.n_calm = n_reads(), 0

    def look(self) -> None:
        """Note whether the disk was read since the last time."""
        now = n_reads()
        self.n_calm = self.n_calm + 1 if now == self.n_reads else 0
        self.n_reads = now

    @property
    def is_needed(self) -> bool:
        """Whether the disk was read in the last steps."""
        return self.n_calm < CALM


def n_reads() -> int:
    """How often the disk was read for this process, as far as the system tells."""
    try:
        import resource
    except ImportError:  # not on Windows, where pages cannot be asked for either
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_inblock + used.ru_majflt


@dataclass
class ShardSearch:
    """The graphs of a shard that are most similar to a query: begin, locate, find, then ask for them.

    Each step tells the system which pages the next one will look at, and does not wait for them.
    """

    shard: Shard
    query: Query
    ahead: ReadAhead

    def begin(self) -> ShardSearch:
        """Map the shard; its fences and squares are read."""
        if not np.array_equal(self.shard.arrays["weights"], self.query.weights):
            raise ValueError(f"{self.shard.path} was built with another kernel")
        self.ahead.look()
        if self.ahead.is_needed:
            self.shard.announce_front()
        return self

    def locate(self) -> ShardSearch:
        """Look at the fences; the blocks of the directory in which codes may be are read."""
        from propkernels.learn.retrieval.shard_compiled import find_blocks

        codes, arrays = self.query.codes, self.shard.arrays
        self.low, self.high = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.int64)
        fences = (arrays["fences"], self.shard.fence_ptr, FENCE_WIDTH)
        find_blocks(codes, self.query.streams, arrays["stream_ptr"], *fences, self.low, self.high)
        self.ahead.look()
        if self.ahead.is_needed:
            self.shard.announce([("directory", 2 * self.low, 2 * (self.high + 1))])
        return self

    def find(self) -> ShardSearch:
        """Look at the directory; postings and rows of the codes that are there are read."""
        from propkernels.learn.retrieval.shard_compiled import find_bins

        arrays, bins = self.shard.arrays, np.empty(len(self.query.codes), dtype=np.int64)
        directory = arrays["directory"]
        find_bins(self.query.codes, self.low, self.high, directory, bins)
        self.own = np.flatnonzero(bins >= 0)  # codes of the query that the shard has
        bins = bins[self.own]
        self.first, self.last = directory[bins, 1], directory[bins + 1, 1]
        if ((self.first < 0) | (self.last < self.first) | (self.last > self.shard.n_postings)).any():
            raise self._damaged()
        self.rows = _places(arrays["dense_bins"], bins)
        self.ahead.look()
        if self.ahead.is_needed:
            self._announce_postings()
        return self

    def _announce_postings(self) -> None:
        n_graphs, rows = self.shard.n_graphs, self.rows[self.rows >= 0]
        width = 1 if self.shard.arrays["postings"].dtype.kind == "u" else 2
        spans = (
            ("postings", width * self.first, width * self.last),
            ("dense", n_graphs * rows, n_graphs * (rows + 1)),
        )
        self.shard.announce(spans)

    def above(self, least: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Graphs whose normalized kernel with the query exceeds a number, and its values.

        The values have the bits of ``InvertedFile``. Few graphs are left by a comparison of squares, which is
        a little generous; only those are divided.
        """
        total, squares = self._products(), self.shard.arrays["squares"]
        generous = (1 - 1e-9) * least * least * self.query.square if least > 0 else 0.0
        places = np.flatnonzero(total * total >= generous * squares)
        length = np.sqrt(self.query.square * squares[places].astype(np.float64))
        values = np.divide(total[places], length, out=np.zeros(len(places)), where=length > 0)
        better = values > least
        self.ahead.look()
        return places[better], values[better]

    def ids(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of graphs of the shard in their plan."""
        found = self.shard.ids[places]
        if ((found < 0) | (found >= MOST_THINGS)).any():
            raise self._damaged()
        return found

    def _products(self) -> NDArray[np.float64]:
        """The kernel between the query and every graph; bins of equal weight are added up, then weighted."""
        total: NDArray[np.float64] | None = None
        weights = self.query.weights[self.query.streams[self.own]]
        for weight in dict.fromkeys(self.query.weights.tolist()):
            shared = np.zeros(self.shard.n_graphs)
            self._add(np.flatnonzero(weights == weight), shared)
            shared *= weight
            total = shared if total is None else np.add(total, shared, out=total)
        return np.zeros(self.shard.n_graphs) if total is None else total

    def _add(self, some: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Add the products of counts in some of the bins; whole numbers, whose order does not matter."""
        from propkernels.learn.retrieval.shard_compiled import add_packed, add_pairs, add_rows

        counts, rows, postings = self.query.counts[self.own], self.rows, self.shard.arrays["postings"]
        listed, dense = some[rows[some] < 0], some[rows[some] >= 0]
        add = add_packed if postings.dtype.kind == "u" else add_pairs
        if not add(self.first[listed], self.last[listed], counts[listed], postings, scores):
            raise self._damaged()
        add_rows(rows[dense], counts[dense], self.shard.arrays["dense"], scores)

    def _damaged(self) -> ValueError:
        return ValueError(f"{self.shard.path} is damaged: remove it, and build the index again")


def _places(ascending: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where values are in an array; -1: nowhere."""
    if len(ascending) == 0:
        return np.full(len(values), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.where(ascending[places] == values, places, -1)


def ahead(items: Iterable[Item], n: int) -> Iterator[Item]:
    """Give items n later than they come, so that n of them are under way.

    Examples
    --------
    >>> for i in ahead(map(print, "abc"), 1):
    ...     print(i)
    a
    b
    None
    c
    None
    None
    """
    waiting: deque[Item] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > n:
            yield waiting.popleft()
    yield from waiting
