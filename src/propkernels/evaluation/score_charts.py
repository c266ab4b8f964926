"""The folds of evaluations as a strip chart: one row per method, one dot per fold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from propkernels._pages.svg import Strip, strip_chart

if TYPE_CHECKING:
    from propkernels.evaluation.evaluation_result import Evaluation


def folds_svg(results: Mapping[str, Evaluation], width: int = 560) -> str:
    """Draw one row per method: a dot for each fold, and a line at the mean.

    Parameters
    ----------
    results : mapping of str to Evaluation
        Of the same metric.
    width : int, default=560
        In pixels.

    Returns
    -------
    str
        An ``svg`` element with all texts escaped.
    """
    first = next(iter(results.values()))
    strips = [Strip(name, _values(result), result.mean) for name, result in results.items()]
    return strip_chart("scores of the folds", strips, lambda value: _tick(first, value), width)


def _values(result: Evaluation) -> list[tuple[float, str]]:
    return [
        (float(score), f"repeat {r}, fold {f}: {result.format_score(float(score))}")
        for r, scores in enumerate(result.scores)
        for f, score in enumerate(scores)
    ]


def _tick(result: Evaluation, value: float) -> str:
    return f"{100 * value:.3g} %" if result.metric == "accuracy" else f"{value:.3g}"
