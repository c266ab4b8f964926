"""Point clouds: PK, WL, P2K, A and A LSH on the household objects of FIRSTMM_DB, by leave-one-out."""

from __future__ import annotations

from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import matrix_section, runtime_section, summaries
from reproduction.protocols.accuracy import REPEATS, Accuracy
from reproduction.protocols.recipes import Recipe, attribute_kernel, p2k, pk, wl

NAME = "point_clouds"
DATASET = "FIRSTMM_DB"
STEPS = tuple(range(16))
RECIPES = {
    "PK labels": Recipe(pk(), STEPS, is_random=True),
    "WL labels": Recipe(wl(), STEPS),
    "PK labels+attr": Recipe(pk(attributes="sum"), STEPS, is_random=True),
    "P2K labels+attr": Recipe(p2k(), STEPS, is_random=True),
    "A attr": Recipe(attribute_kernel(), ()),
    "A LSH attr": Recipe(pk(labels=None, attributes="sum"), (0,), is_random=True),
}


def task(row: str) -> Accuracy:
    """One cell of the table."""
    return Accuracy(NAME, row, DATASET, DATASET, RECIPES[row], ("normalized",), is_leave_one_out=True)


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many recomputations."""
    return [task(row).job(scope.repeats or REPEATS) for row in RECIPES]


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes vs. the paper's."""
    found = summaries(state)
    return [
        matrix_section("Point Cloud Graphs: accuracies", found),
        runtime_section("Point Cloud Graphs: runtimes", found),
    ]
