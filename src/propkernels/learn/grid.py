"""Candidates for t_max and C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from propkernels.checks import check_integer, check_positive

DEFAULT_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def check_costs(costs: Any) -> tuple[float, ...]:
    """Return the candidates for C, smallest first.

    Examples
    --------
    >>> check_costs([10, 1])
    (1.0, 10.0)
    >>> check_costs(5)
    (5.0,)
    """
    return tuple(sorted({check_positive(cost, "C") for cost in _several(costs, "C")}))


def check_steps(t_max: Any) -> tuple[int, ...] | None:
    """Return the candidates for t_max, smallest first; None stands for all that the kernel has.

    Examples
    --------
    >>> check_steps(range(3))
    (0, 1, 2)
    """
    if t_max is None:
        return None
    return tuple(sorted({check_integer(step, "t_max", 0) for step in _several(t_max, "t_max")}))


def _several(values: Any, name: str) -> Sequence[Any]:
    candidates = [values] if np.ndim(values) == 0 else list(values)
    if not candidates:
        raise ValueError(f"{name} needs at least one value, got none")
    return candidates
