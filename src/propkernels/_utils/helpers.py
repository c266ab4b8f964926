"""Threads that wait for the next call: to wake them takes a tenth of the time of starting new ones."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any

from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.thread_pool import start_thread

Task = Callable[[], Any]


class Helpers:
    """Threads that run tasks at once: an idle thread if there is one, else a new thread.

    A task never waits for another task, so tasks may start tasks and wait for them. Threads are daemons: an
    idle thread does not keep the interpreter alive. A forked child has none of them and starts new ones.
    """

    def __init__(self) -> None:
        self._idle: deque[SimpleQueue[Task]] = deque()
        if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
            os.register_at_fork(after_in_child=self._idle.clear)

    def start(self, task: Task) -> bool:
        """Run a task in another thread; return False if no thread can be started, as when memory is short."""
        try:
            queue = self._idle.pop()
        except IndexError:
            queue = SimpleQueue()
            try:
                start_thread(self._work, queue)
            except (RuntimeError, MemoryError):
                return False
        queue.put(task)
        return True

    def _work(self, queue: SimpleQueue[Task]) -> None:
        while True:
            task = queue.get()
            task()
            del task  # free its objects while the thread waits
            self._idle.append(queue)


HELPERS = Helpers()


class Call:
    """Items of a call, which threads take one by one until none is left.

    Attributes
    ----------
    results : list
        Results of the items, in order.
    errors : dict
        Errors by position of the item; items that were not begun before the first one are left out.
    n_helpers, n_joined : int
        Threads besides the caller that take part, and how often one has begun to.
    most : int
        Largest number of threads besides the caller.
    """

    def __init__(self, function: Callable[[Any], Any], items: Any, most: int) -> None:
        self._function, self.left, self.most = function, deque(enumerate(items)), most
        self.results: list[Any] = [None] * len(self.left)
        self.errors: dict[int, BaseException] = {}
        self.n_helpers = self.n_joined = 0
        self.ended: SimpleQueue[None] = SimpleQueue()

    def take_all(self) -> None:
        """Compute items until none is left."""
        while True:
            try:
                at, item = self.left.popleft()
            except IndexError:
                return
            try:
                self.results[at] = self._function(item)
            except BaseException as error:
                self.errors[at] = error
                self.left.clear()


class SpareThreads:
    """Number of threads that calls inside a call may still start, and calls that threads may join."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.known: dict[int | None, int] = {}  # number of cores by n_jobs
        self._calls: list[Call] = []
        self._lock = ForkSafeLock()

    def take(self, most: int) -> int:
        """Take up to ``most`` threads; return how many."""
        with self._lock:
            taken = min(most, self.number)
            self.number -= taken
        return taken

    def give(self, number: int) -> None:
        """Give back threads."""
        with self._lock:
            self.number += number

    def open(self, call: Call, n_helpers: int) -> None:
        """Let threads join a call, besides ``n_helpers`` that were started for it."""
        with self._lock:
            call.n_helpers = call.n_joined = n_helpers
            self._calls.append(call)

    def close(self, call: Call) -> int:
        """Let no more threads join a call; return how often one did."""
        with self._lock:
            self._calls.remove(call)
            return call.n_joined

    def help_out(self, call: Call | None = None) -> None:
        """Take items of a call, then of others, until none are left; then give back this thread."""
        call = self._next_call() if call is None else call
        while call is not None:
            call.take_all()
            before, call = call, self._next_call(call)
            before.ended.put(None)

    def _next_call(self, before: Call | None = None) -> Call | None:
        """Leave a call for the first one with items left, or give back this thread."""
        with self._lock:
            if before is not None:
                before.n_helpers -= 1
            for call in self._calls:
                if call.left and call.n_helpers < call.most:
                    call.n_helpers += 1
                    call.n_joined += 1
                    return call
            self.number += 1
        return None


def map_in_threads(
    function: Callable[[Any], Any],
    items: Any,
    n_threads: int,
    spare: SpareThreads | None = None,
    is_outermost: bool = True,
    most: int = 0,
) -> list[Any]:
    """Return the results of a function for all items, in order; the calling thread takes part.

    The first error, by the order of items, is raised after all threads have stopped; items that were not
    begun by then are left out. Threads without items, also the calling thread of the outermost call, join
    other calls of ``spare``, up to ``most`` threads each, the first call first; then they are given to it.

    Examples
    --------
    >>> map_in_threads(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    spare = SpareThreads(0) if spare is None else spare
    call = Call(function, items, max(most, n_threads) - 1)

    spare.open(call, n_threads - 1)
    n_started = sum(HELPERS.start(partial(spare.help_out, call)) for _ in range(n_threads - 1))
    n_missing = n_threads - 1 - n_started
    spare.give(n_missing)
    try:
        call.take_all()
    finally:
        call.left.clear()
        n_joined = spare.close(call) - n_missing
        if is_outermost:  # calls inside have ended when it goes on
            spare.help_out()
        for _ in range(n_joined):
            call.ended.get()
    if call.errors:
        raise call.errors[min(call.errors)]
    return call.results
