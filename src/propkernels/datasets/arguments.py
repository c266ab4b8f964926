"""Arguments of the generators."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

RandomState = int | np.random.Generator | np.random.RandomState | None


def whole_number(value: Any, name: str, least: int) -> int:
    """Return a whole number of at least ``least``; numpy integers are welcome."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator: the given one, one seeded by a number, or a fresh one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
