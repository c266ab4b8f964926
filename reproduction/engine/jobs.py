"""Job: cells that are computed together, because they share a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from reproduction.engine.cells import Cell, Store, Value


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
    """How much is to be computed.

    Attributes
    ----------
    quick : bool
        Few repeats; slow cells are left out, and say so.
    repeats : int or None
        Repeats of everything that is repeated; None: as in the paper, or few with ``quick``.
    datasets : tuple of str
        Only these data sets; empty: all.
    """

    quick: bool = False
    repeats: int | None = None
    datasets: tuple[str, ...] = ()

    def repeats_or(self, paper: int, quick: int = 1) -> int:
        """Number of repeats, given the paper's and that of a quick run."""
        return self.repeats or (quick if self.quick else paper)

    def wants(self, dataset: str | None) -> bool:
        """Whether cells of a data set are to be computed."""
        return not self.datasets or dataset in self.datasets
