"""The folds of evaluations as a small SVG: one row per method, one dot per fold."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from propkernels.learn.evaluation.result import Evaluation

ROW, TOP, BOTTOM, LEFT, RIGHT = 34, 6, 26, 140, 20
MOST_NAME = 20  # letters


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
    height = TOP + ROW * len(results) + BOTTOM
    every = np.concatenate([result.scores.ravel() for result in results.values()])
    low, high = float(every.min()), float(every.max())
    margin = max(0.05 * (high - low), 0.005)
    low, high = low - margin, high + margin
    scale = (width - LEFT - RIGHT) / (high - low)
    parts = [
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="12" style="max-width: 100%; height: auto">'
        "<title>scores of the folds</title>"
    ]
    first = next(iter(results.values()))
    for value in _ticks(low, high):
        x = LEFT + (value - low) * scale
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - BOTTOM}" stroke="var(--line, #ccc)"/>'
            f'<text x="{x:.1f}" y="{height - BOTTOM + 16}" text-anchor="middle" fill="var(--soft, #666)">'
            f"{escape(_tick(first, value))}</text>"
        )
    for row, (name, result) in enumerate(results.items()):
        parts.append(_row(name, result, TOP + ROW * row + ROW / 2, low, scale, row))
    return "".join([*parts, "</svg>"])


def _row(name: str, result: Evaluation, y: float, low: float, scale: float, number: int) -> str:
    short = name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"
    color, mean = f"var(--class-{number % 8}, #0072b2)", LEFT + (result.mean - low) * scale
    text = (
        f'<text x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end" fill="currentColor">{escape(short)}</text>'
    )
    dots = []
    for r, scores in enumerate(result.scores):
        for f, score in enumerate(scores):
            # folds with equal scores lie side by side: their places depend on the number of the fold alone
            up = y + ((f * 7 + r * 3) % 11 - 5) * 1.6
            tip = escape(f"repeat {r}, fold {f}: {result.format_score(float(score))}")
            x = LEFT + (float(score) - low) * scale
            dots.append(
                f'<circle cx="{x:.1f}" cy="{up:.1f}" r="4" style="fill: {color}" fill-opacity="0.65">'
                f"<title>{tip}</title></circle>"
            )
    ends = f'x1="{mean:.1f}" x2="{mean:.1f}" y1="{y - 13}" y2="{y + 13}"'
    return f'{text}{"".join(dots)}<line {ends} stroke="currentColor" stroke-width="2"/>'


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers."""
    raw = (high - low) / 5
    unit = 10.0 ** np.floor(np.log10(raw))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= raw)
    first = np.ceil(low / step)
    return [float(step * k) for k in np.arange(first, np.floor(high / step) + 1)]


def _tick(result: Evaluation, value: float) -> str:
    return f"{100 * value:.3g} %" if result.metric == "accuracy" else f"{value:.3g}"
