"""Runtimes of PK and WL on labels, side by side: best of several runs in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

from reproduction.engine.cells import Cell, Value
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import Published, published
from reproduction.engine.sections import Section, State
from reproduction.protocols.recipes import build, pk, wl

NAME = "runtimes"
BEST_OF = 5
TABLES = {
    "labelled": ("MUTAG", "DD", "NCI1", "NCI109"),
    "attributed": ("SYNTHETIC", "BZR", "COX2", "ENZYMES", "DHFR", "PROTEINS", "PROTEINS_full"),
    "point_clouds": ("FIRSTMM_DB",),
}


def jobs(scope: Scope) -> list[Job]:
    """One cell per data set: both methods, in turn."""
    return [Job((cell(table, name),), name, work) for table, names in TABLES.items() for name in names]


def cell(table: str, dataset: str) -> Cell:
    """Return the cell of a data set."""
    labels, t_max = "degree" if dataset == "SYNTHETIC" else "node", 15 if table == "point_clouds" else 10
    return Cell.of(NAME, "PK and WL", dataset, best_of=BEST_OF, PK=pk(labels), WL=wl(labels), t_max=t_max)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Time one kernel matrix, on one thread."""
    for one in cells:
        times: dict[str, list[float]] = {"PK": [], "WL": []}
        for _ in range(1 + BEST_OF):  # the first is to warm up
            for name, found in times.items():
                settings = one.read()
                seed = {"random_state": 0} if name == "PK" else {}
                kernel = build(settings[name], t_max=settings["t_max"], n_jobs=1, **seed)
                start = process_time()
                kernel.fit_transform(data.graphs)
                found.append(float(f"{process_time() - start:.3g}"))
        yield one, {name: found[1:] for name, found in times.items()}


def printed(table: str, method: str, dataset: str) -> Published:
    """Return what the paper prints for a method on labels."""
    return published(table, method if table == "labelled" else f"{method} labels", dataset)


def sections(state: State) -> list[Section]:
    """Seconds of both, here and in the paper, and their ratios."""
    rows, faster, faster_there = [], 0, 0
    for table, names in TABLES.items():
        for name in names:
            one = cell(table, name)
            if one not in state.store:
                rows.append((name, *[""] * 5, state.reason(one)))
                continue
            ours = [min(state.store[one][method]) for method in ("PK", "WL")]
            theirs = [printed(table, method, name).seconds or 0.0 for method in ("PK", "WL")]
            faster += ours[0] < ours[1]
            faster_there += theirs[0] < theirs[1]
            both = [f"{value:.2g}" for value in ours], [f"{value:g}" for value in theirs]
            rows.append(
                (name, *both[0], f"{ours[1] / ours[0]:.2g}", *both[1], f"{theirs[1] / theirs[0]:.2g}")
            )
    known = sum(bool(row[1]) for row in rows)
    return [
        Section(
            "Runtimes of PK and WL on labels",
            ("data", "PK, s", "WL, s", "WL / PK", "paper: PK, s", "paper: WL, s", "paper: WL / PK"),
            rows,
            [
                "Processor seconds of one kernel matrix with 10 iterations (FIRSTMM_DB: 15), best of "
                f"{BEST_OF}, one "
                f"thread. PK is faster on {faster} of {known} data sets here, and on {faster_there} of "
                "them in the paper.",
            ],
        )
    ]
