"""Parameter sensitivity: accuracy of PK by bin width w and t_max, plain and normalized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from reproduction.drawings import Points, draw_heatmaps
from reproduction.engine.cells import Cell, Value
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import numbers_in_text
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import VARIANTS
from reproduction.protocols.nested import (
    COST_FOLDS,
    COSTS,
    FOLDS,
    class_numbers,
    fewest,
    leave_one_out,
    partition,
    seeds_of,
    unit,
)
from reproduction.protocols.recipes import build, pk
from reproduction.protocols.svm import Machine

NAME = "sensitivity"
DATASETS = ("MUTAG", "FIRSTMM_DB", "ENZYMES", "NCI1")
POINT_CLOUDS = "FIRSTMM_DB"
EXPONENTS = tuple(range(-8, 0))
STEPS = tuple(range(15))


def jobs(scope: Scope) -> list[Job]:
    """One cell per data set and width: its kernels come from one pass."""
    return [Job((cell(dataset, w),), dataset, work) for dataset in DATASETS for w in EXPONENTS]


def cell(dataset: str, exponent: int) -> Cell:
    """One line of a heat map."""
    settings = {**pk(), "bin_width": 10.0**exponent}
    return Cell.of(
        NAME, f"w 1e{exponent}", dataset, 0, kernel=settings, steps=list(STEPS), C=COSTS["paper"], folds=FOLDS
    )


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Compute the kernels for all t_max in one pass, and the accuracy for each."""
    target = class_numbers(data.target)
    for one in cells:
        settings = one.read()["kernel"]
        kernel = build(settings, t_max=STEPS[-1], random_state=seeds_of(0).kernel, n_jobs=context.n_jobs)
        stack = kernel.fit_transform_cumulative(data.graphs)
        yield (
            one,
            {v: [accuracy(stack[t], target, data.name, v) for t in STEPS] for v in VARIANTS},
        )


def accuracy(kernel: Any, target: Any, dataset: str, variant: str) -> float:
    """Accuracy in percent, with the C that is best on the whole data set, as in the paper."""
    kernel = unit(kernel) if variant == "normalized" else kernel
    if dataset == POINT_CLOUDS:
        return round(float(np.mean(leave_one_out({"": kernel}, target)["folds"])), 2)
    graphs, seeds = np.arange(len(target)), seeds_of(0)
    machine = Machine(kernel, target, graphs)
    inner, outer = (
        partition(graphs, target, n, s) for n, s in ((COST_FOLDS, seeds.inner), (FOLDS, seeds.outer))
    )
    cost = fewest(COSTS["paper"][variant], lambda c, part: machine.wrong(c, inner, part), COST_FOLDS)
    shares = [machine.wrong(cost, outer, part) / np.sum(outer == part) for part in range(FOLDS)]
    return round(100 * (1 - float(np.mean(shares))), 2)


def sections(state: State) -> list[Section]:
    """Return the best points of each map, the numbers of the text, and the figure."""
    maps = maps_of(state)
    if not maps:
        return [Section("Parameter Sensitivity of PK", notes=[state.reason(state.jobs[0].cells[0])])]
    columns = ("data", "kernel", "best", "at w", "at t_max", "w <= 1e-3, t_max > 4: least", "measured")
    return [
        Section(
            "Parameter Sensitivity of PK",
            columns,
            [_row(dataset, variant, points) for (dataset, variant), points in maps.items()],
            _text_notes(maps),
            {"sensitivity": lambda: draw_heatmaps(maps)},
            only_file=True,
        )
    ]


def maps_of(state: State) -> dict[tuple[str, str], Points]:
    """Accuracies of all points that are known, by data set and variant."""
    maps: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for one in (one for job in state.jobs for one in job.cells if one in state.store):
        for variant in VARIANTS:
            points = maps.setdefault((one.column, variant), {})
            exponent = int(one.row.removeprefix("w 1e"))
            points |= {
                (exponent, t): value for t, value in zip(STEPS, state.store[one][variant], strict=True)
            }
    return {(d, v): maps[d, v] for d in DATASETS for v in VARIANTS if (d, v) in maps}


def _row(dataset: str, variant: str, points: Points) -> tuple[str, ...]:
    (w, t), best = max(points.items(), key=lambda item: item[1])
    smooth = [value for (width, steps), value in points.items() if width <= -3 and steps > 4]
    kind = "normalized" if variant == "normalized" else "plain"
    least = f"{min(smooth):.1f}" if smooth else ""
    return dataset, kind, f"{best:.1f}", f"1e{w}", str(t), least, f"{len(points)} points"


def _text_notes(maps: dict[tuple[str, str], Points]) -> list[str]:
    """Compare what the paper's text says about MUTAG with ours."""
    if ("MUTAG", "plain") not in maps:
        return []
    plain, normalized = (max(maps["MUTAG", variant].values()) for variant in VARIANTS)
    paper = numbers_in_text(NAME)
    gain = maps["MUTAG", "plain"]
    more = max(v for (_, t), v in gain.items() if t == 10) - max(v for (_, t), v in gain.items() if t == 0)
    return [
        f"MUTAG: normalizing takes the best from {plain:.1f} to {normalized:.1f} % (the paper: from "
        f"{paper['MUTAG plain, best']} to {paper['MUTAG normalized, best']} %); the best at t_max = 10 "
        f"less the best at t_max = 0 is {more:+.1f} "
        f"(the paper: {paper['MUTAG, t_max 10 less t_max 0']:+.1f})."
    ]
