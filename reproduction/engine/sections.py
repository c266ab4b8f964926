"""Experiments, and the sections of the report that follow from the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reproduction.engine.cells import Cell, Store, plain_name
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.published import read_package_file

NOT_RUN = "not run yet"
Row = tuple[str, ...]


@dataclass(frozen=True)
class State:
    """Jobs of an experiment, the store, and a sentence for each data set that is not there."""

    store: Store
    jobs: Sequence[Job]
    absent: dict[str, str] = field(default_factory=dict)

    def reason(self, cell: Cell) -> str:
        """Return why a cell has no value."""
        for job in self.jobs:
            if cell in job.cells:
                found = self.absent.get(str(job.dataset))
                return f"absent: {found}" if found else job.skipped or NOT_RUN
        return NOT_RUN


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
    only_file : bool
        Whether the table is left to its CSV file, and the page shows the rest.
    about : str
        What is said above the table.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: Sequence[Row] = ()
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    only_file: bool = False
    about: str = ""

    @property
    def file_name(self) -> str:
        """Name of the CSV file of its table."""
        return f"{plain_name(self.title.replace(':', '')).lower()}.csv"

    def markdown(self) -> str:
        """Return the table, without columns that are empty throughout."""
        if not self.rows:
            return ""
        kept = [i for i in range(len(self.columns)) if any(row[i] for row in self.rows)]
        lines = [[self.columns[i] for i in kept], ["---"] * len(kept)]
        lines += [[row[i].replace("|", "\\|") for i in kept] for row in self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True)
class Experiment:
    """One table or figure: name for the command, title in the paper, what to compute, and what to show."""

    name: str
    title: str
    jobs: Callable[[Scope], Sequence[Job]]
    sections: Callable[[State], Sequence[Section]]

    @property
    def about(self) -> str:
        """How it is measured."""
        return str(read_package_file("about.toml").get(self.name, {}).get("about", ""))

    def state(self, store: Store, scope: Scope | None = None, absent: dict[str, str] | None = None) -> State:
        """What the store knows of the cells in a scope."""
        scope = scope or Scope()
        return State(store, [job for job in self.jobs(scope) if scope.wants(job)], absent or {})
