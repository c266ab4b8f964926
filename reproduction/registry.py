"""All experiments, by the names that the command knows."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from reproduction.engine.sections import Experiment
from reproduction.experiments import (
    attribute_kernels,
    attributed,
    filters,
    grids,
    labelled,
    partial_runtime,
    partially_labelled,
    point_clouds,
    point_graphs,
    runtimes,
    sensitivity,
    statistics,
    worked_example,
)

TITLES: dict[ModuleType, str] = {  # in the order of the report
    statistics: "Dataset statistics and properties",
    point_clouds: "Point Cloud Graphs",
    point_graphs: "Point Cloud Graphs: data",
    labelled: "Labeled Graphs",
    partially_labelled: "Partially Labeled Graphs",
    partial_runtime: "Runtime for Partially Labeled MSRC21",
    attributed: "Attributed Graphs",
    runtimes: "Runtimes of PK and WL",
    grids: "Grid Graphs",
    sensitivity: "Parameter Sensitivity of PK",
    attribute_kernels: "Attribute Kernels",
    filters: "Grid Graph",
    worked_example: "Propagation Kernel Computation",
}


@cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment, by name."""
    found = [Experiment(one.NAME, title, one.jobs, one.sections) for one, title in TITLES.items()]
    return {one.name: one for one in found}
