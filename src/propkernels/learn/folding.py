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
from propkernels.kernels.count_estimator import Coder
from propkernels.kernels.count_kernel import CountKernel

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
    streams = kernel.counts_
    weights = [np.asarray(s.weight * (s.counts.T @ coefficients)) for s in streams]
    stream_weights = np.array([s.weight for s in streams])
    return FoldedRule(kernel.coder_, [s.codes for s in streams], weights, stream_weights, kernel.normalize)
