"""The compiled loops of the gram station against dense products."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from propkernels.counts import products as linear
from propkernels.counts.products import add_sparse, self_products, square_gram
from propkernels.counts.products_compiled import (
    ENTRY,
    VISIT,
    copy_bins,
    find_equals,
    list_visits,
    sample_bins,
    write_rows,
)

pytestmark = pytest.mark.compiled
GENERATOR = np.random.default_rng(0)


def some_counts(n, width, share):
    counts = GENERATOR.integers(1, 4, (n, width)) * (GENERATOR.random((n, width)) < share)
    return csr_array(counts.astype(float))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.6], ids=["single", "rare", "popular"])
@pytest.mark.parametrize("n", [1, 20, 70])
def test_square_products(n, share):
    parts = [some_counts(n, 40, share) for _ in range(3)]
    expected = sum(part.toarray() @ part.toarray().T for part in parts)
    np.testing.assert_array_equal(square_gram(parts), expected)


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_bins_of_equal_contents_are_merged(n_jobs, monkeypatch):
    monkeypatch.setattr(linear, "WORTH_MERGING", -1.0)
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    part = some_counts(40, 25, 0.08).toarray()
    part = np.hstack([part, part[:, ::-1], part])
    np.testing.assert_array_equal(square_gram([csr_array(part)] * 2, n_jobs), 2 * part @ part.T)


def test_bins_with_equal_signatures_are_compared():
    entries = np.array([(0, 1), (2, 1), (0, 1), (2, 1), (0, 1), (2, 2), (0, 1), (0, 1), (2, 1)], dtype=ENTRY)
    bin_ptr, multiplicity = np.array([0, 2, 4, 6, 7, 9]), np.ones(5, dtype=np.int64)
    signatures = np.full(5, 7, dtype=np.uint64)
    is_kept = np.empty(5, dtype=bool)
    for group in range(2):
        find_equals(bin_ptr, entries, signatures, group, 2, multiplicity, is_kept)
    assert is_kept.tolist() == [True, False, True, True, False]
    assert multiplicity[is_kept].tolist() == [3, 1, 1]
    copied = np.zeros(5, dtype=ENTRY)
    copy_bins(bin_ptr, entries, np.flatnonzero(is_kept), 0, 3, np.array([0, 2, 4, 5]), copied)
    assert copied.tolist() == [(0, 1), (2, 1), (0, 1), (2, 2), (0, 1)]


def test_visits_are_those_of_the_example():
    """The example above ENTRY and VISIT in the module."""
    entries = np.array([(9, 9)] * 10 + [(0, 1), (2, 1), (3, 1)], dtype=ENTRY)
    bin_ptr, visits = np.array([10, 13], dtype=np.int32), np.zeros(2, dtype=VISIT)
    list_visits(bin_ptr, entries, 0, len(bin_ptr) - 1, 1, np.array([0, 1]), visits)
    assert visits.tolist() == [(10, 10, 11), (10, 11, 13)]


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("minimum", [False, True])
def test_sparse_products(lower, minimum):
    x = some_counts(12, 9, 0.4)
    y = x if lower else some_counts(7, 9, 0.4)
    gram = np.zeros((12, y.shape[0]))
    add_sparse(x, csc_array(y), lower, minimum, gram, None)
    pairs = x.toarray()[:, None], y.toarray()[None]
    expected = (np.minimum(*pairs) if minimum else pairs[0] * pairs[1]).sum(axis=2)
    np.testing.assert_array_equal(gram, np.tril(expected) if lower else expected)


def test_rows_are_written_as_columns_too():
    full = GENERATOR.random((130, 130))
    gram, diagonal = np.full((130, 130), np.nan), np.arange(130.0)
    for first, last in ((64, 130), (0, 64)):
        write_rows(full[first:last, :last], first, diagonal, gram)
    below = np.tril(full, -1)
    np.testing.assert_array_equal(gram, below + below.T + np.diag(diagonal))


def test_bins_of_equal_contents_are_sampled_together():
    numbers = np.random.default_rng(0).choice(10**6, 2000, replace=False)
    rows = np.column_stack(np.divmod(numbers, 1000))
    one = np.array([entry for a, b in rows for entry in ((a, 1), (a + b + 1, 2))], dtype=ENTRY)
    entries, bin_ptr = np.concatenate([one, one]), np.arange(0, 8001, 2)
    signatures = np.empty(4000, dtype=np.uint64)
    sampled = signatures[: sample_bins(bin_ptr, entries, 0, 4000, signatures)]
    assert 20 < len(sampled) < 200
    half = len(sampled) // 2
    np.testing.assert_array_equal(sampled[:half], sampled[half:])
    assert len(np.unique(sampled)) == half


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("largest", [3, 5000], ids=["float32", "float64"])
@pytest.mark.parametrize("in_cache", [0, 2**21], ids=["visits", "whole"])
def test_pairs_of_rare_bins(in_cache, largest, n_jobs, monkeypatch):
    """Both ways to add pairs, exact in float32 and not, with and without multiplicities."""
    monkeypatch.setattr(linear, "MATRIX_IN_CACHE", in_cache)
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    part = some_counts(150, 400, 0.03).toarray()
    part[0] *= largest
    for parts, times in (([part], 1), ([part] * 2, 2)):
        matrix = csr_array(parts[0])
        gram = square_gram([matrix] * len(parts), n_jobs)
        np.testing.assert_array_equal(gram, times * part @ part.T)


def test_squares_of_rows():
    counts = some_counts(6, 5, 0.5)
    np.testing.assert_array_equal(self_products(counts), (counts.toarray() ** 2).sum(axis=1))
