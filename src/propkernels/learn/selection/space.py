"""Candidates for t_max and C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propkernels.utils.checks import check_nonnegative, check_positive, check_streams, shown

DEFAULT_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
PAPER_COSTS = {
    False: (1e-7, 1e-5, 1e-3, 1e-1),
    True: (1e-7, 1e-5, 1e-3, 1e-1, 1e1, 1e3, 1e5, 1e7),
}


@dataclass(frozen=True)
class CostGrid:
    """Values of C to try.

    Attributes
    ----------
    plain, normalized : tuple of float
        For kernels as they are, and for normalised ones.
    scaled : bool
        Whether C is in units of the kernel's mean diagonal; otherwise it belongs to the kernel as it is.
    """

    plain: tuple[float, ...]
    normalized: tuple[float, ...]
    scaled: bool

    def of(self, is_normalized: bool) -> tuple[float, ...]:
        """Values for one kernel."""
        return self.normalized if is_normalized else self.plain


def check_cost_grid(costs: Any) -> CostGrid:
    """Return the grid that the parameter ``C`` stands for; "paper" is the paper's.

    Examples
    --------
    >>> check_cost_grid([10, 1])
    CostGrid(plain=(1.0, 10.0), normalized=(1.0, 10.0), scaled=True)
    >>> check_cost_grid("paper").plain
    (1e-07, 1e-05, 0.001, 0.1)
    """
    if isinstance(costs, str):
        if costs != "paper":
            raise ValueError(f'C must be a number, several numbers or "paper", got {shown(costs)}')
        return CostGrid(PAPER_COSTS[False], PAPER_COSTS[True], False)
    values = check_costs(costs)
    return CostGrid(values, values, True)


def check_epsilons(epsilon: Any) -> tuple[float, ...]:
    """Return the candidates for epsilon, smallest first.

    Examples
    --------
    >>> check_epsilons(0)
    (0.0,)
    """
    return tuple(sorted({check_nonnegative(value, "epsilon") for value in _several(epsilon, "epsilon")}))


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
    return tuple(sorted({check_streams(step, 1)[0] for step in _several(t_max, "t_max")}))


def _several(values: Any, name: str) -> Sequence[Any]:
    candidates = [values] if np.ndim(values) == 0 else list(values)
    if not candidates:
        raise ValueError(f"{name} needs at least one value, got none")
    return candidates
