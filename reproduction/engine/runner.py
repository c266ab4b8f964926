"""Runner: computes what is missing, keeps it, and estimates how long it will take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

from reproduction.engine.cells import Cell, Store, Value
from reproduction.engine.data import AbsentDataError, load_source
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import read_package_file

MOST_SECONDS = 60.0  # kernels that take longer are left out of a quick run
UNKNOWN = 5.0  # seconds of a repeat that nobody has measured
PRIOR_SECONDS = 20.0  # weight of the expected pace beside the measured one


def kernel_seconds(experiment: str, row: str, column: str) -> float:
    """How long the kernels of a cell take, all candidates together, where that is long."""
    table = read_package_file("costs.toml")["kernels"].get(experiment, {})
    return float(table.get(column, {}).get(row, 0.0))


def repeat_seconds(experiment: str, row: str, column: str) -> float:
    """How long a repeat takes once there are kernels; a guess where it was not measured."""
    table = read_package_file("costs.toml")["repeats"].get(experiment, {})
    return float(table.get(column, {}).get(row, UNKNOWN))


def slow_in_quick_mode(task: Any, scope: Scope) -> str:
    """Return why a cell is left out of a quick run; nothing where it is not."""
    seconds = kernel_seconds(task.experiment, task.row, task.column)
    if not scope.quick or seconds <= MOST_SECONDS:
        return ""
    return f"not run with --quick: the kernels alone take about {seconds / 60:.0f} min on one core"


@dataclass(frozen=True)
class News:
    """What the runner tells after each cell.

    Attributes
    ----------
    cell : Cell
    value : dict
    done, total : int
        Cells of this run that are computed, and all that had to be.
    seconds_left : float
        Estimate.
    """

    cell: Cell
    value: Value
    done: int
    total: int
    seconds_left: float


@dataclass
class Outcome:
    """How a run went.

    Attributes
    ----------
    computed : int
        Number of cells that were computed.
    kept : int
        Number of cells that were there before.
    absent : dict
        Data sets that are not there, with one sentence each.
    """

    computed: int = 0
    kept: int = 0
    absent: dict[str, str] = field(default_factory=dict)


def run(
    jobs: Sequence[Job],
    store: Store,
    *,
    n_jobs: int | None = None,
    tell: Callable[[News], None] | None = None,
    title: Callable[[str], None] | None = None,
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
    title : callable, optional
        Called with what is computed next.

    Returns
    -------
    Outcome
    """
    wanted = [job for job in jobs if not job.skipped]
    todo = [(job, store.missing(job.cells)) for job in wanted]
    outcome = Outcome(kept=sum(len(job.cells) - len(cells) for job, cells in todo))
    todo = [(job, cells) for job, cells in todo if cells]
    clock = _Clock(todo)
    shelf = _Shelf()
    for number, (job, cells) in enumerate(todo):
        try:
            data = shelf.get(job.dataset)
        except AbsentDataError as error:
            outcome.absent[str(job.dataset)] = str(error)
            clock.skip(number)
            continue
        if title is not None:
            title(job.title)
        start = process_time()
        for cell, value in job.work(data, cells, Context(store, n_jobs)):
            store.keep(cell, {**value, "seconds": round(process_time() - start, 3)})
            start = process_time()
            outcome.computed += 1
            clock.one_more(number)
            if tell is not None:
                tell(News(cell, value, clock.done, clock.total, clock.seconds_left))
    return outcome


def _expected(job: Job, cells: Sequence[Cell]) -> float:
    """Seconds that a job will take, as far as is known."""
    place = cells[0].place
    return kernel_seconds(*place) + sum(repeat_seconds(*cell.place) for cell in cells)


class _Shelf:
    """The data set that was used last: jobs come ordered by data set."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.data: Any = None

    def get(self, name: str | None) -> Any:
        if name != self.name:
            self.data = None
            self.data = None if name is None else load_source(name)
            self.name = name
        return self.data


class _Clock:
    """How long the rest will take: the expected seconds of what is left, at the pace so far."""

    def __init__(self, todo: Sequence[tuple[Job, Sequence[Cell]]]) -> None:
        self.share = [_expected(job, cells) / len(cells) for job, cells in todo]
        self.open = [len(cells) for _, cells in todo]
        self.total, self.done, self.passed = sum(self.open), 0, 0.0
        self.start = perf_counter()

    def one_more(self, job: int) -> None:
        self.done += 1
        self.open[job] -= 1
        self.passed += self.share[job]

    def skip(self, job: int) -> None:
        self.total -= self.open[job]
        self.open[job] = 0

    @property
    def seconds_left(self) -> float:
        """The first seconds say little about the pace, so the expected one counts as well at first."""
        left = sum(share * cells for share, cells in zip(self.share, self.open, strict=True))
        pace = (perf_counter() - self.start + PRIOR_SECONDS) / (self.passed + PRIOR_SECONDS)
        return left * pace
