"""Checks of parameters: the right type and range, or an error that names the parameter in one sentence."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np


def check_choice(value: Any, choices: Sequence[Any], name: str) -> None:
    """Refuse a value that is not among the choices."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}")


def check_integer(value: Any, name: str, least: int) -> int:
    """Return a whole number (numpy's too, not a bool) that is at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")
    return int(value)


def check_positive(value: Any, name: str) -> float:
    """Return a finite number above 0."""
    number = _check_number(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def check_fraction(value: Any, name: str) -> float:
    """Return a number in [0, 1)."""
    number = _check_number(value, name)
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value!r}")
    return number


def _check_number(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_share(value: Any, name: str) -> float:
    """Return a number in [0, 1]."""
    number = _check_number(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return number


def check_nonnegative(value: Any, name: str) -> float:
    """Return a finite number that is at least 0."""
    number = _check_number(value, name)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number, at least 0; got {value!r}")
    return number


RandomState = int | np.random.Generator | np.random.RandomState | None


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator: the given one, one seeded by a number, or a fresh one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
