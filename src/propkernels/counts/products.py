"""Products of counts, <Phi, Phi>, by bin popularity; ratios; normalization; and how kernels compare them."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from propkernels import _core
from propkernels._utils.arrays import offsets, sum_in_order
from propkernels._utils.parallel import (
    active_device,
    by_rows,
    least_work,
    one_blas_thread,
    thread_count,
    threads_for,
    whole_runs,
)
from propkernels.counts.counters import Counter, StreamCounts, Values

POPULAR = 1 / 8  # share of graphs above which a bin is cheaper in a dense product (measured)
EXACT_FLOAT32 = 2.0**24  # whole numbers below it are exact in float32
ENTRIES_OF_A_TILE = 2**21  # and of a matrix to which bins are added in any order (measured)
ROWS_OF_A_TILE = 256  # most rows of a product, fewer where threads share them
ENTRIES_OF_A_STEP = 8  # entries that a short loop reads in the time of an elementary step
ENTRIES_IN_MEMORY = 2**23  # (graph, bin) pairs sorted by bin at a time


def square_gram(parts: Sequence[csr_array], copies: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return the sum of Phi Phi^T over count matrices with the same rows, exact.

    Matrix k counts ``copies[k]`` times; by default, once.

    Bins seen in one graph only touch the diagonal; popular bins go through one dense product; the
    rest are added pair by pair. Streams are processed in batches of bounded size, so that memory does not
    grow with their number.
    """
    device = active_device() if copies is None else None
    on_device = None if device is None else device.square_gram(parts)
    if on_device is not None:
        return np.asarray(on_device)
    if copies is None:  # equal matrices are multiplied once
        copies = np.array(list(Tally(map(id, parts)).values()))
        parts = list({id(part): part for part in parts}.values())
    n = parts[0].shape[0]
    gram = np.empty((n, n))
    if n == 0:
        return gram
    popular_from = max(int(POPULAR * n), 1) + 1
    limits = popular_from, EXACT_FLOAT32, ENTRIES_OF_A_TILE, ROWS_OF_A_TILE
    rules = *limits, thread_count(), least_work()
    lengths = offsets([part.nnz for part in parts])
    # Threads are those of this package: those of BLAS spin after a product, and delay what is next.
    with one_blas_thread():
        for a, b in pairwise(whole_runs(lengths, ENTRIES_IN_MEMORY).tolist()):
            streams = *Streams.of(parts[a:b]), copies[a:b]
            _core.square_gram(streams, rules, *_products_of_blas(), a > 0, gram)
    return gram


class Streams(NamedTuple):
    """CSR arrays of count matrices, of one type, and numbers of bins, for compiled loops."""

    indptr: list[NDArray[Any]]
    indices: list[NDArray[Any]]
    data: list[NDArray[np.float64]]
    widths: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[csr_array]) -> Streams:
        """Return the arrays; copies only where types differ."""
        is_short = sum(part.nnz for part in parts) < np.iinfo(np.int32).max - 2**20
        is_short = is_short and all(part.indices.dtype == part.indptr.dtype == np.int32 for part in parts)
        index = np.int32 if is_short else np.int64
        return cls(
            [np.ascontiguousarray(part.indptr, dtype=index) for part in parts],
            [np.ascontiguousarray(part.indices, dtype=index) for part in parts],
            [np.ascontiguousarray(part.data, dtype=np.float64) for part in parts],
            np.array([part.shape[1] for part in parts], dtype=np.int64),
        )


@cache
def _products_of_blas() -> tuple[Any, Any]:
    """Return scipy's sgemm and dgemm."""
    from scipy.linalg import cython_blas

    return cython_blas.__pyx_capi__["sgemm"], cython_blas.__pyx_capi__["dgemm"]


def rectangular_gram(left: csr_array, right: csr_array, minimum: bool = False) -> NDArray[np.float64]:
    """Return X Y^T for counts with the same columns, exact; or the sums of smaller counts."""
    gram = np.zeros((left.shape[0], right.shape[0]))
    add_sparse(left, right, minimum, gram)
    return gram


def add_sparse(left: csr_array, right: csr_array, minimum: bool, gram: NDArray[np.float64]) -> None:
    """Add X Y^T, or the sums of smaller counts, to ``gram``."""
    by_bin = csc_array(right)
    by_bin.sort_indices()
    rows, bins = (Streams.of([m]) for m in (left, by_bin))
    pair = [(s.indptr[0], s.indices[0], s.data[0]) for s in (rows, bins)]
    _core.add_products(*pair, minimum, gram, thread_count())


def sums_of_rows(parts: Sequence[csr_array], squared: bool) -> NDArray[np.float64]:
    """Return the sums of counts of each graph, or of their squares, one row per matrix."""
    streams = Streams.of(parts)
    sums = np.empty((len(parts), parts[0].shape[0]))
    threads = threads_for(sum(part.nnz for part in parts) // ENTRIES_OF_A_STEP)
    _core.sum_rows(streams.indptr, streams.data, squared, sums, threads)
    return sums


def self_products(counts: csr_array) -> NDArray[np.float64]:
    """Return <phi, phi> of each graph."""
    return sums_of_rows([counts], squared=True)[0]


def add_stream_ratios(
    parts: Sequence[csr_array],
    weights: Sequence[float],
    minimum: bool,
    total: NDArray[np.float64],
) -> None:
    """Add the weighted ratios s / (l + r - s) of streams, in order, to a symmetric matrix of few graphs.

    s is the sum of products of counts, or of the smaller counts (``minimum``); l and r are those of each
    graph with itself.
    """
    n, n_entries = len(total), sum(part.nnz for part in parts)
    threads = threads_for(n_entries + len(parts) * n * n // 4)
    bounds = np.sqrt(np.linspace(0, n * n, threads + 1)).astype(np.int64)  # of equal numbers of pairs
    _core.add_stream_ratios(*Streams.of(parts), np.array(weights), minimum, bounds, total, threads)


def normalized(
    kernel: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the kernel divided by the square roots of the self-similarities; 0 for graphs without nodes.

    The result is written into ``kernel``.
    """
    threads = threads_for(kernel.size)
    _core.scale_rows(kernel, inverse_length(left), inverse_length(right), threads)
    return kernel


def normalized_square(kernel: NDArray[np.float64], diagonal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normalized kernel among graphs; its diagonal is exactly 1, or 0 for graphs without nodes."""
    np.fill_diagonal(normalized(kernel, diagonal, diagonal), diagonal > 0)
    return kernel


def add_matrix(total: NDArray[np.float64], matrix: NDArray[np.float64]) -> None:
    """Add a matrix to ``total`` in place, in threads."""
    by_rows(lambda rows: np.add(total[rows], matrix[rows], out=total[rows]), total.shape)


def inverse_length(self_similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / sqrt(k(x, x)); 0 where k(x, x) is 0 or, by rounding, negative."""
    length = np.sqrt(np.maximum(self_similarity, 0.0))
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)


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
        return sums_of_rows([stream.counts for stream in self.counts], not self.assigned)

    def inverse_lengths(self) -> Values:
        """Return 1 / sqrt(k(x, x)) of each training graph, or 1 without normalization."""
        if not self.normalize:
            return np.ones(self.counts[0].counts.shape[0])
        own = (self.own_sums > 0).astype(np.float64) if self.ratio else self.own_sums
        return inverse_length(
            sum_in_order(w * part for w, part in zip(self.stream_weights, own, strict=True))
        )
