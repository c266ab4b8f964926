"""All experiments, by the names that the command knows."""

from __future__ import annotations

from functools import cache

from reproduction.engine.sections import Experiment
from reproduction.experiments import (
    attribute_kernels,
    attributed,
    filters,
    grids,
    labelled,
    noise,
    partial_runtime,
    partially_labelled,
    peers,
    point_clouds,
    point_graphs,
    sensitivity,
    statistics,
    worked_example,
)


@cache
def experiments() -> dict[str, Experiment]:
    """Return every experiment, in the order of the report."""
    found = [
        Experiment("datasets", "Dataset statistics and properties", statistics.jobs, statistics.sections),
        Experiment("point_clouds", "Point Cloud Graphs", point_clouds.jobs, point_clouds.sections),
        Experiment("point_graphs", "Point Cloud Graphs: data", point_graphs.jobs, point_graphs.sections),
        Experiment("labelled", "Labeled Graphs", labelled.jobs, labelled.sections),
        Experiment(
            "partially_labelled",
            "Partially Labeled Graphs",
            partially_labelled.jobs,
            partially_labelled.sections,
        ),
        Experiment(
            "partial_runtime",
            "Runtime for Partially Labeled MSRC21",
            partial_runtime.jobs,
            partial_runtime.sections,
        ),
        Experiment("attributed", "Attributed Graphs", attributed.jobs, attributed.sections),
        Experiment("peers", "Runtimes beside GraKeL", peers.jobs, peers.sections),
        Experiment("grids", "Grid Graphs", grids.jobs, grids.sections),
        Experiment("noise", "Missing and noisy information (Q2)", noise.jobs, noise.sections),
        Experiment("sensitivity", "Parameter Sensitivity of PK", sensitivity.jobs, sensitivity.sections),
        Experiment(
            "attribute_kernels", "Attribute Kernels", attribute_kernels.jobs, attribute_kernels.sections
        ),
        Experiment("filters", "Grid Graph", filters.jobs, filters.sections),
        Experiment(
            "worked_example", "Propagation Kernel Computation", worked_example.jobs, worked_example.sections
        ),
    ]
    return {one.name: one for one in found}
