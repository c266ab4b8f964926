"""Counting: how a fitted kernel compares counts, the interface for models, explanations and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propkernels._utils.arrays import sum_in_order
from propkernels.counts.counters import Counter, StreamCounts, Values
from propkernels.counts.products import inverse_length, self_products, sums_of_counts


@dataclass(frozen=True, eq=False)
class Counting:
    """Counts of a fitted kernel that compares graphs bin by bin.

    In each stream, two graphs share s, the sum over bins of the products of their counts, or (``assigned``)
    of the smaller counts. The kernel is the weighted sum over streams of s, or (``ratio``) of
    s / (l + r - s), where l and r are the values of s of each graph with itself.

    Attributes
    ----------
    counter : Counter
        Counts any graph.
    counts : list of StreamCounts
        Counts of the training graphs.
    assigned, ratio : bool
    normalize : bool
        Whether the kernel is divided by the square roots of k(x, x) and k(y, y).
    """

    counter: Counter
    counts: Sequence[StreamCounts]
    assigned: bool
    ratio: bool
    normalize: bool

    @property
    def stream_weights(self) -> Values:
        """Weight of each stream in the sum."""
        return np.array([stream.weight for stream in self.counts], dtype=np.float64)

    @property
    def own_sums(self) -> Values:
        """Value of s of each training graph with itself, (streams, graphs)."""
        return np.array([own_sums(stream, self.assigned) for stream in self.counts])

    def inverse_lengths(self) -> Values:
        """Return 1 / sqrt(k(x, x)) of each training graph, or 1 without normalization."""
        if not self.normalize:
            return np.ones(self.counts[0].counts.shape[0])
        own = (self.own_sums > 0).astype(np.float64) if self.ratio else self.own_sums
        return inverse_length(
            sum_in_order(w * part for w, part in zip(self.stream_weights, own, strict=True))
        )


def own_sums(stream: StreamCounts, assigned: bool) -> Values:
    """Return, per graph, the sum of squared counts of a stream, or (``assigned``) of counts."""
    if assigned:
        return sums_of_counts(stream.counts)
    return self_products(stream.counts)
