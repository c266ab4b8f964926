"""Tables that several experiments share: accuracies and runtimes beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from propkernels.paper.compare import FEW_REPEATS, Comparison, Measured
from propkernels.paper.published import Published
from propkernels.paper.section import Section
from propkernels.paper.summary import Summary

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


def accuracy_section(title: str, summaries: Sequence[Summary], stand_ins: Sequence[str] = ()) -> Section:
    """Return the table of accuracies, in per cent."""
    compared = [one for one in summaries if one.comparison is not None]
    return Section(
        title,
        ACCURACY_COLUMNS,
        [accuracy_row(one) for one in summaries],
        verdicts=[one.comparison.verdict for one in compared if one.comparison is not None],
        n_repeated=sum(one.repeats >= FEW_REPEATS for one in compared),
        gaps=[one.note for one in summaries if one.measured is None and one.paper.accuracy is not None],
        is_stand_in=bool(stand_ins),
    )


def accuracy_row(one: Summary) -> tuple[str, ...]:
    """One line of the table."""
    paper = _published(one.paper)
    if one.measured is None:
        return (one.column, one.row, "", paper, "", "", "", "", "", "", one.note)
    kind = "normalised" if one.variant == "normalized" else "plain"
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
