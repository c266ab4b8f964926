"""Folding a kernel machine into one weight per bin.

Where the kernel is a dot product of counts, a decision is ``sum_i a_i k(x, x_i) + b``, which is
``<phi(x), sum_i a_i phi(x_i)> + b``: the sum over the training graphs is done once, no training graph has to
be kept, and a decision takes time linear in the nodes of the new graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import Counter
from propkernels.counting.counts import StreamCounts
from propkernels.gram.linear import self_products
from propkernels.gram.normalize import inverse_length
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class FoldedRule:
    """Decisions as sums of bin weights.

    Attributes
    ----------
    counter : Counter
        Counts any graph.
    codes : list of ndarray of int64
        For each stream, the codes of the bins that have weights.
    weights : list of ndarray, (bins, decisions)
        The weights; a stream's own weight in the kernel is multiplied in.
    stream_weights : ndarray, (streams,)
        What each stream counts in k(x, x).
    normalize : bool
        Whether decisions are divided by sqrt(k(x, x)).
    """

    counter: Counter
    codes: list[NDArray[np.int64]]
    weights: list[Matrix]
    stream_weights: NDArray[np.float64]
    normalize: bool

    def scaled(self, unit: float) -> FoldedRule:
        """Return a rule whose decisions are multiplied by a number."""
        weights = [unit * table for table in self.weights]
        return FoldedRule(self.counter, self.codes, weights, self.stream_weights, self.normalize)

    def decisions(self, graphs: GraphDatabase, n_jobs: int | None) -> Matrix:
        """Return decision values without intercepts, (graphs, decisions)."""
        streams = self.counter.count(graphs, self.codes, n_jobs)
        total = np.zeros((len(graphs), self.weights[0].shape[1]))
        for stream, weights in zip(streams, self.weights, strict=True):
            total += stream.counts[:, : len(weights)] @ weights
        return total * self.inverse_lengths(streams)[:, None]

    def inverse_lengths(self, streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
        """Return 1 / sqrt(k(x, x)) of each graph over all its bins; 1 without normalization."""
        if not self.normalize:
            return np.ones(streams[0].counts.shape[0])
        return inverse_length(weighted_squares(streams, self.stream_weights))


@dataclass(frozen=True)
class KernelRule:
    """Decisions as sums over training graphs, for kernels that are not dot products of counts."""

    kernel: Any
    coefficients: Matrix

    def scaled(self, unit: float) -> KernelRule:
        """Return a rule whose decisions are multiplied by a number."""
        return KernelRule(self.kernel, unit * self.coefficients)

    def decisions(self, graphs: GraphDatabase, n_jobs: int | None) -> Matrix:
        """Return decision values without intercepts, (graphs, decisions)."""
        return np.asarray(self.kernel.transform(graphs) @ self.coefficients)


def decision_rule(kernel: Any, coefficients: Matrix) -> FoldedRule | KernelRule:
    """Turn a fitted kernel and dual coefficients, (training graphs, decisions), into a rule.

    Folded wherever the kernel is a dot product of counts.
    """
    if getattr(kernel, "counter_", None) is None:
        return KernelRule(kernel, coefficients)
    counts = kernel.training_counts_
    if kernel.normalize:
        squares = weighted_squares(counts, [stream.weight for stream in counts])
        coefficients = coefficients * inverse_length(squares)[:, None]
    weights = [np.asarray(s.weight * (s.counts.T @ coefficients)) for s in counts]
    return _folded(kernel, counts, [stream.codes for stream in counts], weights)


def primal_rule(kernel: Any, coefficients: Matrix) -> FoldedRule:
    """Turn a fitted kernel and weights of the columns of its features, (columns, decisions), into a rule.

    Columns are those of the streams side by side, each stream's in the order of its codes (``sort_bins``).
    """
    counts = kernel.training_counts_
    parts = np.split(coefficients, np.cumsum([len(stream.codes) for stream in counts])[:-1])
    weights = [np.sqrt(s.weight) * part for s, part in zip(counts, parts, strict=True)]
    return _folded(kernel, counts, [np.sort(stream.codes) for stream in counts], weights)


def _folded(
    kernel: Any, counts: Sequence[StreamCounts], codes: list[NDArray[np.int64]], weights: list[Matrix]
) -> FoldedRule:
    stream_weights = np.array([stream.weight for stream in counts])
    return FoldedRule(kernel.counter_, codes, weights, stream_weights, kernel.normalize)


def weighted_squares(streams: Sequence[StreamCounts], weights: Any) -> NDArray[np.float64]:
    """Return k(x, x) of each graph: the weighted sum over streams of the squared lengths of its counts."""
    squares = [w * self_products(s.counts) for s, w in zip(streams, weights, strict=True)]
    return np.asarray(np.sum(squares, axis=0))


def self_similarities(kernel: Any, graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return k(x, x) of new graphs, over all of their bins, for a fitted kernel of this library."""
    if not hasattr(kernel, "self_similarities"):
        raise TypeError(f"{type(kernel).__name__} does not tell how similar a new graph is to itself")
    own = kernel.self_similarities(graphs)
    return (own > 0).astype(np.float64) if kernel.normalize else np.asarray(own, dtype=np.float64)
