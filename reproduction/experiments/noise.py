"""Missing and noisy information: accuracy against the share of labels that are hidden or wrong (Q2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from propkernels.kernels import PropagationKernel, WeisfeilerLehman
from reproduction.data.corrupt import flip_labels, hide_labels
from reproduction.drawings import draw_noise
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import Summary, summaries, with_error
from reproduction.protocols.accuracy import Accuracy
from reproduction.protocols.recipes import Recipe

NAME = "noise"
REPEATS = 10
DATASETS = ("MUTAG", "MSRC_9", "ENZYMES")
QUICK_DATASETS = DATASETS[:2]
SHARES = (0, 20, 40, 60, 80, 100)
KINDS = ("hidden", "flipped")
STEPS = (0, 1, 2, 4, 6)
COSTS = (1.0, 10.0, 100.0)
RECIPES: dict[str, Callable[[str], Recipe]] = {
    "PK": lambda scheme: Recipe({"": PropagationKernel(propagation=scheme, t_max=6)}, STEPS, is_random=True),
    "WL": lambda _: Recipe({"": WeisfeilerLehman(t_max=6)}, STEPS),
    "LABELS": lambda _: Recipe(
        {"": PropagationKernel(propagation="diffusion", t_max=0)}, (0,), is_random=True
    ),
}


@dataclass(frozen=True)
class Corrupt:
    """Hides or flips a share of the labels."""

    kind: str
    percent: int

    def __call__(self, graphs: Any, repeat: int) -> Any:
        """Return the graphs of a repeat."""
        function = hide_labels if self.kind == "hidden" else flip_labels
        return function(graphs, self.percent / 100, random_state=repeat)


def tasks(scope: Scope) -> list[Accuracy]:
    """All points of the curves; a quick run has every other share, and two data sets."""
    shares = SHARES[::2] + SHARES[-1:] if scope.quick else SHARES
    datasets = QUICK_DATASETS if scope.quick else DATASETS
    return [
        task(row, dataset, kind, share)
        for dataset in datasets
        for kind in KINDS
        for share in shares
        for row in RECIPES
    ]


def task(row: str, dataset: str, kind: str, percent: int) -> Accuracy:
    """One point of a curve; PK propagates hidden labels by Eq. 3, as the authors' program does."""
    scheme = "label_propagation" if kind == "hidden" and percent else "diffusion"
    return Accuracy(
        NAME,
        row,
        f"{dataset} {percent} % {kind}",
        dataset,
        RECIPES[row](scheme),
        COSTS,
        variants=("plain",),
        change=Corrupt(kind, percent),
        change_name=f"{kind} {percent} %",
    )


def jobs(scope: Scope) -> list[Job]:
    """All points in so many repeats."""
    repeats = scope.repeats_or(REPEATS)
    return [one.job(repeats) for one in tasks(scope) if scope.wants(one.dataset)]


def sections(state: State) -> list[Section]:
    """Return accuracies by share, and the figure."""
    found = [one for one in summaries(state) if one.measured is not None]
    panels: dict[tuple[str, str], dict[str, list[tuple[float, float, float]]]] = {}
    for one in found:
        dataset, percent, _, kind = one.column.split()
        assert one.measured is not None
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
            figures={"noise": lambda: draw_noise(panels)},
        )
    ]


def _rows(found: list[Summary], shares: list[int]) -> list[tuple[str, ...]]:
    """One line per curve."""
    lines: dict[tuple[str, str, str], dict[int, str]] = {}
    for one in found:
        dataset, percent, _, kind = one.column.split()
        assert one.measured is not None
        lines.setdefault((dataset, kind, one.row), {})[int(percent)] = with_error(one.measured)
    return [(*key, *(line.get(share, "") for share in shares)) for key, line in lines.items()]
