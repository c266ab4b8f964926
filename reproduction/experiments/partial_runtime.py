"""Runtime on partially labeled graphs: seconds against iterations, of PK, WL and LP+WL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

import numpy as np

from propkernels.kernels import PropagationKernel, WeisfeilerLehman
from propkernels.propagation import LabelImputer
from reproduction.data.corrupt import hide_labels
from reproduction.drawings import draw_runtime
from reproduction.engine.cells import Cell, Value
from reproduction.engine.data import machine_of
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.sections import Section, State

NAME = "partial_runtime"
DATASET = "MSRC_21"
REPEATS = 10
METHODS = ("PK", "WL", "LP+WL")
STEPS = tuple(range(11))
BEST_OF = 3


def jobs(scope: Scope) -> list[Job]:
    """One cell per method and removal of labels: times for all numbers of iterations."""
    if not scope.wants(DATASET):
        return []
    repeats = scope.repeats_or(REPEATS, quick=3)
    return [
        Job(tuple(cell(method, repeat) for repeat in range(repeats)), DATASET, work) for method in METHODS
    ]


def cell(method: str, repeat: int) -> Cell:
    """Return the cell of one removal of labels."""
    return Cell.of(NAME, method, DATASET, repeat, steps=list(STEPS), hidden=0.5, best_of=BEST_OF)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Time the kernel for every number of iterations, on one thread; labels are filled in once."""
    for one in cells:
        hidden = hide_labels(data.graphs, 0.5, random_state=one.repeat)
        start = process_time()
        graphs = LabelImputer().fit_transform(hidden) if one.row == "LP+WL" else hidden
        filling = process_time() - start if one.row == "LP+WL" else 0.0
        compute(one.row, graphs, 1)
        times = [filling + min(seconds(one.row, graphs, t) for _ in range(BEST_OF)) for t in STEPS]
        yield one, {"times": [round(value, 5) for value in times], "machine": machine_of(1)}


def seconds(method: str, graphs: Any, iterations: int) -> float:
    """Processor seconds of one kernel matrix."""
    start = process_time()
    compute(method, graphs, iterations)
    return process_time() - start


def compute(method: str, graphs: Any, iterations: int) -> Any:
    """Return the kernel matrix of a method."""
    if method == "PK":
        kernel = PropagationKernel(propagation="label_propagation", t_max=iterations, random_state=0)
        return kernel.fit_transform(graphs)
    return WeisfeilerLehman(t_max=iterations).fit_transform(graphs)


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
        "The paper reports over 36 for a string-based WL, which is not measured here."
    )
