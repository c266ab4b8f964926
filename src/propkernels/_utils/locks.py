"""Locks that are free in a forked process, and cached values without locks.

``os.fork`` copies the memory of a process, but only the calling thread. A lock held by another thread would
stay locked forever in the child. All locks of the library are therefore created here, and locks held by other
threads are freed in the child.
"""

from __future__ import annotations

import functools
import os
from _thread import RLock
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

Value = TypeVar("Value")
_LOCKS: WeakSet[RLock] = WeakSet()


def fork_safe_lock() -> RLock:
    """Return a reentrant lock for ``with`` blocks; free in a forked child unless held by the forking thread.

    The protected data must be consistent at any moment, because the child inherits its current state. The
    lock is an object of C: handlers of signals, which may raise KeyboardInterrupt after any call of Python
    code, do not run between its ``__enter__`` and the block, so that it is never left locked.

    Examples
    --------
    >>> lock = fork_safe_lock()
    >>> with lock, lock:
    ...     pass
    """
    lock = RLock()
    _LOCKS.add(lock)
    return lock


def _free_all() -> None:
    for lock in list(_LOCKS):
        if lock.acquire(blocking=False):  # free, or held by this thread
            lock.release()
        else:
            lock._at_fork_reinit()  # type: ignore[attr-defined]  # as the locks of logging


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


T = TypeVar("T")
_KEPT: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def derived(owner: Any, name: str, make: Callable[[], T]) -> T:
    """Return the cached result of ``make()``, computed on first use; it is neither copied nor saved.

    ``owner`` is hashed by identity. If two threads compute it at the same time, the last result is kept.
    """
    kept = _KEPT.setdefault(owner, {})
    if name not in kept:
        kept[name] = make()
    made: T = kept[name]
    return made
