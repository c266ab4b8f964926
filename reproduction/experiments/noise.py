"""Missing and noisy information: accuracy against the share of labels that are hidden or wrong (Q2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from reproduction.data.corrupt import flip_labels, hide_labels
from reproduction.drawings import draw_noise
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import Summary, summaries, with_error
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import DIFFUSION, EQUATION_3, Recipe, histogram, pk, wl

NAME = "noise"
REPEATS = 3
DATASETS = ("MUTAG", "MSRC_9", "ENZYMES")
SHARES = (0, 20, 40, 60, 80, 100)
KINDS = ("hidden", "flipped")
ROWS = ("PK", "WL", "LABELS")


@dataclass(frozen=True)
class Corrupt:
    """Hides or flips a share of the labels."""

    kind: str
    percent: int

    def __call__(self, graphs: Any, repeat: int) -> Any:
        """Return the graphs of a repeat."""
        function = hide_labels if self.kind == "hidden" else flip_labels
        return function(graphs, self.percent / 100, random_state=repeat)


def task(row: str, dataset: str, kind: str, percent: int) -> Accuracy:
    """One point of a curve; PK diffuses labels, and pushes them back where some are hidden."""
    scheme = EQUATION_3 if kind == "hidden" and percent else DIFFUSION
    recipe = {
        "PK": Recipe(pk(propagation=scheme), is_random=True),
        "WL": Recipe(wl()),
        "LABELS": Recipe(histogram(), ()),
    }[row]
    column, change = f"{dataset} {percent} % {kind}", Corrupt(kind, percent)
    return Accuracy(NAME, row, column, dataset, recipe, ("plain",), change, f"{kind} {percent} %")


def jobs(scope: Scope) -> list[Job]:
    """All points in so many repeats."""
    places = product(DATASETS, KINDS, SHARES, ROWS)
    return [
        task(row, dataset, kind, share).job(scope.repeats or REPEATS) for dataset, kind, share, row in places
    ]


def sections(state: State) -> list[Section]:
    """Return accuracies by share, and the figure."""
    found = [one for one in summaries(state) if one.folds]
    panels: dict[tuple[str, str], dict[str, list[tuple[float, float, float]]]] = {}
    for one in found:
        dataset, percent, _, kind = one.column.split()
        point = (float(percent), one.measured.mean, one.measured.error)
        panels.setdefault((dataset, kind), {}).setdefault(one.row, []).append(point)
    if not panels:
        return [Section("Missing and noisy information", notes=[state.reason(state.jobs[0].cells[0])])]
    shares = sorted({int(one.column.split()[1]) for one in found})
    return [
        Section(
            "Missing and noisy information",
            ("data", "labels", "method", *(f"{share} %" for share in shares)),
            _rows(found, shares),
            [
                f"Repeats of each cell: {min(one.repeats for one in found)} to "
                f"{max(one.repeats for one in found)}."
            ],
            figures={"noise": lambda: draw_noise(panels)},
        )
    ]


def _rows(found: list[Summary], shares: list[int]) -> list[tuple[str, ...]]:
    """One line per curve."""
    lines: dict[tuple[str, str, str], dict[int, str]] = {}
    for one in found:
        dataset, percent, _, kind = one.column.split()
        lines.setdefault((dataset, kind, one.row), {})[int(percent)] = with_error(one.measured)
    return [(*key, *(line.get(share, "") for share in shares)) for key, line in lines.items()]
