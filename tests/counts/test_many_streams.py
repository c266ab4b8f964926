"""Products of many streams, which threads add to matrices of their own, against dense numpy."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from propkernels._utils import parallel
from propkernels._utils.arrays import rows_of
from propkernels.counts import many_streams, products_compiled
from propkernels.counts.base_kernels import Linear
from propkernels.counts.many_streams import MANY_STREAMS, stacked, sum_squares, sum_streams
from propkernels.counts.products import square_gram
from tests.counts.test_products import exact, random_counts, unsorted


def side_by_side(parts):
    """The same matrices as parts of three arrays, as counting returns them."""
    matrices = list(map(unsorted, parts))
    indptr = np.array([matrix.indptr for matrix in matrices])
    indices, data = (np.concatenate([getattr(m, name) for m in matrices]) for name in ("indices", "data"))
    ends = np.cumsum([0, *(matrix.nnz for matrix in matrices)])
    return [
        rows_of(data[a:b], indices[a:b], indptr[k], matrices[k].shape)
        for k, (a, b) in enumerate(itertools.pairwise(ends))
    ]


def many(n, largest=9):
    return [random_counts(n, k % 7 * 5, 0.1 * (k % 9), k, largest) for k in range(MANY_STREAMS)]


@pytest.fixture(params=[1, 3])
def n_jobs(request, monkeypatch):
    monkeypatch.setattr(parallel, "STEPS_OF_A_THREAD", 1)
    return request.param


@pytest.mark.parametrize("largest", [9, 10**6], ids=["float32", "float64"])
@pytest.mark.parametrize("popular_rows", [1024, 1])
@pytest.mark.parametrize("shared", [False, True])
def test_square_against_dense(shared, popular_rows, largest, n_jobs, monkeypatch):
    monkeypatch.setattr(products_compiled, "POPULAR_ROWS", popular_rows)
    dense = many(30, largest)
    parts = side_by_side(dense) if shared else list(map(unsorted, dense))
    parts += parts[:3] * 2  # the same matrices count three times
    reference = sum(exact(part, part) for part in [*dense, *dense[:3] * 2])
    computed = square_gram(parts, n_jobs)
    assert np.array_equal(computed, reference)
    assert np.array_equal(sum_squares(parts, n_jobs), np.diag(reference))


def test_sums_beyond_the_exact_range_are_moved(n_jobs, monkeypatch):
    """Few streams reach the limit together, none by itself."""
    dense = many(30)
    limit = 1.0 + max(exact(part, part).max() for part in dense)
    monkeypatch.setattr(many_streams, "EXACT_FLOAT32", limit)
    matrices, diagonal = sum_streams(list(map(unsorted, dense)), np.ones(len(dense), np.int64), 4, n_jobs)
    reference = sum(exact(part, part) for part in dense)
    assert {matrix.dtype for matrix in matrices} == {np.dtype("f4"), np.dtype("f8")}
    assert np.array_equal(diagonal, np.diag(reference))
    assert np.array_equal(np.tril(sum(matrices), -1), np.tril(reference, -1))


def test_matrices_of_the_same_arrays_are_found():
    dense = many(6)
    parts = side_by_side(dense)
    parts.insert(5, csr_array(np.eye(6)))
    moved = parts[7]
    parts[7] = rows_of(moved.data.copy(), moved.indices, moved.indptr, moved.shape)
    parts[0].data.setflags(write=False)
    gaps = parts[8]
    parts[8] = rows_of(gaps.data.repeat(2)[::2], gaps.indices.repeat(2)[::2], gaps.indptr, gaps.shape)
    stacks = stacked(parts, np.arange(len(parts)))
    assert sorted(len(stack.places) for stack in stacks) == [1, 1, 1, len(parts) - 3]
    for stack in stacks:
        for (at, first, n_bins), number in zip(stack.places, stack.copies, strict=True):
            part = parts[number]
            assert n_bins == part.shape[1]
            assert np.array_equal(stack.indptr[at : at + 7], part.indptr)
            assert np.array_equal(stack.indices[first : first + part.nnz], part.indices)
            assert np.array_equal(stack.data[first : first + part.nnz], part.data)


def test_the_diagonal_of_weighted_streams_is_summed_in_order():
    from propkernels.counts.counters import StreamCounts

    parts = [unsorted(part) for part in many(5)]
    codes = [np.arange(part.shape[1]) for part in parts]
    for weight in (1.0, 1 / 3):
        streams = [StreamCounts(p, c, 0, weight) for p, c in zip(parts, codes, strict=True)]
        expected = np.zeros(5)
        for part in parts:
            expected = expected + part.power(2).sum(axis=1) * weight
        assert np.array_equal(Linear().diagonal(streams), expected)
