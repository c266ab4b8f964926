"""Sections of the report, and the state that they are made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from propkernels.paper.cell import Cell
from propkernels.paper.job import Job
from propkernels.paper.quick import kernel_seconds
from propkernels.paper.store import Store

NOT_RUN = "not run yet"


@dataclass(frozen=True)
class State:
    """What there is: the jobs of an experiment, and what the store knows of them.

    Attributes
    ----------
    store : Store
    jobs : sequence of Job
    absent : dict
        Data sets that are not there, with one sentence each.
    """

    store: Store
    jobs: Sequence[Job]
    absent: dict[str, str] = field(default_factory=dict)

    def reason(self, cell: Cell) -> str:
        """Return why a cell has no value."""
        for job in self.jobs:
            if cell in job.cells:
                if job.dataset in self.absent:
                    return f"absent: {self.absent[str(job.dataset)]}"
                return job.skipped or _not_run(cell)
        return _not_run(cell)


@dataclass(frozen=True)
class Section:
    """A table, with notes and perhaps pictures.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Names of the columns; none: no table.
    rows : sequence of tuple of str
        Cells as they are shown.
    notes : list of str
        Sentences below the table.
    figures : dict
        Name of a file, without suffix, to a function that returns a matplotlib figure.
    verdicts : list of str
        Verdicts on accuracies, to be counted.
    n_repeated : int
        How many of them come from three repeats or more.
    gaps : list of str
        Why accuracies that the paper has are not there, one each.
    is_stand_in : bool
        Whether they come from other data than the paper's, and are counted apart.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    verdicts: list[str] = field(default_factory=list)
    n_repeated: int = 0
    gaps: list[str] = field(default_factory=list)
    is_stand_in: bool = False


def _not_run(cell: Cell) -> str:
    seconds = kernel_seconds(*cell.place)
    return (
        f"not run yet: the kernels take about {seconds / 60:.0f} min on one core" if seconds > 60 else NOT_RUN
    )
