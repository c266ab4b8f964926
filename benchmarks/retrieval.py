"""The index of graphs, after loading: seconds to build it, to query, to add a graph, to save and load."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.case import Call, Case, Result, Settings
from benchmarks.timing import best_of

EVERY = 401  # one in so many graphs is a query


def build(data: Any, threads: int) -> Call:
    """Prepare ``GraphIndex().fit``."""
    return lambda: make(threads).fit(data.graphs)


def query(data: Any, threads: int) -> Call:
    """Prepare the ten most similar graphs of one, each time of another."""
    index = make(threads).fit(data.graphs)
    graphs = cycle([data.graphs[i] for i in range(0, len(data.graphs), EVERY)])
    return lambda: index.query(next(graphs), k=10)


def add(data: Any, threads: int) -> Call:
    """Prepare the addition of one graph."""
    index = make(threads).fit(data.graphs)
    return lambda: index.add(data.graphs[[7]])


def save_and_load(data: Any, threads: int) -> Call:
    """Prepare writing the index to a file and reading it again."""
    import propkernels as pk

    index = make(threads).fit(data.graphs)

    def both() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            pk.save_model(index, Path(folder) / "index.pk")
            return pk.load_model(Path(folder) / "index.pk")

    return both


def make(threads: int) -> Any:
    import propkernels as pk

    return pk.GraphIndex(random_state=0, n_jobs=threads)


CASES = (
    Case("index-hiv", "HIV", build, seconds=5.0),
    Case("index-query-hiv", "HIV", query, seconds=0.020),
    Case("index-add-hiv", "HIV", add),
    Case("index-save-load-hiv", "HIV", save_and_load),
)


def measure(case: Case, settings: Settings) -> Iterator[Result]:
    """Time a case on one thread; calls differ from each other, so the median counts."""
    from benchmarks.data import load

    times = best_of(case.prepare(load(case.dataset), 1), settings)
    note = f"median of {times['rounds']}, longest {times['max']:.3g} s"
    yield Result(
        case.name,
        "retrieval",
        case.dataset,
        1,
        "s",
        times["median"],
        case.seconds,
        note=note,
        processor=times["processor"],
        details=times,
    )
