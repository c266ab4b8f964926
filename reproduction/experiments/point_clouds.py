"""Point clouds: PK, WL, P2K, A and A LSH on the household objects of FIRSTMM_DB, by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable

from propkernels.kernels import P2K, AttributeKernel, PropagationKernel, WeisfeilerLehman
from propkernels.propagation import GaussianMixtures
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import accuracy_section, runtime_section, summaries
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import Recipe

NAME = "point_clouds"
DATASET = "FIRSTMM_DB"
REPEATS = 10
STEPS = tuple(range(16))
RECIPES: dict[str, Callable[[], Recipe]] = {
    "PK labels": lambda: Recipe({"": PropagationKernel(t_max=15)}, STEPS, is_random=True),
    "WL labels": lambda: Recipe({"": WeisfeilerLehman(t_max=15)}, STEPS),
    "PK labels+attr": lambda: Recipe(
        {"": PropagationKernel(t_max=15, attributes="sum")}, STEPS, is_random=True
    ),
    "P2K labels+attr": lambda: Recipe(
        {"": P2K(t_max=15, attributes=GaussianMixtures(scale=None, ridge=0))}, STEPS, is_random=True
    ),
    "A attr": lambda: Recipe({"": AttributeKernel()}),
    "A LSH attr": lambda: Recipe(
        {"": PropagationKernel(t_max=0, labels=None, attributes="sum")}, (0,), is_random=True
    ),
}


def tasks() -> list[Accuracy]:
    """All cells of the table."""
    return [
        Accuracy(NAME, row, DATASET, DATASET, recipe(), costs=(), variants=("normalized",))
        for row, recipe in RECIPES.items()
    ]


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many recomputations."""
    if not scope.wants(DATASET):
        return []
    return [task.job(scope.repeats_or(REPEATS, quick=3)) for task in tasks()]


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes beside the paper's."""
    found = summaries(state)
    return [
        accuracy_section("Point Cloud Graphs: accuracies", found),
        runtime_section("Point Cloud Graphs: runtimes", found),
    ]
