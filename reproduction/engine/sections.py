"""Experiments, and the sections of the report that follow from the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reproduction.engine.cells import Cell, Store, plain_name
from reproduction.engine.data import AbsentDataError, load_source
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.published import read_package_file
from reproduction.engine.runner import kernel_seconds

NOT_RUN = "not run yet"
Row = tuple[str, ...]


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
    is_stand_in : bool
        Whether accuracies come from other data than the paper's, and are counted apart.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: Sequence[Row] = ()
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    is_stand_in: bool = False

    @property
    def file_name(self) -> str:
        """Name of the CSV file of its table."""
        return f"{plain_name(self.title.replace(':', '')).lower()}.csv"

    @property
    def has_repeats(self) -> bool:
        """Whether it is a table of accuracies, whose rows say how many repeats they have."""
        return "repeats" in self.columns

    def repeats(self, row: Row) -> int:
        """Number of repeats behind a row; 0 where nothing was measured."""
        return int(row[self.columns.index("repeats")] or 0)


def _not_run(cell: Cell) -> str:
    seconds = kernel_seconds(*cell.place)
    return (
        f"not run yet: the kernels take about {seconds / 60:.0f} min on one core" if seconds > 60 else NOT_RUN
    )


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name : str
        What the command calls it.
    title : str
        What the paper calls it.
    jobs : callable
        What is to be computed in a scope.
    sections : callable
        Tables and figures, from what is known.
    """

    name: str
    title: str
    jobs: Callable[[Scope], Sequence[Job]]
    sections: Callable[[State], Sequence[Section]]

    @property
    def about(self) -> str:
        """How it is measured."""
        found = read_package_file("about.toml").get(self.name, {})
        return str(found.get("about", ""))


@dataclass(frozen=True)
class Chapter:
    """An experiment with its sections; ``is_empty`` where the store has nothing of what it computes."""

    experiment: Experiment
    sections: Sequence[Section]
    is_empty: bool = False

    @property
    def has_accuracies(self) -> bool:
        """Whether there is a table of accuracies among the sections."""
        return any(section.has_repeats for section in self.sections)


def chapter(experiment: Experiment, store: Store, scope: Scope, absent: dict[str, str]) -> Chapter:
    """Return what a run in a scope has found, or left out."""
    return Chapter(experiment, experiment.sections(State(store, experiment.jobs(scope), absent)))


def everything(experiment: Experiment, store: Store, absent: dict[str, str]) -> Chapter:
    """Return all that the store knows of an experiment, from full and from quick runs."""
    full = list(experiment.jobs(Scope()))
    known = {cell for job in full for cell in job.cells}
    only_quick = [job for job in experiment.jobs(Scope(quick=True)) if not known.intersection(job.cells)]
    jobs = full + only_quick
    is_empty = bool(jobs) and not any(cell in store for job in jobs for cell in job.cells)
    return Chapter(experiment, experiment.sections(State(store, jobs, absent)), is_empty)


def find_absent(jobs: Sequence[Job], store: Store) -> dict[str, str]:
    """Return the data sets that are not there, of those that cells without a value need."""
    needed = {job.dataset for job in jobs if job.dataset is not None and store.missing(job.cells)}
    absent = {}
    for name in sorted(needed):
        try:
            load_source(name)
        except AbsentDataError as error:
            absent[name] = str(error)
    return absent
