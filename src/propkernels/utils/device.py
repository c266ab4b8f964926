"""The device that this thread computes on: set by an estimator, asked for by the stations that have a choice.

An estimator with ``device="cuda"`` runs its methods inside :func:`running_on`. Counting and the Gram matrix
ask :func:`active_device`; where there is one, they hand it the work. Nothing between them has to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ACTIVE: ContextVar[Any] = ContextVar("propkernels_device", default=None)


def active_device() -> Any:
    """Return the device of this thread, or None for the CPU."""
    return _ACTIVE.get()


@contextmanager
def running_on(device: Any) -> Iterator[None]:
    """Compute on a device inside this block; None: on the CPU."""
    token = _ACTIVE.set(device)
    try:
        yield
    finally:
        _ACTIVE.reset(token)
