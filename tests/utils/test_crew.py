"""Crews: threads that share compiled pieces without the GIL."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
from numba import config

from propkernels._utils import crew as module
from propkernels._utils.addresses import Arrays, alike, array_at, gemm_address, multiply
from propkernels._utils.crew import ABSENT, CREWS, NOBODY, SEATS, job_of, share
from propkernels._utils.jit import compiled
from propkernels._utils.parallel import run_pieces, run_threads

needs_compiler = pytest.mark.skipif(config.DISABLE_JIT, reason="functions run as Python")


@compiled(cache=False)
def add_one(counts, threads, passes, thread, k):
    total = 0.0
    for i in range(passes):
        total += i
    counts[k] += 1 + (total < 0)
    threads[k] = thread


add_one_job = job_of(add_one)


@compiled(cache=False)
def add_all(crew, first, last, work):
    share(crew, first, last, add_one_job(work))


@compiled(cache=False)
def fail_at_three(counts, thread, k):
    if k == 3:
        raise ValueError("three")
    counts[k] = 1


fail_job = job_of(fail_at_three)


@compiled(cache=False)
def fail(crew, first, last, work):
    share(crew, first, last, fail_job(work))


def counts_and_threads(n_pieces, n_jobs, passes=1):
    counts, threads = np.zeros(n_pieces, dtype=np.int64), np.full(n_pieces, -1)
    run_pieces(add_all, (counts, threads, passes), n_pieces, n_jobs)
    return counts, threads


@pytest.mark.parametrize("n_jobs", [1, 2, 5, 16])
@pytest.mark.parametrize("n_pieces", [0, 1, 2, 3, 100])
def test_each_piece_runs_once(n_pieces, n_jobs):
    for _ in range(20):
        counts, threads = counts_and_threads(n_pieces, n_jobs)
        assert (counts == 1).all()
        assert (threads >= 0).all()
        assert (threads < n_jobs).all()


@needs_compiler
def test_members_take_part():
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:  # a busy machine may not let the member run at once
        _, threads = counts_and_threads(64, 2, passes=100_000)
        if set(threads.tolist()) == {0, 1}:
            return
    pytest.fail("no member took a piece")


def test_computations_side_by_side_have_crews_of_their_own():
    failures = []

    def work():
        for _ in range(50):
            counts, _ = counts_and_threads(40, 3, passes=100)
            failures.extend(counts[counts != 1])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_calls_inside_threads_share_the_threads_of_the_outermost_call():
    def inner(_):
        return counts_and_threads(30, 8)[1].max()

    found = run_threads(inner, range(6), 3)
    assert max(found) <= 2


@needs_compiler
def test_an_error_of_a_piece_is_raised_after_all_pieces():
    for n_jobs in (1, 3):
        counts = np.zeros(8)
        with pytest.raises(MemoryError, match="no memory for its part"):
            run_pieces(fail, (counts,), 8, n_jobs)
        assert counts.sum() == 7


@needs_compiler
def test_members_leave_when_no_job_comes():
    counts_and_threads(10, 4)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if all((crew[SEATS :: module.LINE] == ABSENT).all() for crew in CREWS._free):
            return
        time.sleep(0.01)
    pytest.fail("members still wait")


@needs_compiler
def test_work_goes_on_where_no_thread_can_be_started(monkeypatch):
    monkeypatch.setattr(module.HELPERS, "start", lambda task: False)
    counts, threads = counts_and_threads(20, 7)
    assert (counts == 1).all()
    assert (threads == 0).all() or len(set(threads.tolist())) < 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_starts_its_own_members():
    counts_and_threads(20, 3)
    child = os.fork()
    if child == 0:
        counts, _ = counts_and_threads(20, 3, passes=1000)
        os._exit(0 if (counts == 1).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_as_python_all_pieces_run_in_order():
    order = []
    share(NOBODY, 2, 5, job_of(lambda seen, thread, k: seen.append((thread, k)))((order,)))
    assert order == [(0, 2), (0, 3), (0, 4)]


@compiled(cache=False)
def sums_of(arrays, sums):
    for k in range(len(sums)):
        for value in array_at(arrays, k):
            sums[k] += value


def test_arrays_are_found_by_their_addresses():
    arrays = alike([np.arange(4), np.empty(0), np.arange(10)[::3]])
    sums = np.zeros(3)
    sums_of(Arrays.of(arrays), sums)
    assert sums.tolist() == [6, 0, 18]
    assert [array_at(Arrays.of(arrays), k).tolist() for k in (0, 1)] == [[0, 1, 2, 3], []]


@compiled(cache=False)
def product_of(gemm, left, right, product):
    multiply(gemm, left, right, product)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_parts_of_matrices(dtype):
    counts = np.random.default_rng(0).integers(0, 9, (7, 30)).astype(dtype)
    product = np.full((4, 26), -1, dtype=dtype)
    product_of(gemm_address(dtype), counts[:, 20:24], counts[:, :25], product[:, :25])
    np.testing.assert_array_equal(product[:, :25], counts[:, 20:24].T @ counts[:, :25])
    assert (product[:, 25] == -1).all()
