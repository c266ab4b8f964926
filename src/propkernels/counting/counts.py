"""Count features Phi_t: how often each bin occurs in each graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.hashing.codes import CodeStreams
from propkernels.hashing.lsh import NO_BIN
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
    if known is None:
        return _count_rows(streams, graph_ptr, n_jobs)

    def one_stream(s: int) -> StreamCounts:
        codes = streams.salted(streams.codes[streams.row(s)], s)
        return _stream(streams, s, *_count(codes, graph_ptr, known[s]))

    return run_threads(one_stream, range(len(streams.iterations)), n_jobs)


def count_blocks(
    codes: CodeStreams | Iterable[CodeStreams],
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
    n_jobs: int | None = None,
) -> list[StreamCounts]:
    """Count streams that come all at once, or block after block; see ``count_bins``."""
    counted: list[StreamCounts] = []
    for block in [codes] if isinstance(codes, CodeStreams) else codes:
        seen = None if known is None else known[len(counted) :]
        counted += count_bins(block, graph_ptr, seen, n_jobs)
    return counted


def _count_rows(streams: CodeStreams, graph_ptr: NDArray[np.int64], n_jobs: int | None) -> list[StreamCounts]:
    """Count each row of codes once; streams that share a row share its counts."""
    nothing = np.empty(0, dtype=np.int64)

    def one_row(row: int) -> tuple[csr_array, NDArray[np.int64]]:
        return _count(streams.codes[row], graph_ptr, nothing)

    rows = [streams.row(s) for s in range(len(streams.iterations))]
    distinct = sorted(set(rows))
    counted = dict(zip(distinct, run_threads(one_row, distinct, n_jobs), strict=True))
    return [_stream(streams, s, counted[r][0], streams.salted(counted[r][1], s)) for s, r in enumerate(rows)]


def _count(
    codes: NDArray[np.int64], graph_ptr: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[csr_array, NDArray[np.int64]]:
    """Counts of one row, and the codes of its bins: the known ones first."""
    from propkernels.counting.compiled import count_stream

    indptr, indices, counts, new = count_stream(codes, graph_ptr, known, NO_BIN)
    bins = np.concatenate([known, new]) if len(known) else new
    return csr_array((counts, indices, indptr), shape=(len(graph_ptr) - 1, len(bins))), bins


def _stream(streams: CodeStreams, s: int, counts: csr_array, codes: NDArray[np.int64]) -> StreamCounts:
    return StreamCounts(counts, codes, int(streams.iterations[s]), float(streams.weights[s]))


def sort_bins(stream: StreamCounts) -> StreamCounts:
    """Number the bins by code, so that columns do not depend on the order of the graphs."""
    order = np.argsort(stream.codes)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    old = stream.counts
    counts = csr_array((old.data, position[old.indices], old.indptr), shape=old.shape)
    counts.sort_indices()
    return StreamCounts(counts, stream.codes[order], stream.iteration, stream.weight)
