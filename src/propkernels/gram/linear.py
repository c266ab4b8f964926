"""The linear base kernel, <Phi, Phi>: by bin popularity (design, section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from propkernels.gram.compiled import add_products, mirror, same_bins, split_bins
from propkernels.parallel import run_threads, whole_runs

POPULAR = 1 / 6  # share of graphs above which a bin is cheaper in a dense product: an estimate
EXACT_FLOAT32 = 2**24
ENTRIES_IN_MEMORY = 2**23  # counts of so many (graph, bin) pairs are sorted by bin at a time


def square_gram(parts: Sequence[csr_array], n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return the sum of Phi Phi^T over count matrices with the same rows, exact.

    Bins seen in one graph only touch the diagonal; popular bins go through one dense product; the
    rest are added pair by pair. Bins with equal contents, common once the propagation has settled,
    are merged into one with a multiplicity. Many entries are taken a few streams at a time: memory
    does not grow with their number.
    """
    parts, copies = _distinct(parts)
    lengths = np.cumsum([0, *(part.nnz for part in parts)])
    batches = whole_runs(lengths, ENTRIES_IN_MEMORY).tolist()
    grams = (_square_gram(parts[a:b], copies[a:b], n_jobs) for a, b in pairwise(batches))
    gram = next(grams)
    for further in grams:
        gram += further
    return gram


def _square_gram(parts: Sequence[csr_array], copies: NDArray[Any], n_jobs: int | None) -> NDArray[np.float64]:
    """Gram of some streams, each of which counts as often as ``copies`` says."""
    n = parts[0].shape[0]
    popular_from = max(int(POPULAR * n), 1) + 1
    squares = np.zeros((len(parts), n))

    def split(k: int) -> Any:
        part = parts[k]
        arrays = (part.indptr, part.indices, part.data)
        return split_bins(*arrays, part.shape[1], popular_from, squares[k])

    pieces = run_threads(split, range(len(parts)), n_jobs)
    popular = _merge(*_stack([_some_bins(piece, popular=True) for piece in pieces], copies, n))
    rest = _merge(*_stack([_some_bins(piece, popular=False) for piece in pieces], copies, n))
    gram = dense_product(*popular)
    add_sparse(_scaled_columns(*rest), rest[0], True, False, gram, n_jobs)
    gram.flat[:: n + 1] += copies @ squares
    mirror(gram)
    return gram


def _distinct(parts: Sequence[csr_array]) -> tuple[list[csr_array], NDArray[np.int64]]:
    """Streams that share one count matrix go in once, with their number."""
    shared: dict[int, list[csr_array]] = {}
    for part in parts:
        shared.setdefault(id(part), []).append(part)
    return [same[0] for same in shared.values()], np.array([len(same) for same in shared.values()])


def _some_bins(piece: Any, popular: bool) -> tuple[Any, Any, Any, Any]:
    """The popular bins of a stream, or the others."""
    bin_ptr, rows, counts, signatures, n_popular = piece
    bins = slice(0, n_popular) if popular else slice(n_popular, len(bin_ptr) - 1)
    entries = slice(bin_ptr[bins.start], bin_ptr[bins.stop])
    return np.diff(bin_ptr)[bins], rows[entries], counts[entries], signatures[bins]


def _stack(
    pieces: Sequence[tuple[Any, Any, Any, Any]], copies: NDArray[np.int64], n: int
) -> tuple[csc_array, Any, Any]:
    """Set the bins of all streams side by side; return them with their signatures and multiplicities."""
    multiplicity = np.repeat(copies, [len(piece[0]) for piece in pieces])
    lengths, rows, counts, signatures = (np.concatenate(part) for part in zip(*pieces, strict=True))
    index = np.int32 if len(rows) < 2**31 else np.int64
    bin_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    return csc_array((counts, rows, bin_ptr), shape=(n, len(lengths))), signatures, multiplicity


def _merge(
    columns: csc_array, signatures: NDArray[np.uint64], multiplicity: NDArray[np.int64]
) -> tuple[csc_array, Any]:
    """Keep one of several bins with equal contents; return those kept and how many each stands for."""
    _, first, inverse = np.unique(signatures, return_index=True, return_inverse=True)
    twin = first[inverse]  # the bin of the same signature that stands first
    arrays = (columns.indptr, columns.indices, columns.data)
    everyone = np.arange(len(twin))
    twin = np.where(same_bins(twin, everyone, *arrays), twin, everyone)
    kept = twin == everyone
    return take_columns(columns, np.flatnonzero(kept)), np.bincount(twin, multiplicity, len(twin))[kept]


def take_columns(columns: csc_array, chosen: NDArray[Any]) -> csc_array:
    """Return the chosen columns."""
    return columns if len(chosen) == columns.shape[1] else csc_array(columns[:, chosen])


def _scaled_columns(columns: csc_array, multiplicity: NDArray[Any]) -> csr_array:
    """Multiply each column by its multiplicity and bring the result to rows."""
    data = columns.data * np.repeat(multiplicity, np.diff(columns.indptr))
    return csr_array(csc_array((data, columns.indices, columns.indptr), shape=columns.shape))


def dense_product(columns: csc_array, multiplicity: NDArray[Any]) -> NDArray[np.float64]:
    """Dense X diag(m) X^T, in float32 only where every sum stays exact."""
    n, bins = columns.shape
    if bins == 0:
        return np.zeros((n, n))
    scaled = csc_array(_scaled_columns(columns, multiplicity))
    bound = np.bincount(columns.indices, weights=columns.data * scaled.data, minlength=n).max(initial=0.0)
    exact = np.float32 if bound < EXACT_FLOAT32 else np.float64
    return np.asarray(scaled.astype(exact).toarray() @ columns.astype(exact).toarray().T, dtype=np.float64)


def rectangular_gram(left: csr_array, right: csr_array, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return X Y^T for counts with the same columns, exact."""
    gram = np.zeros((left.shape[0], right.shape[0]))
    add_sparse(left, csc_array(right), False, False, gram, n_jobs)
    return gram


def add_sparse(
    left: csr_array, right: csc_array, lower: bool, minimum: bool, gram: Any, n_jobs: int | None
) -> None:
    """Add X Y^T (or the sums of smaller counts) to ``gram``, over runs of rows, in threads."""
    right.sort_indices()
    arrays = [array for m in (left, right) for array in (m.indptr, m.indices, m.data)]
    bounds = np.linspace(0, left.shape[0], 16 * int(effective_n_jobs(n_jobs)) + 1).astype(int)

    def one_run(run: int) -> None:
        add_products(*arrays, lower, minimum, bounds[run], bounds[run + 1], gram)

    run_threads(one_run, range(len(bounds) - 1), n_jobs)


def self_products(counts: csr_array) -> NDArray[np.float64]:
    """Return <phi, phi> of each graph."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    return np.bincount(rows, weights=counts.data**2, minlength=counts.shape[0]).astype(np.float64)
