"""Small charts as SVG: drawn by hand, colored by the style of the page, readable in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels.auditing.statistics import Spread

if TYPE_CHECKING:
    from markupsafe import Markup

    from propkernels.auditing.rendering.outline import Chart

WIDTH, HEIGHT = 340, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 36
BAR = 22  # height of a row of horizontal bars


def draw_chart(chart: Chart) -> Markup:
    """Return a chart as an SVG element."""
    makers: dict[str, Callable[[Chart], str]] = {
        "histogram": _histogram,
        "bars": _bars,
        "line": _line,
        "reliability": _reliability,
    }
    from markupsafe import Markup

    return Markup(makers[chart.kind](chart))


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    name = _escaped(title)
    return (
        f'<svg class="pk-chart" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "pk-tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escaped(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str = "pk-rule") -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str = "pk-bar") -> str:
    size = f'width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size}/>'


def nice_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers between two limits.

    Examples
    --------
    >>> nice_ticks(0, 87), nice_ticks(0.42, 0.9)
    ([0.0, 25.0, 50.0, 75.0], [0.6, 0.8])
    """
    if not high > low:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    ticks = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    return [float(round(tick, 10)) + 0.0 for tick in ticks]  # -0 becomes 0


def short(value: float) -> str:
    """A number in few characters.

    Examples
    --------
    >>> short(12500.0), short(0.25), short(3.0), short(2500000.0)
    ('12.5k', '0.25', '3', '2.5M')
    """
    for limit, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if sign == 'k' else limit):.3g}{sign}"
    return f"{value:.4g}"


class Axes:
    """A rectangle of the chart, and where numbers lie in it."""

    def __init__(self, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        self.x_range, self.y_range = x_range, y_range

    def x(self, value: float) -> float:
        """Horizontal place of a number."""
        low, high = self.x_range
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / ((high - low) or 1.0)

    def y(self, value: float) -> float:
        """Vertical place of a number."""
        low, high = self.y_range
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (value - low) / ((high - low) or 1.0)

    def frame(self, x_name: str, y_name: str) -> list[str]:
        """Rules, numbers and names of both axes."""
        parts = []
        for tick in nice_ticks(*self.y_range):
            parts += [_rule(LEFT, self.y(tick), WIDTH - RIGHT, self.y(tick))]
            parts += [_text(LEFT - 5, self.y(tick) + 3.5, short(tick), "end")]
        for tick in nice_ticks(*self.x_range, about=5):
            parts.append(_text(self.x(tick), HEIGHT - BOTTOM + 14, short(tick)))
        parts.append(_rule(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "pk-axis"))
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_name, kind="pk-name"))
        middle = (TOP + HEIGHT - BOTTOM) / 2
        turned = (
            f'<text class="pk-name" transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor="middle">'
        )
        return [*parts, f"{turned}{_escaped(y_name)}</text>"]


def _histogram(chart: Chart) -> str:
    spread: Spread = chart.data
    axes = Axes((spread.edges[0], spread.edges[-1]), (0.0, float(max(spread.counts))))
    parts = axes.frame(chart.x, chart.y)
    for left, right, count in zip(spread.edges, spread.edges[1:], spread.counts, strict=False):
        x = axes.x(left) + 0.5
        parts.append(_rect(x, axes.y(count), axes.x(right) - x - 0.5, axes.y(0) - axes.y(count)))
    return _svg(f"{chart.title}: from {short(spread.least)} to {short(spread.most)}", HEIGHT, parts)


def _bars(chart: Chart) -> str:
    rows: Sequence[tuple[str, float, float]] = chart.data
    is_score = any(error for _, _, error in rows) or chart.x in ("accuracy", "R^2")
    least, most = min(0.0, *(v - e for _, v, e in rows)), max(v + e for _, v, e in rows) or 1.0
    names = 128 if max(len(name) for name, _, _ in rows) > 8 else 60
    right = 44 if not is_score else 74 if chart.x == "accuracy" else 96
    height = BAR * len(rows) + 8

    def place(value: float) -> float:
        return names + (WIDTH - names - right) * (value - least) / ((most - least) or 1.0)

    parts = []
    for row, (name, value, error) in enumerate(rows):
        y = 4 + BAR * row
        middle = y + BAR / 2
        parts += _wrapped(names - 6, middle, name, 22 if names == 128 else 9)
        left, end = min(place(0.0), place(value)), max(place(0.0), place(value))
        parts.append(_rect(left, y + 4, end - left, BAR - 8))
        if error:
            parts.append(_rule(place(value - error), middle, place(value + error), middle, "pk-error"))
        text = short(value) if not is_score else _score(value, error, chart.x)
        parts.append(_text(max(end, place(value + error)) + 5, middle + 3.5, text, "start"))
    return _svg(chart.title, height, parts)


def _score(value: float, error: float, metric: str) -> str:
    if metric == "accuracy":
        return f"{100 * value:.1f} ± {100 * error:.1f}"
    return f"{value:.3f} ± {error:.3f}"


def _wrapped(x: float, y: float, text: str, width: int) -> list[str]:
    """A name in one line, or in two smaller ones; longer ones are cut."""
    if len(text) <= width:
        return [_text(x, y + 3.5, text, "end")]
    words, first = text.split(), ""
    while words and len(f"{first} {words[0]}".strip()) <= width + 6:
        first = f"{first} {words.pop(0)}".strip()
    rest = " ".join(words)
    if not first:
        return [_text(x, y + 3.5, text[: width - 1] + "…", "end")]
    if not rest:
        return [_text(x, y + 3.5, first, "end", "pk-small")]
    rest = rest if len(rest) <= width + 6 else rest[: width + 5] + "…"
    return [_text(x, y - 1.5, first, "end", "pk-small"), _text(x, y + 8, rest, "end", "pk-small")]


def _line(chart: Chart) -> str:
    points: Sequence[tuple[float, float, float]] = chart.data
    low = min(y - e for _, y, e in points)
    high = max(y + e for _, y, e in points)
    room = 0.1 * (high - low) or 0.05
    axes = Axes((0.0, 1.03 * max(x for x, _, _ in points)), (low - room, high + room))
    parts = axes.frame(chart.x, chart.y)
    path = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y, _ in points)
    parts.append(f'<polyline class="pk-line" points="{path}"/>')
    for x, y, error in points:
        parts.append(_rule(axes.x(x), axes.y(y - error), axes.x(x), axes.y(y + error), "pk-error"))
        parts.append(f'<circle class="pk-dot" cx="{axes.x(x):.1f}" cy="{axes.y(y):.1f}" r="3.5"/>')
    return _svg(chart.title, HEIGHT, parts)


def _reliability(chart: Chart) -> str:
    report: Any = chart.data
    axes = Axes((0.0, 1.0), (0.0, 1.0))
    parts = axes.frame(chart.x, chart.y)
    parts.append(_rule(axes.x(0), axes.y(0), axes.x(1), axes.y(1), "pk-ideal"))
    most = max(report.counts)
    for stated, seen, count in zip(report.confidence, report.observed, report.counts, strict=True):
        radius = 2.5 + 5.5 * float(np.sqrt(count / most))
        parts.append(
            f'<circle class="pk-dot" cx="{axes.x(stated):.1f}" cy="{axes.y(seen):.1f}" r="{radius:.1f}"/>'
        )
    return _svg(chart.title, HEIGHT, parts)
