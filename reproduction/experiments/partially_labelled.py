"""Partially labeled graphs: PK, LP+WL and WL on MSRC_9 and MSRC_21 with 20 to 80 % of the labels missing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from propkernels.propagation import LabelImputer
from reproduction.data.corrupt import hide_labels
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.published import FEW_REPEATS
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import matrix_section, summaries
from reproduction.protocols.accuracy import REPEATS, Accuracy
from reproduction.protocols.recipes import EQUATION_3, EQUATION_14, Recipe, build, histogram, pk, wl

NAME = "partially_labelled"
SHARES, BEYOND = (20, 40, 60, 80), (85, 90, 95)  # the paper's, and more on MSRC_21
DATASETS = ("MSRC_9", "MSRC_21")
RECIPES = {
    "PK": Recipe(pk(propagation=EQUATION_3), is_random=True),
    "LP+WL": Recipe(wl()),
    "WL": Recipe(wl()),
    "PK Eq. 14": Recipe(pk(propagation=EQUATION_14), is_random=True),
    "PK diffusion": Recipe(pk(), is_random=True),
    "LABELS": Recipe(histogram(), ()),
}


@dataclass(frozen=True)
class Hide:
    """Hides a share of the labels, and fills them in again, by converged label propagation, if asked."""

    percent: int
    impute: bool = False

    def __call__(self, graphs: Any, repeat: int) -> Any:
        """Return the graphs of a repeat."""
        hidden = hide_labels(graphs, self.percent / 100, random_state=repeat)
        if not self.impute:
            return hidden
        imputer = LabelImputer(propagation=build(EQUATION_3), prior="uniform", tolerance=1e-6, max_steps=1000)
        return imputer.fit_transform(hidden)

    @property
    def name(self) -> str:
        """What is done, in words."""
        return f"hide {self.percent} %" + (", impute" if self.impute else "")


def task(row: str, dataset: str, percent: int) -> Accuracy:
    """One cell of the table."""
    change = Hide(percent, impute=row == "LP+WL")
    column = f"{dataset} {percent} %"
    return Accuracy(NAME, row, column, dataset, RECIPES[row], ("plain",), change, change.name)


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats."""
    repeats = scope.repeats or REPEATS
    table = product(DATASETS, SHARES, RECIPES)
    beyond = product(DATASETS[1:], BEYOND, ("PK", "WL", "LABELS"))
    return [
        *(task(row, dataset, share).job(repeats) for dataset, share, row in table),
        *(task(row, dataset, share).job(min(repeats, FEW_REPEATS)) for dataset, share, row in beyond),
    ]


def sections(state: State) -> list[Section]:
    """Accuracies vs. the paper's."""
    return [matrix_section("Partially Labeled Graphs: accuracies", summaries(state))]
