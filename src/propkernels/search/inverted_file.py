"""InvertedFile: segments in memory, with addition and removal of graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.locks import derived
from propkernels._utils.parallel import run_threads
from propkernels._utils.stored import not_negative, require
from propkernels.counts.counters import StreamCounts
from propkernels.search.nearest import Query, Search, compact_squares, nearest, self_similarities
from propkernels.search.segment import MOST_GRAPHS, Segment

WORTH_THREADS = 20_000  # graphs; a query of fewer takes longer in Python than in compiled loops


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
