"""The linear base kernel, <Phi, Phi>: by bin popularity (design, section 3.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

from propkernels.counting.counts import StreamCounts
from propkernels.parallel import run_threads

POPULAR = 1 / 6  # share of graphs above which a bin is cheaper in a dense product; measured
EXACT_FLOAT32 = 2**24


def join_streams(streams: Sequence[StreamCounts], n_bins: Sequence[int] | None = None) -> csr_array:
    """Set the count matrices of streams side by side; ``n_bins`` cuts off bins that are new to fit."""
    parts = [s.counts if n_bins is None else s.counts[:, : n_bins[i]] for i, s in enumerate(streams)]
    return parts[0] if len(parts) == 1 else csr_array(hstack(parts, format="csr"))


def square_gram(counts: csr_array, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return Phi Phi^T, exact.

    Bins seen in one graph only touch the diagonal; popular bins go through one dense product; the
    rest are added pair by pair.
    """
    from propkernels.gram.compiled import add_products, mirror

    n = counts.shape[0]
    popularity = np.bincount(counts.indices, minlength=counts.shape[1])
    popular = popularity > max(POPULAR * n, 1)
    gram = dense_product(_columns(counts, popular), None)
    rest = _columns(counts, (popularity > 1) & ~popular)
    add_sparse(add_products, rest, csc_array(rest), True, gram, n_jobs)
    alone = _columns(counts, popularity == 1)
    gram.flat[:: n + 1] += np.bincount(_row_numbers(alone), weights=alone.data**2, minlength=n)
    mirror(gram)
    return gram


def rectangular_gram(left: csr_array, right: csr_array, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return X Y^T for counts with the same columns, exact."""
    from propkernels.gram.compiled import add_products

    popular = np.bincount(right.indices, minlength=right.shape[1]) > max(POPULAR * right.shape[0], 1)
    gram = dense_product(_columns(left, popular), _columns(right, popular))
    add_sparse(
        add_products, _columns(left, ~popular), csc_array(_columns(right, ~popular)), False, gram, n_jobs
    )
    return gram


def self_products(counts: csr_array) -> NDArray[np.float64]:
    """Return <phi, phi> of each graph."""
    squares = np.bincount(_row_numbers(counts), weights=counts.data**2, minlength=counts.shape[0])
    return squares.astype(np.float64)


def dense_product(left: csr_array, right: csr_array | None) -> NDArray[np.float64]:
    """Dense X Y^T (X X^T if right is None), in float32 only where every sum stays exact."""
    other = left if right is None else right
    if left.shape[1] == 0:
        return np.zeros((left.shape[0], other.shape[0]))
    bound = np.sqrt(_largest(self_products(left)) * _largest(self_products(other)))
    exact = np.float32 if bound < EXACT_FLOAT32 else np.float64
    a = left.astype(exact).toarray()
    b = a if right is None else right.astype(exact).toarray()
    return np.asarray(a @ b.T, dtype=np.float64)


def add_sparse(
    add: Callable[..., None], left: csr_array, right: csc_array, upper: bool, gram: Any, n_jobs: int | None
) -> None:
    """Run a compiled addition over runs of rows, in threads; rows near the top of a triangle cost more."""
    right.sort_indices()
    arguments = (left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, upper)
    bounds = np.linspace(0, left.shape[0], 16 * int(effective_n_jobs(n_jobs)) + 1).astype(int)

    def one_run(run: int) -> None:
        add(*arguments, bounds[run], bounds[run + 1], gram)

    run_threads(one_run, range(len(bounds) - 1), n_jobs)


def _columns(counts: csr_array, chosen: NDArray[np.bool_]) -> csr_array:
    """The chosen columns, renumbered; row order is kept."""
    position = np.cumsum(chosen, dtype=np.int32) - np.int32(1)
    entries = chosen[counts.indices]
    before = np.concatenate([[0], np.cumsum(entries)])
    indptr = before[counts.indptr].astype(np.int32)
    shape = (counts.shape[0], int(np.count_nonzero(chosen)))
    return csr_array((counts.data[entries], position[counts.indices[entries]], indptr), shape=shape)


def _row_numbers(counts: csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def _largest(values: NDArray[np.float64]) -> float:
    return float(values.max(initial=0.0))
