"""ThreadPool: an executor of threads that never waits without end for one that cannot start."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

LONGEST_START = 10.0  # seconds that a thread may take to start
NO_THREAD = (
    "a thread could not be started: memory, or the number of processes that the system allows, does not "
    "suffice; free some and run again"
)


class _Start(Event):
    """Event of the start of a thread, which is not waited for without limit.

    A thread that has no memory for its first function call dies in silence, and Python's ``Thread.start``
    would wait for ever.
    """

    def wait(self, timeout: float | None = None) -> bool:
        if not super().wait(LONGEST_START if timeout is None else timeout):
            raise RuntimeError("can't start new thread")
        return True


def start_thread(target: Callable[..., Any], *arguments: Any) -> Thread:
    """Return a daemon thread that has started; raise RuntimeError or MemoryError if none can."""
    thread = Thread(target=target, args=arguments, daemon=True, name="propkernels")
    thread._started = _Start()  # type: ignore[attr-defined]
    thread.start()
    return thread


class ThreadPool(Executor):
    """Threads that are started as calls are submitted, and raise MemoryError where none can start.

    Where some threads have started and the next one cannot, those that have do all the work.

    Parameters
    ----------
    n_workers : int
        Largest number of threads.
    """

    def __init__(self, n_workers: int) -> None:
        self._max_workers = n_workers
        self._calls: SimpleQueue[Any] = SimpleQueue()
        self._threads: list[Thread] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call; its future has the result."""
        if len(self._threads) < self._max_workers:
            self._start()
        future: Future[Any] = Future()
        self._calls.put((future, partial(fn, *args, **kwargs)))
        return future

    def _start(self) -> None:
        try:
            self._threads.append(start_thread(_serve, self._calls))
        except (RuntimeError, MemoryError):
            if not self._threads:
                raise MemoryError(NO_THREAD) from None
            self._max_workers = len(self._threads)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all threads after the submitted calls, or cancel those calls that have not begun."""
        if cancel_futures:
            with suppress(Empty):
                while True:
                    self._calls.get_nowait()[0].cancel()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads if wait else ():
            thread.join()


def _serve(calls: SimpleQueue[Any]) -> None:
    """Run calls from a queue until the queue returns None."""
    while (call := calls.get()) is not None:
        future, run = call
        if future.set_running_or_notify_cancel():
            try:
                result = run()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
                del result
        del call, future, run  # nothing is kept alive while the thread waits
