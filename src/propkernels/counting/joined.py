"""The counter of a weighted sum of kernels that all are dot products of counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import sum_in_order
from propkernels._utils.stored import Indices, not_negative, require
from propkernels.counting.counters import (
    Codes,
    Counter,
    Known,
    Occurrences,
    StreamCounts,
    Values,
    after_known,
)
from propkernels.graphs.database import GraphDatabase

Stream = TypeVar("Stream")


@dataclass(frozen=True)
class JoinedCounter(Counter):
    """Counts as several counters do; a part's counts may be divided by their length.

    Attributes
    ----------
    counters : list of Counter
    weights : ndarray, (counters,)
        What each part counts in the sum.
    normalized : ndarray of bool, (counters,)
        Whether each part is normalized: its counts then have length 1 in each graph.
    parts : ndarray of int64, (streams,)
        The part that each stream is of; streams are ordered by iteration, then by part.
    """

    counters: list[Counter]
    weights: NDArray[np.float64]
    normalized: NDArray[np.bool_]
    parts: Annotated[NDArray[np.int64], Indices("counters")]

    def check_parts(self) -> None:
        """Refuse weights that are not those of the counters."""
        shape = (len(self.counters),)
        require(
            self.counters and self.weights.shape == self.normalized.shape == shape, "counters need weights"
        )
        require(not_negative(self.weights), "weights are not negative")

    @classmethod
    def of(
        cls,
        counters: list[Counter],
        weights: Values,
        normalized: Sequence[bool],
        streams: Sequence[list[StreamCounts]],
    ) -> JoinedCounter:
        """Join counters; ``streams`` are those that each of them counts."""
        order = sorted((s.iteration, part) for part, some in enumerate(streams) for s in some)
        parts = np.array([part for _, part in order], dtype=np.int64)
        return cls(counters, weights, np.array(normalized, dtype=np.bool_), parts)

    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None) -> list[StreamCounts]:
        """Counts of all parts; known codes own the first columns."""
        streams = self.join([counter.count(graphs, None, n_jobs) for counter in self.counters])
        if known is None:
            return streams
        return [after_known(stream, codes) for stream, codes in zip(streams, known, strict=True)]

    def join(self, streams: Sequence[list[StreamCounts]]) -> list[StreamCounts]:
        """Put the streams of all parts in order, weighted and of length 1 where that is wanted."""
        ready = []
        for some, weight, is_normalized in zip(streams, self.weights, self.normalized, strict=True):
            scales = inverse_lengths(some) if is_normalized else None
            ready.append(iter([_scaled(stream, float(weight), scales) for stream in some]))
        if len(self.parts) != sum(map(len, streams)):
            raise ValueError(f"the parts count {sum(map(len, streams))} streams, not {len(self.parts)}")
        return [_next(ready[part]) for part in self.parts]

    def split(self, streams: Sequence[Any]) -> list[tuple[Counter, list[Any]]]:
        """The parts, each with what belongs to its own streams; ``streams`` has one entry for each of all."""
        own = [np.flatnonzero(self.parts == part).tolist() for part in range(len(self.counters))]
        return [
            (counter, [streams[s] for s in some]) for counter, some in zip(self.counters, own, strict=True)
        ]

    def occurrences(self, graphs: GraphDatabase, n_jobs: int | None) -> Iterator[Occurrences]:
        """Items of all parts."""
        found = [self._items(part, counter, graphs, n_jobs) for part, counter in enumerate(self.counters)]
        return (_next(found[part]) for part in self.parts)

    def contributions(
        self, graphs: GraphDatabase, known: Sequence[Codes], weights: Sequence[Values], n_jobs: int | None
    ) -> Values:
        """What nodes add in each part, divided by the length of their graph's counts."""
        total = np.zeros((graphs.n_nodes, 0))
        for part, counter in enumerate(self.counters):
            own = np.flatnonzero(self.parts == part).tolist()
            added = counter.contributions(graphs, [known[s] for s in own], [weights[s] for s in own], n_jobs)
            scales = self._scales(part, counter, graphs, n_jobs)
            if scales is not None:
                added = added * scales[graphs.graph_ids][:, None]
            total = padded_sum(total, added)
        return total

    def extend(self, graphs: GraphDatabase) -> Counter:
        """Return a counter that knows further graphs."""
        return replace(self, counters=[counter.extend(graphs) for counter in self.counters])

    def _scales(
        self, part: int, counter: Counter, graphs: GraphDatabase, n_jobs: int | None
    ) -> Values | None:
        return inverse_lengths(counter.count(graphs, None, n_jobs)) if self.normalized[part] else None

    def _items(
        self, part: int, counter: Counter, graphs: GraphDatabase, n_jobs: int | None
    ) -> Iterator[Occurrences]:
        scales, weight = self._scales(part, counter, graphs, n_jobs), float(self.weights[part])
        for found in counter.occurrences(graphs, n_jobs):
            both = found.scales if scales is None else scales
            if scales is not None and found.scales is not None:
                both = scales * found.scales
            yield replace(found, weight=weight * found.weight, scales=both)


def _next(streams: Iterator[Stream]) -> Stream:
    """The next stream of a part."""
    for stream in streams:
        return stream
    raise ValueError("a part counts fewer streams than are listed of it")


def inverse_lengths(streams: Sequence[StreamCounts]) -> Values:
    """1 / sqrt(k(x, x)) of each graph; 0 where k(x, x) is 0."""
    squares = sum_in_order(s.weight * np.asarray((s.counts * s.counts).sum(axis=1)).ravel() for s in streams)
    lengths = np.sqrt(squares)
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _scaled(stream: StreamCounts, weight: float, scales: Values | None) -> StreamCounts:
    counts = stream.counts
    if scales is not None:
        data = counts.data * np.repeat(scales, np.diff(counts.indptr))
        counts = csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    return StreamCounts(counts, stream.codes, stream.iteration, weight * stream.weight)


def padded_sum(left: Values, right: Values) -> Values:
    """Sum of two matrices, the one with fewer columns filled up with zeros."""
    total = np.zeros((len(left), max(left.shape[1], right.shape[1])))
    total[:, : left.shape[1]] += left
    total[:, : right.shape[1]] += right
    return total
