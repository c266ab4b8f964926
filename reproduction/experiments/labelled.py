"""Labeled graphs: PK, WL, SP, GH and LABELS on MUTAG, NCI1, NCI109 and DD."""

from __future__ import annotations

from collections.abc import Callable

from propkernels.kernels import GraphHopper, LabelHistogram, PropagationKernel, ShortestPath, WeisfeilerLehman
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.runner import slow_in_quick_mode
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import accuracy_section, runtime_section, summaries
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import Recipe

NAME = "labelled"
REPEATS = 10
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
LARGE = ("NCI1", "NCI109")
COSTS_OF_LARGE = {"SP": (10.0, 100.0, 1000.0), "GH": (100.0, 1e3, 1e4), "LABELS": (1.0, 10.0, 100.0)}
DATASETS = ("MUTAG", "DD", *LARGE)
RECIPES: dict[str, Callable[[], Recipe]] = {
    "PK": lambda: Recipe({"": PropagationKernel(t_max=10)}, is_random=True),
    "WL": lambda: Recipe({"": WeisfeilerLehman(t_max=10)}),
    "SP": lambda: Recipe({"": ShortestPath()}),
    "GH": lambda: Recipe({"": GraphHopper()}, is_slow=True),
    "LABELS": lambda: Recipe({"": LabelHistogram()}),
}


def tasks() -> list[Accuracy]:
    """All cells of the table."""
    return [task(row, dataset) for dataset in DATASETS for row in RECIPES]


def task(row: str, dataset: str) -> Accuracy:
    """One cell of the table."""
    recipe = RECIPES[row]()
    if dataset not in LARGE:
        return Accuracy(NAME, row, dataset, dataset, recipe, COSTS)
    costs = COSTS_OF_LARGE.get(row, (10.0, 100.0))
    return Accuracy(NAME, row, dataset, dataset, recipe, costs, variants=("plain",))


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats."""
    repeats = scope.repeats_or(REPEATS)
    return [one.job(repeats, slow_in_quick_mode(one, scope)) for one in tasks() if scope.wants(one.dataset)]


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes beside the paper's."""
    found = summaries(state)
    return [
        accuracy_section("Labeled Graphs: accuracies", found),
        runtime_section("Labeled Graphs: runtimes", found),
    ]
