"""Locks and values that are computed once: free in a forked child, released with their owner."""

import gc
import os
import re
import signal
import weakref
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

import propkernels
from propkernels._utils.locks import cached_property, derived, fork_safe_lock

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def ends_in_child(function, seconds=20):
    """Whether a forked process runs a function to its end; one that waits for ever is ended by the alarm."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            function()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextmanager
def in_another_thread(context):
    """Another thread stays in a context while this one goes on."""
    entered, leave = Event(), Event()

    def stay():
        with context:
            entered.set()
            leave.wait()

    thread = Thread(target=stay)
    thread.start()
    entered.wait()
    try:
        yield
    finally:
        leave.set()
        thread.join()


def take(lock):
    with lock:
        pass


@forks
def test_a_lock_of_another_thread_is_free_in_the_child():
    lock, free = fork_safe_lock(), fork_safe_lock()
    with in_another_thread(lock):
        assert ends_in_child(lambda: (take(lock), take(free)))
    take(lock)


@forks
def test_a_lock_of_the_forking_thread_is_still_its_own_in_the_child():
    lock = fork_safe_lock()

    def release():
        lock.release()
        with in_another_thread(lock):
            pass

    with lock:
        assert ends_in_child(release)


class Slow:
    """An object whose value another thread is asking for."""

    def __init__(self, wait=None):
        self.wait = wait

    @cached_property
    def value(self):
        if self.wait is not None:
            self.wait()
        return 7


@forks
def test_a_property_that_another_thread_computes_can_be_computed_in_the_child():
    asked, go_on = Event(), Event()
    slow = Slow(lambda: (asked.set(), go_on.wait()))
    thread = Thread(target=lambda: slow.value)
    thread.start()
    asked.wait()
    try:
        assert ends_in_child(lambda: Slow().value)
    finally:
        go_on.set()
        thread.join()
    assert vars(slow)["value"] == 7


NOT_FORK_SAFE = re.compile(
    r"threading import .*\b(Lock|RLock|Condition|Semaphore)\b|threading\.(R?Lock|Condition|Semaphore)\b"
    r"|functools import .*\bcached_property\b|functools\.cached_property\b"
)


def test_all_locks_of_the_library_are_fork_safe():
    package = Path(propkernels.__file__).parent
    for path in package.rglob("*.py"):
        found = NOT_FORK_SAFE.search(path.read_text())
        assert found is None or path.name == "locks.py", f"{path}: import it from propkernels._utils.locks"


class Owner:
    """Object that can be referred to weakly."""


def test_a_value_is_computed_once_per_owner_and_name():
    calls = []
    first, second = Owner(), Owner()
    for owner, name in ((first, "a"), (first, "a"), (first, "b"), (second, "a")):
        derived(owner, name, lambda: calls.append(1) or len(calls))
    assert len(calls) == 3
    assert derived(first, "a", lambda: 0) == 1


def test_values_are_released_with_their_owner():
    owner = Owner()
    kept = weakref.ref(derived(owner, "value", Owner))
    gc.collect()
    assert kept() is not None
    del owner
    gc.collect()
    assert kept() is None
