"""Parameter sensitivity: accuracy of PK by bin width w and t_max, plain and normalized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propkernels.kernels import PropagationKernel
from reproduction.drawings import Points, draw_heatmaps
from reproduction.engine.cells import Cell, Value
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import numbers_in_text
from reproduction.engine.sections import Section, State
from reproduction.protocols.accuracy import VARIANTS, settings_of
from reproduction.protocols.nested import (
    FOLDS,
    INNER_FOLDS,
    class_numbers,
    cross_validate,
    folds_of,
    leave_one_out,
    seeds_of,
    split,
    unit,
)

NAME = "sensitivity"
DATASETS = ("MUTAG", "FIRSTMM_DB", "ENZYMES", "NCI1")
POINT_CLOUDS = "FIRSTMM_DB"
EXPONENTS = tuple(range(-8, 0))
STEPS = tuple(range(15))
QUICK_EXPONENTS, QUICK_STEPS = (-8, -5, -3, -1), (0, 1, 2, 4, 6, 10, 14)
COSTS = {"plain": (1.0, 10.0, 100.0), "normalized": (10.0, 100.0, 1000.0)}
SUBSET = 400


def jobs(scope: Scope) -> list[Job]:
    """One job per data set and width: its kernels come from one pass."""
    exponents = QUICK_EXPONENTS if scope.quick else EXPONENTS
    steps = QUICK_STEPS if scope.quick else STEPS
    return [
        Job(tuple(cell(dataset, w, t, scope.quick) for t in steps), dataset, work)
        for dataset in DATASETS
        if scope.wants(dataset)
        for w in exponents
    ]


def cell(dataset: str, exponent: int, t_max: int, quick: bool = False) -> Cell:
    """One point of a heat map."""
    subset = SUBSET if quick and dataset == "NCI1" else None
    settings: dict[str, Any] = {
        "costs": {variant: list(costs) for variant, costs in COSTS.items()},
        "folds": FOLDS,
        "graphs": subset,
    }
    return Cell.of(NAME, f"w 1e{exponent}, t_max {t_max}", dataset, 0, w=exponent, t_max=t_max, **settings)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Compute the kernels for all t_max in one pass, and the accuracy for each."""
    settings = [settings_of(one) for one in cells]
    graphs, target = _subset(data, settings[0]["graphs"])
    kernel = PropagationKernel(
        t_max=max(each["t_max"] for each in settings),
        bin_width=10.0 ** settings[0]["w"],
        random_state=seeds_of(0).kernel,
        n_jobs=context.n_jobs,
    )
    stack = kernel.fit_transform_cumulative(graphs)
    for one, each in zip(cells, settings, strict=True):
        plain = stack[each["t_max"]]
        matrices = {"plain": plain, "normalized": unit(plain)}
        yield (
            one,
            {
                variant: _accuracy(matrices[variant], target, data.name, COSTS[variant], context)
                for variant in VARIANTS
            },
        )


def _accuracy(
    kernel: Any, target: Any, dataset: str, costs: Sequence[float], context: Context
) -> dict[str, Any]:
    if dataset == POINT_CLOUDS:
        return {"accuracy": leave_one_out({"": kernel}, target)["accuracy"]}
    everything = split(np.arange(len(target)), target, INNER_FOLDS, seeds_of(0).inner)
    found = cross_validate({"": kernel}, target, folds_of(target, 0), costs, context.n_jobs, everything)
    return {"accuracy": found["accuracy"], "C": found["chosen"][0][1]}


def _subset(data: Any, number: int | None) -> tuple[Any, Any]:
    target = class_numbers(data.target)
    if number is None:
        return data.graphs, target
    chosen = np.random.default_rng(0).permutation(len(target))[:number]
    return data.graphs[chosen], target[chosen]


def sections(state: State) -> list[Section]:
    """Return the best points of each map, the numbers of the text, and the figure."""
    maps = _maps(state)
    if not maps:
        return [Section("Parameter Sensitivity of PK", notes=[state.reason(state.jobs[0].cells[0])])]
    columns = ("data", "kernel", "best", "at w", "at t_max", "w <= 1e-3, t_max > 4: least", "measured")
    return [
        Section(
            "Parameter Sensitivity of PK",
            columns,
            [_row(dataset, variant, points) for (dataset, variant), points in maps.items()],
            [*_subset_notes(state), *_text_notes(maps)],
            {"sensitivity": lambda: draw_heatmaps(maps)},
        )
    ]


def _maps(state: State) -> dict[tuple[str, str], Points]:
    """Accuracies of all points that are known, by data set and variant."""
    maps: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for one in _measured(state):
        settings, value = settings_of(one), state.store[one]
        for variant in VARIANTS:
            points = maps.setdefault((one.column, variant), {})
            points[settings["w"], settings["t_max"]] = value[variant]["accuracy"]
    return dict(sorted(maps.items(), key=lambda item: (DATASETS.index(item[0][0]), item[0][1] != "plain")))


def _measured(state: State) -> list[Cell]:
    """Cells with a value; those of a part of a data set only where there are none of the whole."""
    known = [one for job in state.jobs for one in job.cells if one in state.store]
    whole = {one.column for one in known if settings_of(one)["graphs"] is None}
    return [one for one in known if settings_of(one)["graphs"] is None or one.column not in whole]


def _row(dataset: str, variant: str, points: Points) -> tuple[str, ...]:
    (w, t), best = max(points.items(), key=lambda item: item[1])
    smooth = [value for (width, steps), value in points.items() if width <= -3 and steps > 4]
    kind = "normalized" if variant == "normalized" else "plain"
    least = f"{min(smooth):.1f}" if smooth else ""
    return dataset, kind, f"{best:.1f}", f"1e{w}", str(t), least, f"{len(points)} points"


def _subset_notes(state: State) -> list[str]:
    is_part = any(settings_of(one)["graphs"] is not None for one in _measured(state))
    return [f"NCI1: a random subset of {SUBSET} graphs."] if is_part else []


def _text_notes(maps: dict[tuple[str, str], Points]) -> list[str]:
    """Put what the paper's text says about MUTAG beside ours."""
    if ("MUTAG", "plain") not in maps:
        return []
    plain, normalized = (max(maps["MUTAG", variant].values()) for variant in VARIANTS)
    paper = numbers_in_text(NAME)
    return [
        f"MUTAG: normalizing takes the best from {plain:.1f} to {normalized:.1f} % (the paper: from "
        f"{paper['MUTAG plain, best']} to {paper['MUTAG normalized, best']} %)."
    ]
