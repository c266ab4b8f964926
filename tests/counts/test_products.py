"""The linear Gram matrix against dense numpy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils.parallel import workers
from propkernels.counts import products as linear
from propkernels.counts.base_kernels import Linear
from propkernels.counts.counters import StreamCounts
from propkernels.counts.products import (
    add_sparse,
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


@pytest.fixture(params=[1, 3])
def n_jobs(request, monkeypatch):
    """One thread, and several even for little work."""
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    return request.param


@pytest.mark.parametrize("largest", [3, 5000], ids=["float32", "float64"])
@pytest.mark.parametrize("density", [0.02, 0.1, 0.6], ids=["single", "rare", "popular"])
@pytest.mark.parametrize("n", [1, 70, 150])
def test_the_sum_over_streams(n, density, largest, n_jobs, monkeypatch):
    """Exact in float32 and not, with and without multiplicities, in several tiles."""
    monkeypatch.setattr(linear, "ROWS_OF_A_TILE", 16)
    parts = [random_counts(n, 300, density, seed, 3) for seed in range(3)]
    parts[0][0] *= largest
    matrices = list(map(unsorted, parts))
    matrices += [matrices[1]] * 2  # counts three times
    reference = sum(exact(part, part) for part in [*parts, *[parts[1]] * 2])
    with workers(n_jobs):
        computed = square_gram(matrices)
    assert np.array_equal(computed, reference)


@pytest.mark.parametrize("entries", [1, 100])
def test_batches_are_added(entries, n_jobs, monkeypatch):
    monkeypatch.setattr(linear, "ENTRIES_IN_MEMORY", entries)
    parts = [random_counts(40, 30, 0.2, seed) for seed in range(5)]
    reference = sum(exact(part, part) for part in parts)
    with workers(n_jobs):
        assert np.array_equal(square_gram(list(map(unsorted, parts))), reference)


@pytest.mark.parametrize("weight", [1.0, 1 / 3])
def test_the_diagonal_of_weighted_streams_is_summed_in_order(weight):
    parts = [unsorted(random_counts(5, k % 7 * 5, 0.1 * (k % 9), k)) for k in range(64)]
    streams = [StreamCounts(part, np.arange(part.shape[1]), 0, weight) for part in parts]
    expected = np.zeros(5)
    for part in parts:
        expected = expected + part.power(2).sum(axis=1) * weight
    assert np.array_equal(Linear().diagonal(streams), expected)


@pytest.mark.parametrize("minimum", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_and_smaller_counts_are_added(minimum, index, n_jobs):
    x, y = random_counts(12, 9, 0.4, 1), random_counts(7, 9, 0.4, 2)
    left, right, gram = unsorted(x), csr_array(y.astype(float)), np.ones((12, 7))
    left.indices, left.indptr = left.indices.astype(index), left.indptr.astype(index)
    with workers(n_jobs):
        add_sparse(left, right, minimum, gram)
    pairs = x[:, None], y[None]
    expected = (np.minimum(*pairs) if minimum else pairs[0] * pairs[1]).sum(axis=2)
    assert np.array_equal(gram, 1 + expected)


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


def test_streams_that_are_exact_alone_are_exact_together():
    """Each stream is below 2^24, their sum is above it, and odd."""
    parts = [np.array([[2999, k], [3001, 0]]) for k in range(1, 6)]
    assert np.array_equal(square_gram([unsorted(part) for part in parts]), sum(exact(p, p) for p in parts))


@pytest.mark.parametrize("density", [0.0, 0.1, 0.6])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 50), (50, 1), (7, 40)])
def test_rectangular_against_dense(m, n, density):
    left, right = random_counts(m, 50, density, 1), random_counts(n, 50, density, 2)
    for n_jobs in (None, 2):
        with workers(n_jobs):
            computed = rectangular_gram(unsorted(left), unsorted(right))
        assert computed.shape == (m, n)
        assert np.array_equal(computed, exact(left, right))


def test_no_bins_at_all():
    nothing = csr_array((3, 0))
    assert np.array_equal(square_gram([nothing]), np.zeros((3, 3)))
    assert np.array_equal(rectangular_gram(nothing, csr_array((2, 0))), np.zeros((3, 2)))
    assert np.array_equal(self_products(nothing), np.zeros(3))


def test_formula_and_symmetry():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 9, size=(30, 12)).astype(float)
    kernel = factors @ factors.T
    diagonal = kernel.diagonal().copy()
    reference = kernel / np.sqrt(np.outer(diagonal, diagonal))
    computed = normalized(kernel.copy(), diagonal, diagonal)
    assert np.allclose(computed, reference, rtol=1e-14)
    assert np.array_equal(computed, computed.T)


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


def test_lengths_that_rounding_made_negative_are_zero():
    assert inverse_length(np.array([-1e-17, 4.0, 0.25, 0.0])).tolist() == [0.0, 0.5, 2.0, 0.0]


GRAPHS = pk.datasets.make_molecules(10, random_state=0).graphs


@pytest.mark.parametrize("base_kernel", ["linear", "intersection", "tanimoto", "jaccard"])
@pytest.mark.parametrize("normalize", [False, True])
def test_inverse_lengths_are_those_of_the_diagonal(base_kernel, normalize):
    kernel = pk.WeisfeilerLehman(t_max=2, base_kernel=base_kernel, normalize=normalize).fit(GRAPHS)
    counting = kernel._counting
    assert counting.ratio == (base_kernel in ("tanimoto", "jaccard"))
    assert counting.assigned == (base_kernel in ("intersection", "jaccard"))
    expected = 1 / np.sqrt(kernel.self_similarities(GRAPHS)) if normalize else np.ones(len(GRAPHS))
    np.testing.assert_allclose(counting.inverse_lengths(), expected, rtol=1e-12)
    assert counting.stream_weights.tolist() == [1.0, 1.0, 1.0]
