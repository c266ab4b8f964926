"""Locks that are free in a forked process.

``os.fork`` copies the memory of a process, but only the calling thread. A lock held by another thread would
stay locked forever in the child. All locks of the library are therefore created here, and locks held by other
threads are replaced in the child.
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
    """Reentrant lock for ``with`` blocks; free in a forked child unless held by the forking thread.

    The protected data must be consistent at any moment, because the child inherits its current state.

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
    """Attribute that is computed on first access, without a lock.

    Up to Python 3.11, ``functools.cached_property`` holds one lock per class during computation. Without it,
    two threads may compute the same value, and the last one is kept.
    """

    def __init__(self, func: Callable[[Any], Value]) -> None:
        super().__init__(func)
        self.lock = nullcontext()
