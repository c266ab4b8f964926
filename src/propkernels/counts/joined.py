"""Counter of a weighted sum of kernels that are dot products of counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import sum_in_order
from propkernels._utils.stored import Indices, not_negative, require
from propkernels.counts.counters import (
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
    """Joins the counts of several counters (parts), optionally divided by their length.

    Attributes
    ----------
    counters : list of Counter
    weights : ndarray, (counters,)
        Weight of each part in the sum.
    normalized : ndarray of bool, (counters,)
        Whether the counts of each part are scaled to length 1 per graph.
    parts : ndarray of int64, (streams,)
        Part of each stream; streams are ordered by iteration, then by part.
    """

    counters: list[Counter]
    weights: NDArray[np.float64]
    normalized: NDArray[np.bool_]
    parts: Annotated[NDArray[np.int64], Indices("counters")]

    def _check_parts(self) -> None:
        """Raise an error unless each counter has a nonnegative weight."""
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
        """Return the join of counters; ``streams`` are the streams of each counter."""
        order = sorted((s.iteration, part) for part, counted in enumerate(streams) for s in counted)
        parts = np.array([part for _, part in order], dtype=np.int64)
        return cls(counters, weights, np.array(normalized, dtype=np.bool_), parts)

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return the counts of all parts; ``known`` codes are the first columns."""
        streams = self.join([counter.count(graphs, None) for counter in self.counters])
        if known is None:
            return streams
        return [after_known(stream, codes) for stream, codes in zip(streams, known, strict=True)]

    def join(self, streams: Sequence[list[StreamCounts]]) -> list[StreamCounts]:
        """Return the streams of all parts in order, weighted, and normalized where requested."""
        ready = []
        for part, weight, is_normalized in zip(streams, self.weights, self.normalized, strict=True):
            scales = inverse_lengths(part) if is_normalized else None
            ready.append(iter([_scaled(stream, float(weight), scales) for stream in part]))
        if len(self.parts) != sum(map(len, streams)):
            raise ValueError(f"the parts count {sum(map(len, streams))} streams, not {len(self.parts)}")
        return [_next(ready[part]) for part in self.parts]

    def split(self, streams: Sequence[Any]) -> list[tuple[Counter, list[Any]]]:
        """Return each counter with the entries of ``streams`` (one per stream) that belong to it."""
        return [
            (counter, [streams[s] for s in np.flatnonzero(self.parts == part).tolist()])
            for part, counter in enumerate(self.counters)
        ]

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield the items of all parts."""
        items = [self._items(part, counter, graphs) for part, counter in enumerate(self.counters)]
        return (_next(items[part]) for part in self.parts)

    def _scales(self, part: int, counter: Counter, graphs: GraphDatabase) -> Values | None:
        return inverse_lengths(counter.count(graphs, None)) if self.normalized[part] else None

    def _items(self, part: int, counter: Counter, graphs: GraphDatabase) -> Iterator[Occurrences]:
        scales, weight = self._scales(part, counter, graphs), float(self.weights[part])
        for items in counter.occurrences(graphs):
            product = items.scales if scales is None else scales
            if scales is not None and items.scales is not None:
                product = scales * items.scales
            yield replace(items, weight=weight * items.weight, scales=product)


def _next(streams: Iterator[Stream]) -> Stream:
    """Return the next stream of a part; raise an error if there is none."""
    for stream in streams:
        return stream
    raise ValueError("a part counts fewer streams than are listed of it")


def inverse_lengths(streams: Sequence[StreamCounts]) -> Values:
    """Return 1 / sqrt(k(x, x)) of each graph; 0 where k(x, x) is 0."""
    squares = sum_in_order(s.weight * np.asarray((s.counts * s.counts).sum(axis=1)).ravel() for s in streams)
    lengths = np.sqrt(squares)
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _scaled(stream: StreamCounts, weight: float, scales: Values | None) -> StreamCounts:
    counts = stream.counts
    if scales is not None:
        data = counts.data * np.repeat(scales, np.diff(counts.indptr))
        counts = csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    return StreamCounts(counts, stream.codes, stream.iteration, weight * stream.weight)
