"""Threads that wait for the next call."""

import multiprocessing
import threading

import pytest

from propkernels._utils import helpers
from propkernels._utils.helpers import Helpers, map_in_threads


def test_results_are_in_the_order_of_items():
    assert map_in_threads(lambda x: x * x, range(100), 4) == [x * x for x in range(100)]
    assert map_in_threads(abs, [], 4) == []


def test_items_run_at_the_same_time():
    barrier = threading.Barrier(3, timeout=20)
    assert sorted(map_in_threads(lambda _: barrier.wait(), range(3), 3)) == [0, 1, 2]


def test_calls_inside_calls_do_not_wait_for_each_other():
    def outer(x):
        barrier = threading.Barrier(3, timeout=20)
        map_in_threads(lambda _: barrier.wait(), range(3), 3)
        return x

    assert map_in_threads(outer, range(6), 4) == list(range(6))


def test_threads_are_used_again():
    map_in_threads(abs, range(8), 4)
    before = threading.active_count()
    for _ in range(20):
        map_in_threads(abs, range(8), 4)
    assert threading.active_count() <= before


def test_the_first_error_is_raised_and_later_items_are_left_out():
    begun = []

    def fails(x):
        begun.append(x)
        if x >= 3:
            raise ValueError(f"item {x}")
        return x

    with pytest.raises(ValueError, match="item 3"):
        map_in_threads(fails, range(1000), 2)
    assert len(begun) < 10
    assert map_in_threads(abs, [-1], 2) == [1]


def test_without_memory_for_threads_the_caller_does_the_work(monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(helpers, "HELPERS", Helpers())
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert map_in_threads(abs, [-1, -2, -3], 4) == [1, 2, 3]


def in_a_child(queue):
    queue.put(map_in_threads(abs, [-1, -2, -3], 3))


@pytest.mark.slow
def test_a_forked_child_starts_its_own_threads():
    map_in_threads(abs, range(4), 4)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_a_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == [1, 2, 3]
    child.join(30)
    assert child.exitcode == 0
