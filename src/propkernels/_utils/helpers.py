"""Threads that wait for the next call: to wake them takes a tenth of the time of starting new ones."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
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


class SpareThreads:
    """Number of threads that calls inside a call may still start."""

    def __init__(self, number: int) -> None:
        self.number = number
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


def map_in_threads(
    function: Callable[[Any], Any],
    items: Any,
    n_threads: int,
    spare: SpareThreads | None = None,
    is_outermost: bool = True,
) -> list[Any]:
    """Return the results of a function for all items, in order; the calling thread takes part.

    The first error, by the order of items, is raised after all threads have stopped; items that were not
    begun by then are left out. Threads without items are given to ``spare``, and
    so is the calling thread of the outermost call while it waits: calls inside have ended when it goes on.

    Examples
    --------
    >>> map_in_threads(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    results: list[Any] = [None] * len(items)
    spare = SpareThreads(0) if spare is None else spare
    errors: dict[int, BaseException] = {}
    left = deque(enumerate(items))
    ended: SimpleQueue[None] = SimpleQueue()

    def take_all() -> None:
        while True:
            try:
                at, item = left.popleft()
            except IndexError:
                return
            try:
                results[at] = function(item)
            except BaseException as error:
                errors[at] = error
                left.clear()

    def help_out() -> None:
        try:
            take_all()
        finally:
            spare.give(1)
            ended.put(None)

    started = sum(HELPERS.start(help_out) for _ in range(n_threads - 1))
    spare.give(n_threads - 1 - started)
    try:
        take_all()
    finally:
        left.clear()
        spare.give(int(is_outermost))
        for _ in range(started):
            ended.get()
    if errors:
        raise errors[min(errors)]
    return results
