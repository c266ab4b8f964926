"""Count features Phi_t: how often each bin occurs in each graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.hashing.codes import CodeStreams
from propkernels.hashing.lsh import NO_BIN
from propkernels.utils.parallel import run_threads, threads_for

CODES_IN_MEMORY = 2**22  # codes whose counts one compiled call returns


@dataclass(frozen=True)
class StreamCounts:
    """Counts of one stream.

    Attributes
    ----------
    counts : csr_array, (graphs, bins)
        Phi: one row per graph, one column per bin.
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
    counted = streams.counted(lambda codes, rows: _count_rows(codes, rows, graph_ptr, n_jobs))
    found = [StreamCounts(counts, bins, t, weight) for t, weight, counts, bins in counted]
    if known is None:
        return found
    return [after_known(stream, own) for stream, own in zip(found, known[: len(found)], strict=True)]


def count_blocks(
    blocks: Iterable[CodeStreams],
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
    n_jobs: int | None = None,
) -> list[StreamCounts]:
    """Count streams that come block after block; see ``count_bins``."""
    counted: list[StreamCounts] = []
    for block in blocks:
        seen = None if known is None else known[len(counted) :]
        counted += count_bins(block, graph_ptr, seen, n_jobs)
    return counted


def after_known(stream: StreamCounts, known: NDArray[np.int64]) -> StreamCounts:
    """Give known bins the columns they have among ``known``, and the others those after it."""
    counts, bins = _after_known(stream.counts, stream.codes, known)
    return StreamCounts(counts, bins, stream.iteration, stream.weight)


def count_codes(
    codes: NDArray[np.int64], graph_ptr: NDArray[np.int64], known: NDArray[np.int64] | None = None
) -> tuple[csr_array, NDArray[np.int64]]:
    """Counts of one row of codes, and the codes of its bins: the known ones first."""
    ((counts, bins),) = _count_rows(codes[None, :], np.zeros(1, dtype=np.int64), graph_ptr, None)
    return (counts, bins) if known is None else _after_known(counts, bins, known)


def _count_rows(
    codes: NDArray[np.int64], rows: NDArray[np.int64], graph_ptr: NDArray[np.int64], n_jobs: int | None
) -> list[tuple[csr_array, NDArray[np.int64]]]:
    """Count some rows of codes, many in one compiled call; rows are distributed round-robin over threads."""
    work = len(rows) * codes.shape[1]
    calls = max(threads_for(work, n_jobs), -(-work // CODES_IN_MEMORY))
    shares = [rows[call::calls] for call in range(min(calls, len(rows)))]
    counted = run_threads(lambda share: _count_share(codes, share, graph_ptr), shares, n_jobs)
    found: list[Any] = [None] * len(rows)
    for call, result in enumerate(counted):
        found[call :: len(shares)] = _unpacked(len(graph_ptr) - 1, *result)
    return found


def _count_share(codes: NDArray[np.int64], rows: NDArray[np.int64], graph_ptr: NDArray[np.int64]) -> Any:
    """Make room, and count some rows in one compiled call; what is not filled of an array takes no memory."""
    from propkernels.counting.compiled import Counted, Room, count_rows

    n = codes.shape[1]
    counted = Counted.make(len(rows), n, len(graph_ptr) - 1)
    count_rows(codes, rows, graph_ptr, NO_BIN, Room.make(n), counted)
    return counted


def _unpacked(
    n_graphs: int, indptr: Any, indices: Any, counts: Any, codes: Any, entry_ends: Any, bin_ends: Any
) -> list[tuple[csr_array, NDArray[np.int64]]]:
    """Views of the arrays of many rows: one count matrix, and its bins, a row."""
    unpacked = []
    for r, (a, b, c, d) in enumerate(zip(entry_ends, entry_ends[1:], bin_ends, bin_ends[1:], strict=False)):
        matrix = csr_array((counts[a:b], indices[a:b], indptr[r]), shape=(n_graphs, int(d - c)))
        unpacked.append((matrix, codes[c:d]))
    return unpacked


def _after_known(
    counts: csr_array, bins: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[csr_array, NDArray[np.int64]]:
    """Give known bins the columns they have among ``known``, and the others those after it."""
    from propkernels.counting.compiled import find_known

    columns = find_known(bins, known)
    new = columns < 0
    columns[new] = len(known) + np.arange(np.count_nonzero(new))
    bins = np.concatenate([known, bins[new]])
    shape = (counts.shape[0], len(bins))
    return csr_array((counts.data, columns[counts.indices], counts.indptr), shape=shape), bins


def rank_bins(stream: StreamCounts) -> StreamCounts:
    """Number the bins by code, so that they do not depend on the order of the graphs; rows stay unsorted."""
    order = np.argsort(stream.codes)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    old = stream.counts
    counts = csr_array((old.data, position[old.indices], old.indptr), shape=old.shape)
    return StreamCounts(counts, stream.codes[order], stream.iteration, stream.weight)


def sort_bins(stream: StreamCounts) -> StreamCounts:
    """Number the bins by code, and sort every row by bin."""
    from propkernels.counting.compiled import sort_rows

    ranked = rank_bins(stream)
    counts = ranked.counts.copy()
    sort_rows(counts.indptr, counts.indices, counts.data)
    return StreamCounts(counts, ranked.codes, stream.iteration, stream.weight)
