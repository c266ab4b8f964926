"""Runner: computes what is missing, and keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from reproduction.engine.cells import Cell, Store, Value
from reproduction.engine.data import AbsentDataError, load_source
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import read_package_file

MOST_SECONDS = 60.0  # kernels that take longer are left out of a quick run


def kernel_seconds(experiment: str, row: str, column: str) -> float:
    """How long the kernels of a cell take, all candidates together, where that is long."""
    table = read_package_file("costs.toml")["kernels"].get(experiment, {})
    return float(table.get(column, {}).get(row, 0.0))


def slow_in_quick_mode(task: Any, scope: Scope) -> str:
    """Return why a cell is left out of a quick run; nothing where it is not."""
    seconds = kernel_seconds(task.experiment, task.row, task.column)
    if not scope.quick or seconds <= MOST_SECONDS:
        return ""
    return f"not run with --quick: the kernels alone take about {seconds / 60:.0f} min on one core"


@dataclass(frozen=True)
class News:
    """What the runner tells after each cell: how many of this run are computed, and had to be."""

    cell: Cell
    value: Value
    done: int
    total: int


@dataclass
class Outcome:
    """How a run went: cells computed, cells that were there before, and absent data sets with a sentence."""

    computed: int = 0
    kept: int = 0
    absent: dict[str, str] = field(default_factory=dict)


def run(
    jobs: Sequence[Job],
    store: Store,
    *,
    n_jobs: int | None = None,
    tell: Callable[[News], None] = lambda news: None,
) -> Outcome:
    """Compute the cells that the store does not have; one that is there is never computed again.

    Parameters
    ----------
    jobs : sequence of Job
        Those that are skipped say so themselves, and are left alone.
    store : Store
        Gets every value as soon as it is known, with the processor seconds that it took.
    n_jobs : int or None
        Threads.
    tell : callable, optional
        Called with :class:`News` after each cell.

    Returns
    -------
    Outcome
    """
    wanted = [job for job in jobs if not job.skipped]
    todo = [(job, cells) for job in wanted if (cells := store.missing(job.cells))]
    total = sum(len(cells) for _, cells in todo)
    outcome = Outcome(kept=sum(len(job.cells) for job in wanted) - total)
    name, data = None, None  # the data set that was used last: jobs come ordered by data set
    for job, cells in todo:
        try:
            if job.dataset != name:
                name, data = None, None
                data = None if job.dataset is None else load_source(job.dataset)
                name = job.dataset
        except AbsentDataError as error:
            outcome.absent[str(job.dataset)] = str(error)
            total -= len(cells)
            continue
        start = process_time()
        for cell, value in job.work(data, cells, Context(store, n_jobs)):
            store.keep(cell, {**value, "seconds": round(process_time() - start, 3)})
            start = process_time()
            outcome.computed += 1
            tell(News(cell, value, outcome.computed, total))
    return outcome
