"""Threads that cannot start, and the calls of a pool."""

from threading import Event

import pytest

from propkernels._utils.helpers import Helpers
from propkernels._utils.parallel import run_threads
from propkernels._utils.thread_pool import ThreadPool


def dies_at_once(self):
    """In place of a thread's first function, which has no memory for its call."""


@pytest.fixture
def dying_threads(monkeypatch):
    monkeypatch.setattr("threading.Thread._bootstrap", dies_at_once)
    monkeypatch.setattr("propkernels._utils.thread_pool.LONGEST_START", 0.05)


def refuse(*arguments, **options):
    raise RuntimeError("can't start new thread")


def test_threads_that_die_before_their_start_are_not_waited_for(dying_threads):
    with pytest.raises(MemoryError, match="a thread could not be started"):
        ThreadPool(2).submit(str, 1)


def test_a_call_does_without_threads_that_die(dying_threads, monkeypatch):
    monkeypatch.setattr("propkernels._utils.helpers.HELPERS", Helpers())
    assert run_threads(str, [1, 2, 3], 2) == ["1", "2", "3"]


def test_threads_that_cannot_start_are_named(monkeypatch):
    monkeypatch.setattr("threading.Thread.start", refuse)
    with pytest.raises(MemoryError, match="a thread could not be started"):
        ThreadPool(2).submit(str, 1)


def test_the_threads_that_started_do_all_the_work(monkeypatch):
    with ThreadPool(3) as pool:
        first = pool.submit(str, 1)
        monkeypatch.setattr("threading.Thread.start", refuse)
        assert [first.result(), *pool.map(str, range(5))] == ["1", *"01234"]


def test_calls_of_a_pool_fail_and_are_canceled():
    inside, leave = Event(), Event()
    with ThreadPool(1) as pool:
        running = pool.submit(lambda: (inside.set(), leave.wait(10)))
        waiting, failing = pool.submit(str, 1), pool.submit(int, "x")
        assert inside.wait(10)
        assert waiting.cancel()
        leave.set()
        assert running.result(10) == (None, True)
        with pytest.raises(ValueError, match="invalid literal"):
            failing.result(10)
        late = pool.submit(str, 2)
        pool.shutdown()
    assert late.result(10) == "2"
