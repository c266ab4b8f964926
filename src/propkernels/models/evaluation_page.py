"""Evaluations as one HTML file: a table, folds, confusion matrices and choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from propkernels._utils.safe_files import Pathlike
from propkernels.models.evaluation_result import Evaluation
from propkernels.plotting.pages import write_page
from propkernels.plotting.pages.fragments import Drawing
from propkernels.plotting.pages.svg import Strip, strip_chart

MOST_CLASSES = 20  # largest number of classes of a confusion matrix on a page
STRONGEST = 55  # percent of color in a cell


def write_evaluations(
    path: Pathlike, results: Mapping[str, Evaluation], sentences: Sequence[str] = ()
) -> Path:
    """Write evaluations of several methods on the same folds to a self-contained HTML file.

    Parameters
    ----------
    path : str or path
    results : mapping of str to Evaluation
        Names of the methods, and their results.
    sentences : sequence of str, optional
        Text below the table.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> result = pk.evaluate(data, model=pk.PropagationKernel(t_max=1), cv=3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_evaluations(f"{folder}/page.html", {"PK": result}).stat().st_size > 5000
    True
    """
    first = next(iter(results.values()))
    repeats, n_folds = first.scores.shape
    best = max(results, key=lambda name: results[name].mean)
    return write_page(
        path,
        "models/evaluations.html.j2",
        title=f"{first.data}: {first.metric} in cross-validation",
        key_figures=[
            (results[best].format_score(results[best].mean), f"{first.metric} of {best}, the best"),
            (n_folds if repeats == 1 else f"{repeats} x {n_folds}", "test folds"),
            (len(results), "methods"),
        ],
        caption=f"{first.protocol}; all methods used the same folds",
        head=["method", first.metric, "std. error", "t_max", "C", "seconds"],
        rows=[_row(name, result) for name, result in results.items()],
        sentences=sentences,
        folds=Drawing(folds_svg(results, 760)),
        confusions=[_confusion(name, one) for name, one in results.items() if _has_confusion(one)],
        fold_head=["repeat", "fold", first.metric, "t_max", "C"],
        choices=[(name, _choices(result)) for name, result in results.items()],
    )


def _row(name: str, result: Evaluation) -> list[Any]:
    scores = [result.format_score(value) for value in (result.mean, result.standard_error)]
    return [name, *scores, *(result.describe_choices(x) for x in ("t_max", "C")), round(result.seconds, 2)]


def _choices(result: Evaluation) -> list[list[Any]]:
    """Return one row per fold, as texts and numbers."""
    return [
        [
            fold["repeat"],
            fold["fold"],
            result.format_score(fold[result.metric]),
            fold["t_max"],
            None if np.isnan(fold["C"]) else fold["C"],
        ]
        for fold in result.folds
    ]


def _has_confusion(result: Evaluation) -> bool:
    return result.confusion is not None and len(result.classes) <= MOST_CLASSES


def _confusion(name: str, result: Evaluation) -> dict[str, Any]:
    """Return rows of a confusion matrix; each cell has a number, a color and its strength."""
    assert result.confusion is not None
    rows = []
    for i, counts in enumerate(result.confusion.tolist()):
        total = max(sum(counts), 1)
        cells = [
            (count, "good" if i == j else "bad", round(STRONGEST * count / total))
            for j, count in enumerate(counts)
        ]
        rows.append((result.classes[i], cells, f"{100 * counts[i] / total:.1f} %"))
    return {"name": name, "classes": result.classes, "rows": rows}


def folds_svg(results: Mapping[str, Evaluation], width: int = 560) -> str:
    """Return an SVG strip chart: one row per method, a dot per fold, and a line at the mean.

    Parameters
    ----------
    results : mapping of str to Evaluation
        Evaluations with the same metric.
    width : int, default=560
        Width in pixels.

    Returns
    -------
    str
        An ``svg`` element with all texts escaped.
    """
    first = next(iter(results.values()))
    strips = [Strip(name, _points(result), result.mean) for name, result in results.items()]
    return strip_chart("scores of the folds", strips, lambda value: _tick(first, value), width)


def _points(result: Evaluation) -> list[tuple[float, str]]:
    return [
        (float(score), f"repeat {r}, fold {f}: {result.format_score(float(score))}")
        for r, scores in enumerate(result.scores)
        for f, score in enumerate(scores)
    ]


def _tick(result: Evaluation, value: float) -> str:
    return f"{100 * value:.3g} %" if result.metric == "accuracy" else f"{value:.3g}"
