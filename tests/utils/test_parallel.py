"""Threads, and the threads of the linear algebra library."""

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

from propkernels.gram import linear
from propkernels.kernels.pairwise.tiles import TiledMatrix
from propkernels.utils.parallel import one_blas_thread


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_one_blas_thread_and_as_before_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_tiles_are_computed_with_one_blas_thread():
    seen = []

    def compute(rows, columns):
        seen.append(blas_threads())
        return np.zeros((1, 2, 2))

    matrix = TiledMatrix.square(np.array([0, 3, 5]), 1)
    matrix.compute(compute, 2, None, None, "")
    assert seen == [{1}]


def test_rows_of_the_dense_product_in_threads(monkeypatch):
    """Several runs of rows, all bins popular, in as many threads as asked."""
    monkeypatch.setattr(linear, "ROWS_OF_A_PRODUCT", 16)
    monkeypatch.setattr("propkernels.utils.parallel.STEPS_OF_A_THREAD", 1)
    counts = np.random.default_rng(0).integers(0, 4, (100, 30)).astype(np.int32)
    for n_jobs in (1, 2, 3):
        gram = linear.square_gram([csr_array(counts)], n_jobs)
        assert np.array_equal(gram, counts @ counts.T)
