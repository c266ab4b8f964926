"""Labeled graphs: PK, WL, SP, GH and LABELS on MUTAG, NCI1, NCI109 and DD."""

from __future__ import annotations

from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import matrix_section, runtime_section, summaries
from reproduction.protocols.accuracy import REPEATS, Accuracy
from reproduction.protocols.recipes import Recipe, gh, histogram, pk, sp, wl

NAME = "labelled"
DATASETS = ("MUTAG", "DD", "NCI1", "NCI109")
RECIPES = {
    "PK": Recipe(pk(), is_random=True),
    "WL": Recipe(wl()),
    "SP": Recipe(sp(), ()),
    "GH": Recipe(gh(), (), is_slow=True),
    "LABELS": Recipe(histogram(), ()),
}


def task(row: str, dataset: str) -> Accuracy:
    """One cell of the table; kernels are not normalized, as the paper says of chemical compounds."""
    return Accuracy(NAME, row, dataset, dataset, RECIPES[row], variants=("plain",))


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats."""
    return [task(row, dataset).job(scope.repeats or REPEATS) for dataset in DATASETS for row in RECIPES]


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes vs. the paper's."""
    found = summaries(state)
    return [
        matrix_section("Labeled Graphs: accuracies", found),
        runtime_section("Labeled Graphs: runtimes", found),
    ]
