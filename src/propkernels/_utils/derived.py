"""Cache of derived values: computed on first use, kept for the lifetime of their owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

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
