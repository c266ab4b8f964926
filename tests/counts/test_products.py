"""The linear Gram matrix against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.counts import products as linear
from propkernels.counts.products import (
    inverse_length,
    normalized,
    rectangular_gram,
    self_products,
    square_gram,
)
from tests.zoo import labelled_zoo, one


def random_counts(n, bins, density, seed=0, largest=9):
    rng = np.random.default_rng(seed)
    return rng.integers(1, largest + 1, size=(n, bins)) * (rng.random((n, bins)) < density)


def unsorted(counts):
    """CSR whose rows list their bins in any order, as counting leaves them."""
    matrix = csr_array(counts.astype(float))
    for first, last in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[first:last] = matrix.indices[first:last][::-1].copy()
        matrix.data[first:last] = matrix.data[first:last][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def exact(left, right):
    return left.astype(np.int64) @ right.astype(np.int64).T


@pytest.mark.parametrize("density", [0.0, 0.02, 0.15, 0.17, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 70, 200])
def test_square_against_dense(n, density):
    counts = random_counts(n, 80, density)
    reference = exact(counts, counts)
    for n_jobs in (None, 2):
        computed = square_gram([unsorted(counts)], n_jobs)
        assert np.array_equal(computed, reference)
        assert np.array_equal(computed, computed.T)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1), st.integers(0, 99)), min_size=1, max_size=4),
    st.integers(1, 9),
)
def test_several_matrices_are_added(shapes, n):
    parts = [random_counts(n, bins, density, seed) for bins, density, seed in shapes]
    reference = sum(exact(part, part) for part in parts)
    computed = square_gram([unsorted(part) for part in parts])
    assert np.array_equal(computed, reference)


@pytest.mark.parametrize("threshold", [-1.0, 0.3, 1.0])
def test_equal_bins_are_counted_as_often_as_they_occur(threshold, monkeypatch):
    monkeypatch.setattr(linear, "WORTH_MERGING", threshold)
    counts = random_counts(30, 10, 0.3)
    repeated = np.concatenate([counts, counts, counts[:, ::-1], counts[:, :3]], axis=1)
    assert np.array_equal(square_gram([unsorted(repeated)]), exact(repeated, repeated))
    computed = square_gram([unsorted(counts)] * 50)
    assert np.array_equal(computed, 50 * exact(counts, counts))


@pytest.mark.parametrize("share", [0.0, 0.05, 1 / 6, 0.9, 1.0])
def test_the_popularity_threshold_changes_nothing_but_speed(share, monkeypatch):
    counts = random_counts(40, 60, 0.2)
    reference = exact(counts, counts)
    monkeypatch.setattr(linear, "POPULAR", share)
    assert np.array_equal(square_gram([unsorted(counts)]), reference)


@pytest.mark.parametrize("n_runs", [1, 3, 7])
def test_bins_are_visited_in_runs(n_runs, monkeypatch):
    counts = random_counts(40, 60, 0.2)
    monkeypatch.setattr(linear, "POPULAR", 1.0)
    monkeypatch.setattr(
        linear,
        "_bin_runs",
        lambda bins, n_jobs: np.linspace(0, len(bins.multiplicity), n_runs + 1).astype(int),
    )
    assert np.array_equal(square_gram([unsorted(counts)]), exact(counts, counts))


@pytest.mark.parametrize("threshold", [1, 2, 9, 10, 11])
def test_bins_around_the_threshold(threshold, monkeypatch):
    """Bins of 1, 2, ..., 60 graphs each, so that every case of the split is met."""
    counts = np.tril(np.ones((60, 60), dtype=int)) * np.arange(1, 61)
    monkeypatch.setattr(linear, "POPULAR", threshold / 60)
    assert np.array_equal(square_gram([unsorted(counts)]), exact(counts, counts))


@pytest.mark.parametrize("count", [2**11, 2**12 - 1, 2**12, 2**12 + 1, 2**13 + 1, 2**20 + 1, 2**26 - 1])
def test_counts_remain_exact_beyond_what_float32_holds(count):
    """Sums just below and above 2^24 (float32), and as large as float64 can hold."""
    counts = np.array([[count, 1, 1], [count, 1, 0], [count, 0, 3], [1, 1, 1]])
    assert np.array_equal(square_gram([unsorted(counts)]), exact(counts, counts))
    assert np.array_equal(rectangular_gram(unsorted(counts), unsorted(counts)), exact(counts, counts))


def test_many_small_counts_remain_exact():
    counts = np.full((8, 3000), 75)  # 3000 * 75^2 = 16,875,000, above 2^24 = 16,777,216
    counts[:, 0] = np.arange(8) * 2 + 1
    assert np.array_equal(square_gram([unsorted(counts)]), exact(counts, counts))


@pytest.mark.parametrize("density", [0.0, 0.1, 0.6])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 50), (50, 1), (7, 40)])
def test_rectangular_against_dense(m, n, density):
    left, right = random_counts(m, 50, density, 1), random_counts(n, 50, density, 2)
    for n_jobs in (None, 2):
        computed = rectangular_gram(unsorted(left), unsorted(right), n_jobs)
        assert computed.shape == (m, n)
        assert np.array_equal(computed, exact(left, right))


def test_self_products_are_the_diagonal():
    counts = random_counts(20, 30, 0.3)
    assert np.array_equal(self_products(unsorted(counts)), exact(counts, counts).diagonal())


def test_no_bins_at_all():
    nothing = csr_array((3, 0))
    assert np.array_equal(square_gram([nothing]), np.zeros((3, 3)))
    assert np.array_equal(rectangular_gram(nothing, csr_array((2, 0))), np.zeros((3, 2)))
    assert np.array_equal(self_products(nothing), np.zeros(3))


def test_inputs_are_left_as_they_were():
    matrix = unsorted(random_counts(20, 30, 0.3))
    before = (matrix.indices.copy(), matrix.data.copy(), matrix.indptr.copy())
    square_gram([matrix])
    rectangular_gram(matrix, matrix)
    after = (matrix.indices, matrix.data, matrix.indptr)
    assert all(np.array_equal(a, b) for a, b in zip(after, before, strict=True))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_share_of_equal_bins_is_estimated(share):
    rng = np.random.default_rng(0)
    distinct = rng.integers(2**63, size=20_000, dtype=np.uint64)
    copies = round(1 / (1 - share))
    assert linear.share_of_equals(np.repeat(distinct, copies)) == pytest.approx(share, abs=0.02)
    assert linear.share_of_equals(distinct[:0]) == 0.0


def test_formula_and_symmetry():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 9, size=(30, 12)).astype(float)
    kernel = factors @ factors.T
    diagonal = kernel.diagonal().copy()
    reference = kernel / np.sqrt(np.outer(diagonal, diagonal))
    computed = normalized(kernel.copy(), diagonal, diagonal)
    assert np.allclose(computed, reference, rtol=1e-14)
    assert np.array_equal(computed, computed.T)


def test_rectangles():
    kernel = np.array([[4.0, 6.0, 0.0]])
    computed = normalized(kernel, np.array([4.0]), np.array([4.0, 9.0, 0.0]))
    assert computed.tolist() == [[1.0, 1.0, 0.0]]
    assert computed is kernel


def test_nothing_has_no_length():
    assert inverse_length(np.array([0.0, 4.0])).tolist() == [0.0, 0.5]


def test_the_diagonal_is_exactly_one_but_for_graphs_without_nodes():
    graphs = labelled_zoo()
    kernel = pk.PropagationKernel(normalize=True, random_state=0)
    reference = (graphs.graph_sizes > 0).astype(float)
    assert np.array_equal(kernel.fit_transform(graphs).diagonal(), reference)
    assert all(np.array_equal(k.diagonal(), reference) for k in kernel.fit_transform_cumulative(graphs))


def test_new_graphs_are_as_long_as_all_of_their_bins():
    train = one(2, [(0, 1)], ["a", "b"])
    new = one(4, [(0, 1), (2, 3)], ["a", "b", "x", "y"])  # half of it is known
    kernel = pk.PropagationKernel(normalize=True, t_max=2, random_state=0).fit(train)
    assert np.allclose(kernel.transform(new), 1 / np.sqrt(2))
    features = pk.PropagationFeatures(normalize=True, t_max=2, random_state=0).fit(train)
    assert np.allclose((features.transform(new) ** 2).sum(), 1 / 2)


def test_empty_graphs_have_similarity_zero():
    graphs = pk.GraphDatabase.concat([one(0), one(1), one(0)])
    for base_kernel in ("linear", "intersection", "tanimoto", "jaccard"):
        kernel = pk.PropagationKernel(normalize=True, base_kernel=base_kernel, random_state=0)
        assert kernel.fit_transform(graphs).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
        assert kernel.transform(graphs).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    features = pk.PropagationFeatures(normalize=True, random_state=0).fit_transform(graphs)
    assert np.isfinite(features.toarray()).all()


def test_lengths_that_rounding_made_negative_are_zero():
    assert inverse_length(np.array([-1e-17, 4.0, 0.0])).tolist() == [0.0, 0.5, 0.0]
