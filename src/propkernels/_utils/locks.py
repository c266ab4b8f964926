"""Locks that are free in a forked process.

``os.fork`` copies the memory of a process, but only the thread that calls it. A lock that another thread
holds at that moment stays held in the child, and whoever waits for it there waits for ever. All locks of the
library are therefore made here, and those of other threads are replaced in the child.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import nullcontext
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakSet

Value = TypeVar("Value")


class ForkSafeLock:
    """A reentrant lock for ``with`` blocks, which a forked child never finds held by a thread it lacks.

    What the lock protects must be whole at any moment, since the child takes it over as it is.

    Examples
    --------
    >>> lock = ForkSafeLock()
    >>> with lock, lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = RLock()
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def free(self) -> None:
        """Replace the lock, unless it is free or held by this thread."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = RLock()


_LOCKS: WeakSet[ForkSafeLock] = WeakSet()


def _free_all() -> None:
    for lock in list(_LOCKS):
        lock.free()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_free_all)


class cached_property(functools.cached_property[Value]):
    """An attribute that is computed when it is first looked at, without a lock.

    Up to Python 3.11 that of functools holds one lock per class while a value is computed. Without it two
    threads may compute the same value, and the last one stays.
    """

    def __init__(self, func: Callable[[Any], Value]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
