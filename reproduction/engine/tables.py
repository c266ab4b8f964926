"""Tables that several experiments share: accuracies and runtimes vs. the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reproduction.engine.cells import Value
from reproduction.engine.published import (
    BETTER,
    WORSE,
    Comparison,
    Measured,
    Published,
    compare,
    explanation,
    published,
    summarize,
)
from reproduction.engine.sections import Section, State

VARIANTS = ("plain", "normalized")
SIGNIFICANT = 0.05
PAIRED_REPEATS = 5  # a test of fewer says nothing


@dataclass(frozen=True)
class Summary:
    """One cell of a table.

    Attributes
    ----------
    table, row, column : str
    folds : list of lists of float
        Accuracies of each repeat, by its number; empty where nothing was measured.
    variant : str
        The better of "plain" and "normalized".
    chosen : str
        What was chosen most often, in short.
    kernel_seconds : float or None
        Processor time of one kernel.
    seconds : float
        Processor time of everything.
    scaled : float or None
        Accuracy with C over the mean diagonal, less that with the paper's C, in the same repeats.
    as_printed : Measured or None
        The variant that the paper reports, where that is not the better one here.
    note : str
        Why a number is missing.
    """

    table: str
    row: str
    column: str
    folds: dict[int, list[float]] = field(default_factory=dict)
    variant: str = ""
    chosen: str = ""
    kernel_seconds: float | None = None
    seconds: float = 0.0
    scaled: float | None = None
    as_printed: Measured | None = None
    note: str = ""

    @property
    def repeats(self) -> int:
        """How many are in the store."""
        return len(self.folds)

    @property
    def measured(self) -> Measured:
        """Mean and standard error."""
        return summarize(list(self.folds.values()))

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return self.measured.mean

    @property
    def published_mean(self) -> float:
        """Mean accuracy in the paper; NaN where it has none."""
        return float("nan") if self.paper.accuracy is None else self.paper.accuracy

    @property
    def dataset(self) -> str:
        """Name of the data set, the first word of the column."""
        return self.column.split()[0]

    @property
    def means(self) -> dict[int, float]:
        """Mean accuracy of each repeat."""
        return {repeat: float(np.mean(folds)) for repeat, folds in self.folds.items()}

    @property
    def paper(self) -> Published:
        """What the paper prints."""
        return published(self.table, self.row, self.column)

    @property
    def comparison(self) -> Comparison | None:
        """Ours vs. the paper's; None where one is missing."""
        paper = self.paper
        if not self.folds or paper.accuracy is None or paper.error is None:
            return None
        return compare(self.measured, paper.accuracy, paper.error)

    @property
    def is_ours(self) -> bool:
        """Whether it is PK or P2K."""
        return self.row.split()[0] in ("PK", "P2K")

    @property
    def is_stand_in(self) -> bool:
        """Whether the data are others than the paper's."""
        return self.table == "grids"


def summaries(state: State) -> list[Summary]:
    """Sum up the cells of an experiment, in their order; repeats of one place become one summary."""
    places: dict[tuple[str, str, str], dict[int, Value]] = {}
    reasons: dict[tuple[str, str, str], str] = {}
    for job in state.jobs:
        for cell in job.cells:
            values = places.setdefault(cell.place, {})
            if cell in state.store:
                values[cell.repeat] = state.store[cell]
            else:
                reasons[cell.place] = state.reason(cell)
    return [_summary(place, values, reasons.get(place, "")) for place, values in places.items()]


def _summary(place: tuple[str, str, str], values: dict[int, Value], reason: str) -> Summary:
    if not values:
        return Summary(*place, note=reason)
    known = [variant for variant in VARIANTS if all(variant in value for value in values.values())]
    best = max(
        known, key=lambda variant: np.mean([_mean(value[variant]["paper"]) for value in values.values()])
    )
    parts = [value[best] for value in values.values()]
    both = [_mean(part["scaled"]) - _mean(part["paper"]) for part in parts if "scaled" in part]
    seconds = [value["kernel_seconds"] for value in values.values() if value.get("kernel_seconds")]
    folds = {v: {repeat: value[v]["paper"]["folds"] for repeat, value in values.items()} for v in known}
    printed = VARIANTS[published(*place).normalized]
    is_other = printed != best and printed in known
    return Summary(
        *place,
        folds[best],
        best,
        describe_choices([name for part in parts for name in part["paper"]["kernel"]]),
        float(np.median(seconds)) if seconds else None,
        sum(value.get("seconds", 0.0) for value in values.values()),
        float(np.mean(both)) if both else None,
        summarize(list(folds[printed].values())) if is_other else None,
    )


def _mean(part: Any) -> float:
    return float(np.mean(part["folds"]))


def describe_choices(names: Sequence[str]) -> str:
    """Return the candidate that was chosen most often, and its share.

    Examples
    --------
    >>> describe_choices(["2", "3", "2"])
    '2 (67 %)'
    """
    kinds, counts = np.unique(names, return_counts=True)
    if len(kinds) <= 1:
        return str(kinds[0]) if len(kinds) else ""
    return f"{kinds[counts.argmax()]} ({100 * counts.max() / len(names):.0f} %)"


def paired(one: Summary, other: Summary) -> tuple[float, float]:
    """Return the mean difference in the repeats that both have, and p of a paired t-test; 1 below five.

    Examples
    --------
    >>> one, other = (Summary("t", "r", "c", {i: [80.0 + i % 2 + k] for i in range(5)}) for k in (2, 0))
    >>> paired(one, other)
    (2.0, 0.0)
    """
    from scipy.stats import ttest_rel

    common = sorted(one.means.keys() & other.means.keys())
    first, second = (np.array([each.means[repeat] for repeat in common]) for each in (one, other))
    difference = float(np.mean(first - second)) if common else float("nan")
    if len(common) < PAIRED_REPEATS:
        return difference, 1.0
    if np.ptp(first - second) < 1e-9:
        return difference, 1.0 if abs(difference) < 1e-9 else 0.0
    return difference, float(ttest_rel(first, second).pvalue)


def significantly_first(found: Iterable[Summary]) -> Summary | None:
    """Return the best of a column if it is significantly better than the second best: bold in the paper."""
    known = sorted((one for one in found if one.folds), key=lambda one: -one.measured.mean)
    if len(known) < 2 or paired(known[0], known[1])[1] >= SIGNIFICANT:
        return None
    return known[0]


def matrix_section(title: str, found: Sequence[Summary]) -> Section:
    """Return a table as the paper has it: methods by data sets, the paper's numbers in parentheses."""
    shown = [one for one in found if one.folds or one.paper.accuracy is not None]
    columns = list(dict.fromkeys(one.column for one in shown))
    bold = [
        significantly_first(one for one in shown if one.column == column and one.paper.accuracy is not None)
        for column in columns
    ]
    cells = {(one.row, one.column): _cell(one, any(one is winner for winner in bold)) for one in shown}
    rows = list(dict.fromkeys(one.row for one in shown))
    return Section(
        title,
        ("method", *columns),
        [(row, *(cells.get((row, column), "") for column in columns)) for row in rows],
    )


def _cell(one: Summary, is_bold: bool) -> str:
    paper = f"**({one.paper.text})**" if one.paper.bold else f"({one.paper.text})"
    if not one.folds:
        return f"{one.note} {paper}"
    ours = with_error(one.measured)
    return f"{f'**{ours}**' if is_bold else ours} [{one.repeats}] {paper}"


def with_error(measured: Measured) -> str:
    """Mean and standard error.

    Examples
    --------
    >>> with_error(Measured(84.46, 0.31, 10))
    '84.5 ± 0.3'
    """
    error = "" if np.isnan(measured.error) else f" ± {measured.error:.1f}"
    return f"{measured.mean:.1f}{error}"


UNKNOWN = "–"
COMPARED_COLUMNS = (
    *("data", "method", "here", "paper", "difference", "95 % interval", "verdict", "repeats"),
    *("kernel", "chosen", "our C", "why"),
)


def compared_section(
    title: str, found: Sequence[Summary], reasons: dict[tuple[str, str, str], str]
) -> Section:
    """Return one line for each cell: ours, the paper's, and how they compare."""
    rows = []
    for one in found:
        compared, place = one.comparison, (one.table, one.row, one.column)
        printed = f"{one.paper.text} ± {one.paper.error:.1f}" + ("*" if one.paper.normalized else "")
        if compared is None:
            rows.append((one.column, one.row, "", printed, *[""] * 7, one.note))
            continue
        low, high = compared.interval
        known = explanation(*place) or reasons.get(place, "")
        why = known if compared.verdict != "matches" else ""
        own = (
            with_error(one.measured),
            printed,
            f"{compared.difference:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
            compared.verdict,
            str(one.repeats),
        )
        scaled = "" if one.scaled is None else f"{one.scaled:+.1f}"
        rows.append((one.column, one.row, *own, one.variant, one.chosen, scaled, why))
    return Section(title, COMPARED_COLUMNS, rows, only_file=True)


def differing_section(title: str, compared: Iterable[Section]) -> Section:
    """Return the cells that are better or worse than in the paper; each reason is told once."""
    cells = [row for section in compared for row in section.rows if row[6]]
    found = [row for row in cells if row[6] in (BETTER, WORSE)]
    reasons = list(dict.fromkeys(row[-1] for row in found if row[-1]))
    rows = []
    for data, method, here, paper, difference, _, _, repeats, *_, why in found:
        mark = f"({reasons.index(why) + 1})" if why else UNKNOWN
        means = (text.split(" ±")[0] for text in (here, paper))
        rows.append((data, method, *means, difference, repeats, mark))
    notes = [f"({number}) {reason}" for number, reason in enumerate(reasons, start=1)]
    columns = ("data", "method", "here", "paper", "difference", "repeats", "why")
    about = (
        f"A dash: the reason is not known ({sum(row[-1] == UNKNOWN for row in rows)} of {len(rows)}). "
        f"By chance alone, about {len(cells) / 20:.0f} of all {len(cells)} cells would be here, with small "
        "differences."
    )
    return Section(title, columns, rows, notes, about=about)


RUNTIME_COLUMNS = ("data", "method", "here, s", "paper, s", "paper / here")


def runtime_section(title: str, found: Sequence[Summary]) -> Section:
    """Return the table of kernel runtimes; only of cells with a time."""
    return Section(
        title,
        RUNTIME_COLUMNS,
        [runtime_row(one) for one in found if one.kernel_seconds is not None],
        only_file=True,
    )


def runtime_row(one: Summary) -> tuple[str, ...]:
    """One line of the table."""
    assert one.kernel_seconds is not None
    paper = one.paper.seconds
    printed = one.paper.missing_seconds or one.paper.missing if paper is None else f"{paper:,g}"
    ratio = f"{float(f'{paper / one.kernel_seconds:.2g}'):,g}" if paper else ""
    return one.column, one.row, f"{one.kernel_seconds:.2g}", printed, ratio
