"""Runtime on partially labeled graphs: seconds against iterations, of PK, WL and LP+WL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

import numpy as np

from reproduction.drawings import draw_runtime
from reproduction.engine.cells import Cell, Value
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import numbers_in_text
from reproduction.engine.sections import Section, State
from reproduction.experiments.partially_labelled import Hide
from reproduction.protocols.accuracy import REPEATS
from reproduction.protocols.recipes import EQUATION_3, build, pk, wl

NAME = "partial_runtime"
DATASET = "MSRC_21"
METHODS = ("PK", "WL", "LP+WL")
STEPS = tuple(range(11))
BEST_OF = 3


def jobs(scope: Scope) -> list[Job]:
    """One cell per method and removal of labels: times for all numbers of iterations."""
    repeats = range(scope.repeats or REPEATS)
    return [Job(tuple(cell(method, repeat) for repeat in repeats), DATASET, work) for method in METHODS]


def cell(method: str, repeat: int) -> Cell:
    """Return the cell of one removal of labels."""
    return Cell.of(NAME, method, DATASET, repeat, steps=list(STEPS), hidden=0.5, best_of=BEST_OF)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Time the kernel for every number of iterations, on one thread; labels are filled in once."""
    for one in cells:
        start = process_time()
        graphs = Hide(50, impute=one.row == "LP+WL")(data.graphs, one.repeat)
        filling = process_time() - start if one.row == "LP+WL" else 0.0
        compute(one.row, graphs, 1)
        times = [filling + min(seconds(one.row, graphs, t) for _ in range(BEST_OF)) for t in STEPS]
        yield one, {"times": [float(f"{value:.3g}") for value in times]}


def seconds(method: str, graphs: Any, iterations: int) -> float:
    """Processor seconds of one kernel matrix."""
    start = process_time()
    compute(method, graphs, iterations)
    return process_time() - start


def compute(method: str, graphs: Any, iterations: int) -> Any:
    """Return the kernel matrix of a method."""
    if method == "PK":
        return build(pk(propagation=EQUATION_3), t_max=iterations, random_state=0, n_jobs=1).fit_transform(
            graphs
        )
    return build(wl(), t_max=iterations, n_jobs=1).fit_transform(graphs)


def sections(state: State) -> list[Section]:
    """Return the times, and the figure."""
    curves = {job.cells[0].row: _curve(job, state) for job in state.jobs}
    curves = {method: curve for method, curve in curves.items() if curve}
    if not curves:
        reasons = [state.reason(job.cells[0]) for job in state.jobs[:1]]
        return [Section("Runtime for Partially Labeled MSRC21", notes=reasons)]
    rows = [(method, *(f"{y:.3g}" for _, y, _ in curve)) for method, curve in curves.items()]
    return [
        Section(
            "Runtime for Partially Labeled MSRC21",
            ("method, seconds at t =", *map(str, STEPS)),
            rows,
            [_ratios(curves)],
            {"partial_runtime": lambda: draw_runtime(curves, DATASET)},
            only_file=True,
        )
    ]


def _curve(job: Job, state: State) -> list[tuple[float, float, float]]:
    """Mean and standard error over the removals, for each number of iterations."""
    table = np.array([state.store[one]["times"] for one in job.cells if one in state.store])
    if not len(table):
        return []
    error = table.std(axis=0, ddof=1) / np.sqrt(len(table)) if len(table) > 1 else np.zeros(len(STEPS))
    return list(zip(map(float, STEPS), table.mean(axis=0).tolist(), error.tolist(), strict=True))


def _ratios(curves: dict[str, list[tuple[float, float, float]]]) -> str:
    """Say how the methods compare at the last iteration."""
    last = {method: curve[-1][1] for method, curve in curves.items()}
    others = [f"{method} / PK = {value / last['PK']:.2g}" for method, value in last.items() if method != "PK"]
    return (
        f"Processor seconds on one thread, best of {BEST_OF}, half of the labels missing. "
        f"At t = {STEPS[-1]}: {', '.join(others)}. "
        f"The paper reports over {numbers_in_text(NAME)['string-based WL / PK']:g} for a string-based WL, "
        "which is not measured here."
    )
