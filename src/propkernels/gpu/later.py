"""Counts of training graphs that are computed when they are first read.

A kernel matrix needs the counts on the device only. The fitted kernel has them on the host as well, for new
graphs, explanations and files; many kernels are fitted for their matrix alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.counts.counters import StreamCounts


class LaterCounts:
    """Counts of all streams, computed when they are first read, by each thread that reads at once."""

    def __init__(self, compute: Callable[[], Sequence[StreamCounts]]) -> None:
        self._compute: Callable[[], Sequence[StreamCounts]] | None = compute
        self._streams: Sequence[StreamCounts] = ()

    def __getitem__(self, number: int) -> StreamCounts:
        if (compute := self._compute) is not None:
            self._streams, self._compute = compute(), None  # in this order, for other threads
        return self._streams[number]


class LaterStream(StreamCounts):
    """Counts of one stream of ``LaterCounts``; its iteration and weight are known from the beginning."""

    def __init__(self, later: LaterCounts, number: int, iteration: int, weight: float) -> None:
        vars(self).update(_later=later, _number=number, iteration=iteration, weight=weight)

    @property
    def counts(self) -> csr_array:
        """Phi: one row per graph, one column per bin."""
        return self.stored().counts

    @property
    def codes(self) -> NDArray[np.int64]:
        """Code of each bin."""
        return self.stored().codes

    def stored(self) -> StreamCounts:
        """Return the plain counts, for files."""
        later: LaterCounts = vars(self)["_later"]
        return later[vars(self)["_number"]]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the plain counts."""
        plain = self.stored()
        return StreamCounts, (plain.counts, plain.codes, plain.iteration, plain.weight)


def later_streams(
    compute: Callable[[], Sequence[StreamCounts]], iterations: Sequence[int], weights: Sequence[float]
) -> list[StreamCounts]:
    """Return streams of these iterations and weights, whose counts a function computes."""
    later = LaterCounts(compute)
    numbered = enumerate(zip(iterations, weights, strict=True))
    return [LaterStream(later, number, t, weight) for number, (t, weight) in numbered]
