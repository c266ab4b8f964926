"""What a quick run leaves out, and how long things take."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from propkernels.paper.job import Scope

MOST_SECONDS = 60.0
UNKNOWN = 5.0


@cache
def measured_costs() -> dict[str, Any]:
    """Processor seconds that kernels and repeats took on one core: ``costs.toml``."""
    text = files("propkernels.paper").joinpath("costs.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def kernel_seconds(experiment: str, row: str, column: str) -> float:
    """How long the kernels of a cell take, all candidates together, where that is long."""
    table = measured_costs()["kernels"].get(experiment, {})
    return float(table.get(column, {}).get(row, 0.0))


def repeat_seconds(experiment: str, row: str, column: str) -> float:
    """How long a repeat takes once there are kernels; a guess where it was not measured."""
    table = measured_costs()["repeats"].get(experiment, {})
    return float(table.get(column, {}).get(row, UNKNOWN))


def slow_in_quick_mode(task: Any, scope: Scope) -> str:
    """Return why a cell is left out of a quick run; nothing where it is not."""
    seconds = kernel_seconds(task.experiment, task.row, task.column)
    if not scope.quick or seconds <= MOST_SECONDS:
        return ""
    return f"not run with --quick: the kernels alone take about {seconds / 60:.0f} min on one core"
