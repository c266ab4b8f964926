"""Job: cells that are computed together, because they share a kernel; and the runner of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any, Protocol

from reproduction.engine.cells import Cell, Store, Value
from reproduction.engine.data import AbsentDataError, load_source


class Work(Protocol):
    """How the cells of a job are computed."""

    def __call__(self, data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
        """Yield each cell with its value, as soon as it is known."""


@dataclass(frozen=True)
class Context:
    """What a computation may use: threads, and the store for what is too slow to compute twice."""

    store: Store
    n_jobs: int | None = None


@dataclass(frozen=True)
class Job:
    """Cells with one data set and one way to compute them.

    Attributes
    ----------
    cells : tuple of Cell
        What comes out.
    dataset : str or None
        Name for ``data.load_source``; None: no data needed.
    work : callable
        See :class:`Work`.
    skipped : str
        Why it is not run now; empty where it is.
    """

    cells: tuple[Cell, ...]
    dataset: str | None
    work: Work
    skipped: str = ""


@dataclass(frozen=True)
class Scope:
    """What is to be computed.

    Attributes
    ----------
    repeats : int or None
        Repeats of everything that is repeated; None: as in the paper.
    datasets, methods : tuple of str
        Only these data sets, and only rows of these names or whose first word they are; empty: all.
    """

    repeats: int | None = None
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def wants(self, job: Job) -> bool:
        """Whether a job is to be run."""
        names = {name for cell in job.cells for name in (cell.row, cell.row.split()[0])}
        columns = {job.dataset, *(cell.column for cell in job.cells)}
        return not (self.datasets and columns.isdisjoint(self.datasets)) and not (
            self.methods and names.isdisjoint(self.methods)
        )


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
            store.keep(cell, {**value, "seconds": float(f"{process_time() - start:.3g}")})
            start = process_time()
            outcome.computed += 1
            tell(News(cell, value, outcome.computed, total))
    return outcome
