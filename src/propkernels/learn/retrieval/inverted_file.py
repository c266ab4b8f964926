"""The inverted file: postings that grow, shrink, and answer which graphs share bins with a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import StreamCounts
from propkernels.gram.linear import self_products
from propkernels.learn.retrieval.postings import Postings

Bins = list[NDArray[np.int64]]  # for each stream, the bin of each of the query's codes


@dataclass(frozen=True)
class InvertedFile:
    """Counts of graphs, kept bin by bin in segments; adding and taking out make a new file.

    The new file shares its segments with the old one, which stays as it was: whoever reads it is not
    disturbed.

    New graphs go into a segment of their own; segments of about one size are merged, so that there are never
    many and adding one graph after the other takes time in proportion to their number (times its logarithm).
    Graphs that are taken out are only marked, until they are half of all.

    Attributes
    ----------
    segments : list of Postings
        Graph 0 of each follows the last graph of the one before.
    weights : ndarray, (streams,)
        What each stream's kernel counts in the sum.
    squares : ndarray, (graphs,)
        Self-similarity of each graph.
    alive : ndarray of bool, (graphs,)
    """

    segments: list[Postings]
    weights: NDArray[np.float64]
    squares: NDArray[np.float64]
    alive: NDArray[np.bool_]

    @classmethod
    def of(cls, streams: Sequence[StreamCounts]) -> InvertedFile:
        """Take the counts of the first graphs."""
        weights = np.array([stream.weight for stream in streams])
        squares = self_similarities(streams)
        return cls([Postings.of(streams)], weights, squares, np.ones(len(squares), dtype=bool))

    def __post_init__(self) -> None:
        n_graphs = sum(part.n_graphs for part in self.segments)
        if not len(self.squares) == len(self.alive) == n_graphs:  # compiled loops rely on it
            raise ValueError(f"{n_graphs} graphs have {len(self.squares)} lengths, {len(self.alive)} marks")

    def append(self, streams: Sequence[StreamCounts]) -> InvertedFile:
        """Return a file with further graphs behind the others."""
        added = self_similarities(streams)
        segments = [*self.segments, Postings.of(streams)]
        while len(segments) > 1 and 2 * len(segments[-1].graphs) >= len(segments[-2].graphs):
            segments[-2:] = [_joined(segments[-2:])]
        squares = np.concatenate([self.squares, added])
        alive = np.concatenate([self.alive, np.ones(len(added), dtype=bool)])
        return InvertedFile(segments, self.weights, squares, alive)

    def in_one_segment(self) -> InvertedFile:
        """Return a file whose segments are joined."""
        segments = self.segments if len(self.segments) == 1 else [_joined(self.segments)]
        return InvertedFile(segments, self.weights, self.squares, self.alive)

    def drop(self, graphs: NDArray[np.int64]) -> tuple[InvertedFile, bool]:
        """Return a file without some graphs, and whether those left were numbered anew, from 0 on."""
        alive = self.alive.copy()
        alive[graphs] = False
        if 2 * int(alive.sum()) > len(alive):
            return InvertedFile(self.segments, self.weights, self.squares, alive), False
        numbers = np.where(alive, np.cumsum(alive) - 1, -1)
        parts = np.split(numbers, np.cumsum([part.n_graphs for part in self.segments])[:-1])
        squares = self.squares[alive]
        merged = Postings.merge(self.segments, parts)
        return InvertedFile([merged], self.weights, squares, np.ones(len(squares), dtype=bool)), True

    def find(self, streams: Sequence[StreamCounts]) -> list[Bins]:
        """For each segment, the bins of the queries' codes."""
        return [[part.find(s, stream.codes) for s, stream in enumerate(streams)] for part in self.segments]

    def similarities(
        self, streams: Sequence[StreamCounts], found: list[Bins], query: int, square: float
    ) -> NDArray[np.float64]:
        """Normalised kernel between one of the queries and every graph; -1 for graphs that were taken out.

        Products of counts are whole numbers and their sums exact, so that the result depends on neither
        segments nor order. Equal graphs have similarity 1, exactly.
        """
        total = np.zeros(len(self.squares))
        for weight in dict.fromkeys(self.weights.tolist()):
            shared = np.zeros(len(self.squares))
            for s in np.flatnonzero(self.weights == weight).tolist():
                self._add(streams[s].counts, [bins[s] for bins in found], query, shared)
            total += weight * shared
        length = np.sqrt(square * self.squares)
        np.divide(total, length, out=total, where=length > 0)
        total[~self.alive] = -1.0
        return total

    def _add(self, counts: Any, bins: Bins, query: int, scores: NDArray[np.float64]) -> None:
        from propkernels.learn.retrieval.postings_compiled import add_postings

        row = slice(counts.indptr[query], counts.indptr[query + 1])
        columns, values = counts.indices[row], counts.data[row]
        first = 0
        for part, of_codes in zip(self.segments, bins, strict=True):
            own = scores[first : first + part.n_graphs]
            arrays = (part.bin_ptr, part.graphs, part.counts)
            add_postings(of_codes[columns], values, *arrays, own)
            first += part.n_graphs


def self_similarities(streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
    """k(x, x) of each graph; whole numbers are added up before they are weighted."""
    total = np.zeros(streams[0].counts.shape[0])
    for weight in dict.fromkeys(stream.weight for stream in streams):
        same = [self_products(stream.counts) for stream in streams if stream.weight == weight]
        total += weight * np.sum(same, axis=0)
    return total


def _joined(parts: Sequence[Postings]) -> Postings:
    """Merge neighbours; graphs follow one another."""
    ends = np.cumsum([part.n_graphs for part in parts])
    return Postings.merge(parts, np.split(np.arange(ends[-1]), ends[:-1]))
