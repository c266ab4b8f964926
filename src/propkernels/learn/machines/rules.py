"""Folding a kernel machine into one weight per bin.

With a linear base kernel a decision is ``sum_i a_i k(x, x_i) + b = <phi(x), sum_i a_i phi(x_i)> + b``: the
sum over the training graphs is done once, no training graph has to be kept, and a decision takes time linear
in the nodes of the new graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counts import StreamCounts, count_blocks
from propkernels.gram.base_kernels import Linear
from propkernels.gram.linear import self_products
from propkernels.gram.normalize import inverse_length
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.base import Coder, CountKernel
from propkernels.kernels.pairwise.base import PairwiseKernel

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class FoldedRule:
    """Decisions as sums of bin weights.

    Attributes
    ----------
    coder : Coder
        Gives any graph its codes.
    codes : list of ndarray of int64
        For each stream, the codes of the bins that have weights.
    weights : list of ndarray, (bins, decisions)
        The weights; a stream's own weight in the kernel is multiplied in.
    stream_weights : ndarray, (streams,)
        What each stream counts in k(x, x).
    normalize : bool
        Whether decisions are divided by sqrt(k(x, x)).
    """

    coder: Coder
    codes: list[NDArray[np.int64]]
    weights: list[Matrix]
    stream_weights: NDArray[np.float64]
    normalize: bool

    def scaled(self, unit: float) -> FoldedRule:
        """Return a rule whose decisions are multiplied by a number."""
        weights = [unit * table for table in self.weights]
        return FoldedRule(self.coder, self.codes, weights, self.stream_weights, self.normalize)

    def decisions(self, graphs: GraphDatabase, n_jobs: int | None) -> Matrix:
        """Return decision values without intercepts, (graphs, decisions)."""
        streams = count_blocks(self.coder.codes(graphs, n_jobs), graphs.graph_ptr, self.codes, n_jobs)
        total = np.zeros((len(graphs), self.weights[0].shape[1]))
        for stream, weights in zip(streams, self.weights, strict=True):
            total += stream.counts[:, : len(weights)] @ weights
        return total * self.inverse_lengths(streams)[:, None]

    def inverse_lengths(self, streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
        """Return 1 / sqrt(k(x, x)) of each graph over all its bins; 1 without normalisation."""
        if not self.normalize:
            return np.ones(streams[0].counts.shape[0])
        squares = [w * self_products(s.counts) for s, w in zip(streams, self.stream_weights, strict=True)]
        return inverse_length(np.sum(squares, axis=0))


@dataclass(frozen=True)
class KernelRule:
    """Decisions as sums over training graphs, for kernels that are no dot products of counts."""

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
    if not (isinstance(kernel, CountKernel) and type(kernel.base_kernel_) is Linear):
        return KernelRule(kernel, coefficients)
    if kernel.normalize:
        coefficients = coefficients * inverse_length(kernel.diagonal_)[:, None]
    weights = [np.asarray(s.weight * (s.counts.T @ coefficients)) for s in kernel.counts_]
    return _folded(kernel, [stream.codes for stream in kernel.counts_], weights)


def primal_rule(kernel: CountKernel, coefficients: Matrix) -> FoldedRule:
    """Turn a fitted kernel and weights of the columns of its features, (columns, decisions), into a rule.

    Columns are those of the streams side by side, each stream's in the order of its codes (``sort_bins``).
    """
    ends = np.cumsum([len(stream.codes) for stream in kernel.counts_])[:-1]
    parts = np.split(coefficients, ends)
    weights = [np.sqrt(s.weight) * part for s, part in zip(kernel.counts_, parts, strict=True)]
    return _folded(kernel, [np.sort(stream.codes) for stream in kernel.counts_], weights)


def _folded(kernel: CountKernel, codes: list[NDArray[np.int64]], weights: list[Matrix]) -> FoldedRule:
    stream_weights = np.array([stream.weight for stream in kernel.counts_])
    return FoldedRule(kernel.coder_, codes, weights, stream_weights, kernel.normalize)


def self_similarities(kernel: Any, graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return k(x, x) of new graphs, over all of their bins, for a fitted kernel of this library."""
    if isinstance(kernel, CountKernel):
        known = [stream.codes for stream in kernel.counts_]
        codes = kernel.coder_.codes(graphs, kernel.n_jobs)
        own = kernel.base_kernel_.diagonal(count_blocks(codes, graphs.graph_ptr, known, kernel.n_jobs))
    elif isinstance(kernel, PairwiseKernel):
        own = kernel.self_similarities(graphs)
    else:
        raise TypeError(f"{type(kernel).__name__} does not tell how similar a new graph is to itself")
    return (own > 0).astype(np.float64) if kernel.normalize else np.asarray(own, dtype=np.float64)
