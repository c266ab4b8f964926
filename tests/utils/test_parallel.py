"""Threads, and the threads of the linear algebra library."""

import multiprocessing
import warnings

import numpy as np
import pytest
from joblib import cpu_count, parallel_config
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

from propkernels._utils.parallel import one_blas_thread, thread_count
from propkernels.gram import products as linear
from propkernels.kernels.tiles import TiledMatrix


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
    monkeypatch.setattr("propkernels._utils.parallel.STEPS_OF_A_THREAD", 1)
    counts = np.random.default_rng(0).integers(0, 4, (100, 30)).astype(np.int32)
    for n_jobs in (1, 2, 3):
        gram = linear.square_gram([csr_array(counts)], n_jobs)
        assert np.array_equal(gram, counts @ counts.T)


def threads_in_a_worker(n_jobs):
    """Number of threads inside a process of multiprocessing; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return thread_count(n_jobs)


@pytest.mark.slow
def test_threads_inside_a_worker_of_multiprocessing():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(threads_in_a_worker, [None, 1, 2]) == [1, 1, 2]


def test_thread_count_follows_joblib():
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    assert thread_count(-1) == cpu_count()
    with parallel_config(n_jobs=2):
        assert thread_count(None) == 2
