"""start_thread: a thread whose start is not waited for without end."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any

LONGEST_START = 10.0  # seconds that a thread may take to start


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
