"""Threads, and the threads of the linear algebra library."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import Lock
from time import sleep

import numpy as np
import psutil
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

import propkernels as pk
from propkernels._utils import parallel
from propkernels._utils.parallel import one_blas_thread, run_threads, thread_count, threaded, workers


def run(function, items, n_jobs, **options):
    with workers(n_jobs):
        return run_threads(function, items, **options)


def count(n_jobs):
    with workers(n_jobs):
        return thread_count()


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_blas_threads_never_raise_the_limit_of_the_environment():
    with threadpool_limits(1, user_api="blas"), workers(2), parallel.blas_threads():
        assert blas_threads() == {1}
    with threadpool_limits(2, user_api="blas"), parallel.blas_threads():
        assert blas_threads() == {1}


def test_threads_share_the_threads_of_blas():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with workers(2), parallel.blas_threads():
            seen = run(lambda _: blas_threads(), range(2), 2, uses_blas=True)
            assert seen == [{1}, {1}]
            assert blas_threads() == before
        assert blas_threads() == before


def test_a_limit_that_another_thread_sets_is_in_force():
    """threadpoolctl leaves OpenBLAS to the first thread that sets a limit, and ignores the others."""

    def limited(_):
        with one_blas_thread():
            return blas_threads()

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        before = blas_threads()
        assert pool.submit(limited, 0).result() == {1}
        assert blas_threads() == before


def test_blocks_that_end_in_another_order_leave_the_limit_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before, first, second = blas_threads(), one_blas_thread(), parallel.blas_threads()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_calls_inside_keep_the_threads_of_the_call_around_them():
    """None keeps them, a number replaces them until its block ends; threads see those of their call."""

    @threaded
    def asked(*, n_jobs=None):
        return thread_count()

    assert asked() == 1
    assert asked(n_jobs=3) == 3
    with workers(5):
        assert (asked(), asked(n_jobs=2), asked()) == (5, 2, 5)
        with pytest.raises(ZeroDivisionError), workers(4):
            asked(n_jobs=1 // 0)
        assert asked() == 5
        assert run_threads(lambda _: parallel._N_JOBS.get(), range(20)) == [5] * 20
    with ThreadPoolExecutor(1) as pool, workers(5):
        assert pool.submit(asked).result() == 1
    assert asked() == 1


def test_any_number_of_threads_is_allowed():
    graphs = pk.datasets.make_molecules(4, random_state=0).graphs
    expected = pk.WeisfeilerLehman().fit_transform(graphs)
    for n_jobs in (10**30, -(10**30)):
        assert np.array_equal(pk.WeisfeilerLehman(n_jobs=n_jobs).fit_transform(graphs), expected)


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(0, ValueError), (True, TypeError), (1.5, TypeError), ("2", TypeError)]
)
def test_numbers_of_threads_are_checked(n_jobs, error):
    with pytest.raises(error, match="n_jobs must be None"), workers(n_jobs):
        pass


@pytest.mark.parametrize(("n_jobs", "n_items"), [(4, 4), (4, 2), (5, 3)])
def test_at_most_n_jobs_threads_work_at_a_time(n_jobs, n_items):
    lock, working, most = Lock(), 0, 0

    def inner(_):
        nonlocal working, most
        with lock:
            working += 1
            most = max(most, working)
        sleep(0.001)
        with lock:
            working -= 1

    for _ in range(5):
        run(lambda _: run(inner, range(7), 8), range(n_items), n_jobs)
    assert 1 < most <= n_jobs
    assert count(8) == 8


def test_thread_count_follows_joblib(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count(None) == 1
    assert count(3) == 3
    assert count(-1) == cpu_count()
    with parallel_config(n_jobs=2):
        assert count(None) == 2


def threads_of_work(_):
    """Number of threads for n_jobs=-1 in this worker, and the number that work on a kernel has started."""
    graphs = pk.datasets.make_molecules(2000, random_state=0).graphs
    pk.PropagationKernel(random_state=0, n_jobs=1).fit_transform(graphs)  # packages start threads at import
    before = psutil.Process().num_threads()
    pk.PropagationKernel(random_state=0, n_jobs=-1).fit_transform(graphs)
    return count(-1), psutil.Process().num_threads() - before


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "process pool", "dask"])
def test_no_more_threads_than_cores_in_workers(backend, monkeypatch):
    """A worker per core starts no thread: joblib and Dask, or the user, have set OMP_NUM_THREADS."""
    if backend == "loky":
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        found = Parallel(n_jobs=cpu_count(), backend="loky")(delayed(threads_of_work)(i) for i in range(2))
    elif backend == "process pool":
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            found = list(pool.map(threads_of_work, range(1)))
    else:
        distributed = pytest.importorskip("distributed")
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            found = client.gather(client.map(threads_of_work, range(1)))
    assert set(found) == {(1, 0)}


def test_the_first_error_is_raised_and_later_items_are_left_out():
    begun = []

    def fails(x):
        begun.append(x)
        if x >= 3:
            raise ValueError(f"item {x}")
        sleep(0.001)

    with pytest.raises(ValueError, match="item 3"):
        run(fails, range(1000), 2)
    assert len(begun) < 10
    assert run(abs, [-1, -2], 2) == [1, 2]


def test_threads_that_do_not_start_are_not_waited_for(monkeypatch):
    """They are refused when memory is short."""

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    assert run(abs, [-1, -2, -3], 4) == [1, 2, 3]


def in_a_child(queue):
    queue.put(run(abs, [-1, -2, -3], 3))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def fork(item):
        sleep(0.01)
        if item:
            return
        child = context.Process(target=in_a_child, args=(queue,))
        child.start()
        assert queue.get(timeout=30) == [1, 2, 3]
        child.join(30)
        assert child.exitcode == 0

    run(fork, range(2), 2)


def test_calls_inside_calls_return_their_own_results_and_errors():
    def inner(pair):
        if pair[1] == 7 and pair[0] % 3 == 0:
            raise ValueError(f"{pair[0]}")
        return sum(run(lambda x: x * pair[1], range(5), 3))

    def outer(item):
        try:
            return run(inner, [(item, k) for k in range(10)], 4)
        except ValueError as error:
            return str(error)

    expected = [str(item) if item % 3 == 0 else [10 * k for k in range(10)] for item in range(40)]
    for _ in range(5):
        assert run(outer, range(40), 6) == expected
