"""What is known of a cell of a table: ours, the paper's, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propkernels.paper.accuracy import VARIANTS
from propkernels.paper.compare import Comparison, Measured, compare, summarize
from propkernels.paper.published import Published, explanation, published
from propkernels.paper.section import State
from propkernels.paper.store import Value


@dataclass(frozen=True)
class Summary:
    """One cell of a table.

    Attributes
    ----------
    table, row, column : str
    repeats : int
        How many are in the store.
    measured : Measured or None
    variant : str
        The better of "plain" and "normalized".
    chosen : str
        What was chosen most often, in short.
    kernel_seconds : float or None
        Processor time of one kernel.
    paper : Published
    comparison : Comparison or None
    note : str
        Why there is no number, or why it is worse.
    deviation : float
        Standard deviation over all folds.
    """

    table: str
    row: str
    column: str
    repeats: int
    measured: Measured | None
    variant: str
    chosen: str
    kernel_seconds: float | None
    paper: Published
    comparison: Comparison | None
    note: str
    deviation: float = 0.0


def summaries(state: State) -> list[Summary]:
    """Sum up the cells of an experiment, in their order; repeats of one place become one summary."""
    places: dict[tuple[str, str, str], list[Value]] = {}
    reasons: dict[tuple[str, str, str], str] = {}
    for job in state.jobs:
        for cell in job.cells:
            values = places.setdefault(cell.place, [])
            if cell in state.store:
                values.append(state.store[cell])
            else:
                reasons[cell.place] = state.reason(cell)
    return [_summary(place, values, reasons.get(place, "")) for place, values in places.items()]


def _summary(place: tuple[str, str, str], values: Sequence[Value], reason: str) -> Summary:
    paper = published(*place)
    if not values:
        return Summary(*place, 0, None, "", "", None, paper, None, reason)
    variant, measured = better_variant(values)
    comparison = None
    if paper.accuracy is not None and paper.error is not None:
        comparison = compare(measured, paper.accuracy, paper.error)
    is_worse = comparison is not None and comparison.verdict == "worse"
    seconds = [value["kernel_seconds"] for value in values if value.get("kernel_seconds") is not None]
    return Summary(
        *place,
        len(values),
        measured,
        variant,
        describe_choices(values, variant),
        float(np.median(seconds)) if seconds else None,
        paper,
        comparison,
        explanation(*place) if is_worse else "",
        float(np.std([accuracy for value in values for accuracy in value[variant]["folds"]])),
    )


def better_variant(values: Sequence[Value]) -> tuple[str, Measured]:
    """Return the better of the plain and the normalised kernel; the plain one among equals."""
    found = {
        variant: summarize([value[variant]["folds"] for value in values])
        for variant in VARIANTS
        if all(variant in value for value in values)
    }
    best = max(found, key=lambda variant: found[variant].mean)
    return best, found[best]


def describe_choices(values: Sequence[Value], variant: str) -> str:
    """Return the candidate that was chosen most often, and its share."""
    chosen: list[Any] = [choice for value in values for choice in value[variant]["chosen"]]
    names = [str(choice[0] if isinstance(choice, list) else choice) for choice in chosen]
    kinds, counts = np.unique(names, return_counts=True)
    if len(kinds) <= 1:
        return "" if not len(kinds) or kinds[0] in ("", "None") else str(kinds[0])
    return f"{kinds[counts.argmax()]} ({100 * counts.max() / len(names):.0f} %)"
