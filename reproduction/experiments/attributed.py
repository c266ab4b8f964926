"""Attributed graphs: PK, P2K, WL, SP, GH, CSM and A with labels, attributes and both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from propkernels.kernels import (
    P2K,
    AttributeKernel,
    GraphHopper,
    PropagationKernel,
    ShortestPath,
    SubgraphMatching,
    WeisfeilerLehman,
)
from propkernels.propagation import GaussianMixtures
from reproduction.drawings import draw_runtime_and_accuracy
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.published import published
from reproduction.engine.runner import slow_in_quick_mode
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import Summary, accuracy_section, runtime_section, summaries
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import Recipe

NAME = "attributed"
REPEATS = 10
DATASETS = ("SYNTHETIC", "BZR", "COX2", "ENZYMES", "DHFR", "PROTEINS", "PROTEINS_full")
COSTS: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)
LARGER_COSTS = {("SP labels", "DHFR"): (1e4, 1e5)}
COSTS_OF_PROTEINS: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)
TRUNCATED = ("ENZYMES", "SYNTHETIC")
DRAWN = ("SYNTHETIC", "ENZYMES", "BZR", "PROTEINS_full")
NOTE = "Bars are standard deviations over folds, as in the paper."
PROPAGATION: dict[str, Callable[[], Any]] = {
    "PK labels": lambda: PropagationKernel(t_max=10),
    "PK attr": lambda: PropagationKernel(t_max=10, attributes="sum", labels="degree"),
    "PK labels+attr": lambda: PropagationKernel(t_max=10, attributes="sum"),
    "P2K labels+attr": lambda: P2K(t_max=10, attributes=GaussianMixtures(scale=None, ridge=0)),
}
PAIRWISE: dict[str, Any] = {"SP": ShortestPath, "GH": GraphHopper}
ROWS = (
    "PK labels",
    "WL labels",
    "SP labels",
    "GH labels",
    "CSM labels",
    "PK attr",
    "SP attr",
    "GH attr",
    "CSM attr",
    "PK labels+attr",
    "P2K labels+attr",
    "SP labels+attr",
    "GH labels+attr",
    "CSM labels+attr",
    "A attr",
)


def recipe_of(row: str, dataset: str) -> Recipe:
    """Kernels of a row on a data set."""
    if row in PROPAGATION:
        return Recipe({"": PROPAGATION[row]()}, is_random=True)
    if row == "WL labels":
        return Recipe({"": WeisfeilerLehman(t_max=10)})
    if row == "A attr":
        return Recipe(_scaled_and_raw(AttributeKernel), is_slow=True)
    method, information = row.split()
    labels = None if information == "attr" else "degree" if dataset == "SYNTHETIC" else "node"
    if method == "CSM":
        return _subgraph_matching(labels, information, is_truncated=dataset in TRUNCATED)
    if information == "labels":
        return Recipe({"": PAIRWISE[method](labels=labels)})
    kernels = _scaled_and_raw(PAIRWISE[method], labels=labels, attributes="gaussian")
    if method == "SP" and dataset.startswith("PROTEINS"):
        del kernels["raw"]
    return Recipe(kernels, is_slow=True)


def _scaled_and_raw(kind: Any, **parameters: Any) -> dict[str, Any]:
    return {"standardized": kind(**parameters), "raw": kind(standardize=False, **parameters)}


def _subgraph_matching(labels: str | None, information: str, is_truncated: bool) -> Recipe:
    if information == "labels":
        return Recipe({"": SubgraphMatching(k=7, labels=labels)})
    kernels: dict[str, Any] = {"Gaussian": SubgraphMatching(k=3, labels=labels, attributes="gaussian")}
    if is_truncated:
        truncated: dict[str, Any] = {"k": 5, "labels": labels, "attributes": "truncated"}
        kernels["truncated"] = SubgraphMatching(**truncated)
        kernels["truncated, raw"] = SubgraphMatching(standardize=False, **truncated)
    return Recipe(kernels, is_slow=True)


def tasks() -> list[Accuracy]:
    """All cells of the table for which the paper has a number."""
    places = [(row, dataset) for dataset in DATASETS for row in ROWS]
    return [task(*place) for place in places if published(NAME, *place).accuracy is not None]


def task(row: str, dataset: str) -> Accuracy:
    """One cell of the table."""
    costs = COSTS_OF_PROTEINS if dataset.startswith("PROTEINS") else COSTS
    costs += LARGER_COSTS.get((row, dataset), ())
    return Accuracy(NAME, row, dataset, dataset, recipe_of(row, dataset), costs)


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats."""
    repeats = scope.repeats_or(REPEATS)
    return [one.job(repeats, _skipped(one, scope)) for one in tasks() if scope.wants(one.dataset)]


def _skipped(one: Accuracy, scope: Scope) -> str:
    if scope.quick and one.dataset == "PROTEINS_full" and one.row.endswith(" labels"):
        return "not run with --quick: graphs and labels are those of PROTEINS"
    return slow_in_quick_mode(one, scope)


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes beside the paper's, and the figure of one against the other."""
    found = summaries(state)
    panels = {name: points for name in DRAWN if (points := _points(found, name))}
    figures = {"runtime_accuracy": lambda: draw_runtime_and_accuracy(panels)} if panels else {}
    return [
        accuracy_section("Attributed Graphs: accuracies", found),
        runtime_section("Attributed Graphs: runtimes", found),
        Section("Attributed Graphs: log runtime against accuracy", notes=[NOTE], figures=figures),
    ]


def _points(found: list[Summary], dataset: str) -> list[tuple[str, str, float, float, float]]:
    """Method, information, seconds, accuracy and standard deviation of what is known of a data set."""
    return [
        (one.row.split()[0], one.row.split()[1], one.kernel_seconds, one.measured.mean, one.deviation)
        for one in found
        if one.column == dataset and one.measured is not None and one.kernel_seconds
    ]
