"""Tables that several experiments share: accuracies and runtimes beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.engine.cells import Value
from reproduction.engine.published import (
    Comparison,
    Measured,
    Published,
    compare,
    explanation,
    published,
    summarize,
)
from reproduction.engine.sections import Section, State
from reproduction.protocols.accuracy import VARIANTS


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
        Why a number is missing, or why it is worse.
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
    """Return the better of the plain and the normalized kernel; the plain one among equals."""
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


ACCURACY_COLUMNS = (
    "data",
    "method",
    "here",
    "paper",
    "difference",
    "p",
    "repeats",
    "kernel",
    "chosen",
    "verdict",
    "why",
)
RUNTIME_COLUMNS = ("data", "method", "here, s", "paper, s", "paper / here")


def accuracy_section(title: str, summaries: Sequence[Summary], is_stand_in: bool = False) -> Section:
    """Return the table of accuracies, in percent."""
    rows = [accuracy_row(one) for one in summaries]
    return Section(title, ACCURACY_COLUMNS, rows, is_stand_in=is_stand_in)


def accuracy_row(one: Summary) -> tuple[str, ...]:
    """One line of the table."""
    paper = _published(one.paper)
    if one.measured is None:
        return (one.column, one.row, "", paper, "", "", "", "", "", "", one.note)
    kind = "normalized" if one.variant == "normalized" else "plain"
    head = (one.column, one.row, with_error(one.measured), paper)
    return (*head, *_difference(one.comparison), str(one.repeats), kind, one.chosen, *_verdict(one))


def _published(paper: Published) -> str:
    if paper.accuracy is None:
        return paper.missing
    accuracy = (
        f"{paper.accuracy:.1f}" if paper.accuracy == round(paper.accuracy, 1) else f"{paper.accuracy:g}"
    )
    return f"{accuracy} ± {paper.error:.1f}" + ("*" if paper.normalized else "")


def with_error(measured: Measured) -> str:
    """Mean and standard error.

    Examples
    --------
    >>> with_error(Measured(84.46, 0.31, 10))
    '84.5 ± 0.3'
    """
    error = "" if np.isnan(measured.error) else f" ± {measured.error:.1f}"
    return f"{measured.mean:.1f}{error}"


def _difference(comparison: Comparison | None) -> tuple[str, str]:
    if comparison is None:
        return "", ""
    p_value = "< 0.001" if comparison.p_value < 0.001 else f"{comparison.p_value:.3f}"
    return f"{comparison.difference:+.1f}", p_value


def _verdict(one: Summary) -> tuple[str, str]:
    return ("no number in the paper" if one.comparison is None else one.comparison.verdict), one.note


def runtime_section(title: str, summaries: Sequence[Summary]) -> Section:
    """Return the table of kernel runtimes; only of cells with a time."""
    timed = [one for one in summaries if one.kernel_seconds is not None]
    return Section(
        title,
        RUNTIME_COLUMNS,
        [runtime_row(one) for one in timed],
        [
            "Here: processor seconds of one kernel matrix (median over the repeats; PK, P2K and WL: the "
            "matrices of all iterations up to the largest), after the loops were compiled. The paper: a "
            "3.4 GHz Core i7, Matlab; CSM in Java, with subgraphs of up to 7 nodes."
        ],
    )


def runtime_row(one: Summary) -> tuple[str, ...]:
    """One line of the table."""
    assert one.kernel_seconds is not None
    paper = one.paper.seconds
    printed = one.paper.missing_seconds or one.paper.missing if paper is None else f"{paper:,g}"
    ratio = "" if not paper or not one.kernel_seconds else f"{paper / one.kernel_seconds:,.3g}"
    return one.column, one.row, f"{one.kernel_seconds:.3g}", printed, ratio
