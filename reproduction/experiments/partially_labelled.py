"""Partially labeled graphs: PK, LP+WL and WL on MSRC_9 and MSRC_21 with 20 to 80 % of the labels missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from propkernels.kernels import PropagationKernel, WeisfeilerLehman
from propkernels.propagation import LabelImputer
from reproduction.data.corrupt import hide_labels
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.runner import slow_in_quick_mode
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import accuracy_section, summaries
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import Recipe

NAME = "partially_labelled"
REPEATS = 10
SHARES = (20, 40, 60, 80)
DATASETS = ("MSRC_9", "MSRC_21")
RECIPES: dict[str, Callable[[], Recipe]] = {
    # Eq. 3, as in the authors' program, which pushes labels back after the step
    "PK": lambda: Recipe({"": PropagationKernel(propagation="label_propagation", t_max=10)}, is_random=True),
    "LP+WL": lambda: Recipe({"": WeisfeilerLehman(t_max=10)}),
    "WL": lambda: Recipe({"": WeisfeilerLehman(t_max=10)}),
}


@dataclass(frozen=True)
class Hide:
    """Hides a share of the labels, and fills them in again if asked."""

    percent: int
    impute: bool = False

    def __call__(self, graphs: Any, repeat: int) -> Any:
        """Return the graphs of a repeat."""
        hidden = hide_labels(graphs, self.percent / 100, random_state=repeat)
        return LabelImputer().fit_transform(hidden) if self.impute else hidden

    @property
    def name(self) -> str:
        """What is done, in words."""
        return f"hide {self.percent} %" + (", impute" if self.impute else "")


def tasks() -> list[Accuracy]:
    """All cells of the table."""
    return [task(row, data, share) for data in DATASETS for share in SHARES for row in RECIPES]


def task(row: str, dataset: str, percent: int) -> Accuracy:
    """One cell of the table."""
    change = Hide(percent, impute=row == "LP+WL")
    column = f"{dataset} {percent} %"
    return Accuracy(
        NAME,
        row,
        column,
        dataset,
        RECIPES[row](),
        variants=("plain",),
        change=change,
        change_name=change.name,
    )


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats."""
    repeats = scope.repeats_or(REPEATS)
    return [one.job(repeats, slow_in_quick_mode(one, scope)) for one in tasks() if scope.wants(one.dataset)]


def sections(state: State) -> list[Section]:
    """Accuracies beside the paper's."""
    return [accuracy_section("Partially Labeled Graphs: accuracies", summaries(state))]
