"""What graphs in an index are called."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Any

import numpy as np


def running_ids(first: int, number: int) -> list[Hashable]:
    """Numbers from ``first`` on."""
    return list(range(first, first + number))


def check_ids(ids: Iterable[Hashable], n_graphs: int, taken: Collection[Hashable]) -> list[Hashable]:
    """Return one id a graph, all different from each other and from those that are taken.

    Examples
    --------
    >>> check_ids(np.array([4, 7]), 2, [1, 2])
    [4, 7]
    """
    names = _plain(ids)
    if len(names) != n_graphs:
        raise ValueError(f"there are {len(names)} ids for {n_graphs} graphs")
    seen = set(taken)
    for name in names:
        if name in seen:
            raise ValueError(f"ids must be different from each other, but {name!r} is there already")
        seen.add(name)
    return names


def check_known(ids: Iterable[Hashable], known: Collection[Hashable]) -> list[Hashable]:
    """Return ids, each once, all of which are known."""
    names = _plain(ids)
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is not in the index")
    return list(dict.fromkeys(names))


def _plain(ids: Any) -> list[Hashable]:
    """Ids as Python's own values; what is hashable, and a collection."""
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise TypeError(f"ids must be a list of ids, got {ids!r}")
    names = [name.item() if isinstance(name, np.generic) else name for name in ids]
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TypeError(f"ids must be hashable, got {name!r}") from None
    return names
