"""Threads that cannot start."""

import pytest

from propkernels._utils.helpers import Helpers
from propkernels._utils.parallel import run_threads
from propkernels._utils.thread_pool import start_thread


def dies_at_once(self):
    """In place of a thread's first function, which has no memory for its call."""


@pytest.fixture
def dying_threads(monkeypatch):
    monkeypatch.setattr("threading.Thread._bootstrap", dies_at_once)
    monkeypatch.setattr("propkernels._utils.thread_pool.LONGEST_START", 0.05)


def test_threads_that_die_before_their_start_are_not_waited_for(dying_threads):
    with pytest.raises(RuntimeError, match="can't start new thread"):
        start_thread(str, 1)


def test_a_call_does_without_threads_that_die(dying_threads, monkeypatch):
    monkeypatch.setattr("propkernels._utils.helpers.HELPERS", Helpers())
    assert run_threads(str, [1, 2, 3], 2) == ["1", "2", "3"]
