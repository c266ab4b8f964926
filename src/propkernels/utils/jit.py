"""Compiled loops that treat several columns alike, in vector instructions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from numba import config

_LOCK = Lock()
_users: list[int] = []  # the compiler's own setting, once for each user of vector_code


@contextmanager
def vector_code() -> Iterator[None]:
    """Enable numba's SLP vectorizer for functions compiled inside this block.

    This is numba's NUMBA_SLP_VECTORIZE, which is off where nobody asks for it. Results are the same bits.
    """
    with _LOCK:
        _users.append(_users[-1] if _users else config.SLP_VECTORIZE)
        config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        with _LOCK:
            before = _users.pop()
            config.SLP_VECTORIZE = 1 if _users else before
