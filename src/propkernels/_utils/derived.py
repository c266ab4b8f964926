"""Tables that follow from an object: made when they are first needed, kept as long as the object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
_KEPT: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def derived(owner: Any, name: str, make: Callable[[], T]) -> T:
    """Return what ``make`` returned when ``name`` was first asked for; it is neither copied nor saved.

    ``owner`` is hashed by identity. Two threads may both make it, and the last one is kept.
    """
    kept = _KEPT.setdefault(owner, {})
    if name not in kept:
        kept[name] = make()
    made: T = kept[name]
    return made
