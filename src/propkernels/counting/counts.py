"""Count features Phi_t: how often each bin occurs in each graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.hashing.codes import NO_BIN, CodeStreams
from propkernels.parallel import run_threads


@dataclass(frozen=True)
class StreamCounts:
    """Counts of one stream.

    Attributes
    ----------
    counts : csr_array, (graphs, bins)
        Phi: one row a graph, one column a bin.
    codes : ndarray of int64, (bins,)
        The code that each bin stands for.
    iteration : int
        The iteration t of the stream.
    weight : float
        What the stream's kernel counts in the sum.
    """

    counts: csr_array
    codes: NDArray[np.int64]
    iteration: int
    weight: float


def count_bins(
    streams: CodeStreams,
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
    n_jobs: int | None = None,
) -> list[StreamCounts]:
    """Count codes per graph, for each stream (the step "count bin strengths" of Algorithm 1).

    Parameters
    ----------
    streams : CodeStreams
    graph_ptr : ndarray
        Offsets of the graphs' nodes.
    known : sequence of ndarray, optional
        For each stream, codes that own the first columns (the bins seen in fit). Codes that are not
        among them get further columns: nothing is dropped.
    n_jobs : int or None

    Returns
    -------
    list of StreamCounts
    """
    from propkernels.counting.compiled import count_stream

    def one_stream(s: int) -> StreamCounts:
        before = np.empty(0, dtype=np.int64) if known is None else known[s]
        indptr, indices, counts, new = count_stream(streams.codes[s], graph_ptr, before, NO_BIN)
        codes = np.concatenate([before, new]) if len(before) else new
        matrix = csr_array((counts, indices, indptr), shape=(len(graph_ptr) - 1, len(codes)))
        return StreamCounts(matrix, codes, int(streams.iterations[s]), float(streams.weights[s]))

    return run_threads(one_stream, range(len(streams.codes)), n_jobs)


def sort_bins(stream: StreamCounts) -> StreamCounts:
    """Number the bins by code, so that columns do not depend on the order of the graphs."""
    order = np.argsort(stream.codes)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    old = stream.counts
    counts = csr_array((old.data, position[old.indices], old.indptr), shape=old.shape)
    counts.sort_indices()
    return StreamCounts(counts, stream.codes[order], stream.iteration, stream.weight)
