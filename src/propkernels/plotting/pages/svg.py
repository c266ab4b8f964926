"""SVG drawings for pages and notebooks: elements, axes, charts, node-link diagrams and pixel images.

Texts are escaped. Colors are variables of the shared style (``plotting/static/style.css``), so that drawings
adapt to light and dark pages. Drawings contain no scripts.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

WIDTH, HEIGHT = 340, 200  # of a chart
WIDE = 480  # of a chart with a row of dots per name
ROW = 22  # height of a row of a chart with one row per name
LONGEST_EDGE = 40.0  # pixels
SMALLEST, LARGEST = 2.0, 11.0  # radius of a node
SMALLEST_LABELED = 4.0  # radius below which a node's label does not fit
MARGIN = 16  # around a graph
N_COLORS = 8  # --class-0 to --class-7

Points = NDArray[np.float64]
Show = Callable[[float], str]


# Elements


def element(tag: str, content: str = "", /, **attributes: Any) -> str:
    """Return an element with markup as content and escaped attributes.

    Underscores in names become hyphens (``stroke_width``), trailing ones are removed (``class_``); attributes
    that are None are omitted.

    Examples
    --------
    >>> element("line", x1=0.25, stroke_width=2), element("text", "a", class_="<b>")
    ('<line x1="0.2" stroke-width="2"/>', '<text class="&lt;b&gt;">a</text>')
    """
    parts = [
        f' {name.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for name, value in attributes.items()
        if value is not None
    ]
    opened = f"<{tag}{''.join(parts)}"
    return f"{opened}>{content}</{tag}>" if content else f"{opened}/>"


def _shown(value: Any) -> str:
    """Return a float with at most one decimal, any other value as text."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def drawing(
    content: str, size: tuple[float, float], title: str, is_fixed: bool = True, **attributes: Any
) -> str:
    """Return an ``svg`` element with a title, which is read by screen readers and shown as a tooltip.

    ``is_fixed``: the size is in pixels; otherwise the style of the page determines it.
    """
    width, height = map(_shown, size)
    pixel_size = {"width": width, "height": height} if is_fixed else {}
    named = element("title", escape(title)) + content
    return element("svg", named, **pixel_size, viewBox=f"0 0 {width} {height}", role="img", **attributes)


def text(x: float, y: float, content: str, anchor: str = "middle", **attributes: Any) -> str:
    """Return a text at a position."""
    return element("text", escape(content), x=float(x), y=float(y), text_anchor=anchor, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> str:
    """Return a straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def dot(x: float, y: float, radius: float, tip: str = "", **attributes: Any) -> str:
    """Return a circle with an optional tooltip."""
    tips = element("title", escape(tip)) if tip else ""
    return element("circle", tips, cx=float(x), cy=float(y), r=float(radius), **attributes)


def bar(x: float, y: float, width: float, height: float) -> str:
    """Return a filled rectangle."""
    size = {"width": max(float(width), 0.0), "height": max(float(height), 0.0)}
    return element("rect", class_="pk-bar", x=float(x), y=float(y), **size)


# Axes


@dataclass(frozen=True)
class Scale:
    """A linear map from numbers to pixels."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a number."""
        return self.start + (self.stop - self.start) * (value - self.low) / ((self.high - self.low) or 1.0)

    def ticks(self, about: int = 4) -> list[float]:
        """Return round numbers within the range.

        Examples
        --------
        >>> [Scale(low, high, 0, 1).ticks() for low, high in ((0, 87), (0.42, 0.9), (3, 3))]
        [[0.0, 25.0, 50.0, 75.0], [0.6, 0.8], [3]]
        """
        if not self.high > self.low:
            return [self.low]
        raw = (self.high - self.low) / about
        power = 10.0 ** np.floor(np.log10(raw))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
        first, last = np.ceil(self.low / step - 1e-9), np.floor(self.high / step + 1e-9)
        return [float(round(tick, 10)) + 0.0 for tick in np.arange(first, last + 1) * step]  # -0 becomes 0


def short(value: float) -> str:
    """Return a number in few characters.

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
    """Axes of a chart: two scales, and a frame with ticks and axis names."""

    def __init__(self, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        self.x = Scale(*x_range, 46, WIDTH - 12)
        self.y = Scale(*y_range, HEIGHT - 36, 10)

    def frame(self, x_name: str, y_name: str, show_y: Show = short) -> list[str]:
        """Return grid lines, ticks and axis names."""
        x, y = self.x, self.y
        parts = []
        for tick in y.ticks():
            parts.append(line(x.start, y(tick), x.stop, y(tick), class_="pk-rule"))
            parts.append(text(x.start - 5, y(tick) + 3.5, show_y(tick), "end"))
        parts += [text(x(tick), y.start + 14, short(tick)) for tick in x.ticks(5)]
        parts.append(line(x.start, y.start, x.stop, y.start, class_="pk-axis"))
        parts.append(text((x.start + x.stop) / 2, HEIGHT - 6, x_name))
        turned = f"translate(11 {(y.start + y.stop) / 2:.1f}) rotate(-90)"
        return [*parts, element("text", escape(y_name), transform=turned, text_anchor="middle")]


# Charts


def _chart(title: str, height: float, parts: Sequence[str]) -> str:
    return drawing("".join(parts), (WIDTH, height), title, is_fixed=False, class_="pk-chart")


def histogram(title: str, edges: Sequence[float], counts: Sequence[int], x_name: str, y_name: str) -> str:
    """Draw one bar per bin; ``edges`` has one number more than ``counts``."""
    axes = Axes((edges[0], edges[-1]), (0.0, float(max(counts))))
    parts, base = axes.frame(x_name, y_name), axes.y(0)
    for left, right, count in zip(edges, edges[1:], counts, strict=False):
        x, y = axes.x(left) + 0.5, axes.y(count)
        parts.append(bar(x, y, axes.x(right) - x - 0.5, base - y))
    return _chart(title, HEIGHT, parts)


def line_chart(
    title: str, points: Sequence[tuple[float, float, float]], x_name: str, y_name: str, show_y: Show = short
) -> str:
    """Draw a curve through points (x, y, error of y), with error bars; x starts at 0."""
    low, high = min(y - e for _, y, e in points), max(y + e for _, y, e in points)
    room = 0.1 * (high - low) or 0.05
    axes = Axes((0.0, 1.03 * max(x for x, _, _ in points)), (low - room, high + room))
    parts = axes.frame(x_name, y_name, show_y)
    path = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y, _ in points)
    parts.append(element("polyline", class_="pk-line", points=path))
    for x, y, error in points:
        parts.append(line(axes.x(x), axes.y(y - error), axes.x(x), axes.y(y + error), class_="pk-error"))
        parts.append(dot(axes.x(x), axes.y(y), 3.5, f"{show_y(y)} ± {show_y(error)}", class_="pk-dot"))
    return _chart(title, HEIGHT, parts)


def bar_chart(title: str, rows: Sequence[tuple[str, float]]) -> str:
    """Draw one horizontal bar per row (name, value), starting at 0."""
    left, letters = _name_column([name for name, _ in rows])
    scale = Scale(0.0, max(value for _, value in rows) or 1.0, left, WIDTH - 44)
    parts = []
    for row, (name, value) in enumerate(rows):
        middle = 4 + ROW * (row + 0.5)
        parts.append(_row_name(left - 6, middle, name, letters))
        parts.append(bar(left, middle - ROW / 2 + 4, scale(value) - left, ROW - 8))
        parts.append(text(scale(value) + 5, middle + 3.5, short(value), "start"))
    return _chart(title, ROW * len(rows) + 8, parts)


def dot_chart(
    title: str,
    rows: Sequence[tuple[str, float, float]],
    show: Show,
    show_pair: Callable[[float, float], str],
    reference: float | None = None,
) -> str:
    """Draw one dot with an error bar per row (name, value, error), on an axis that fits the values.

    Parameters
    ----------
    title : str
    rows : sequence of (str, float, float)
    show : callable
        Text of a tick.
    show_pair : callable
        Text of a value with its error.
    reference : float, optional
        Value at which a dashed line is drawn.
    """
    ends = [end for _, value, error in rows for end in (value - error, value + error)]
    low, high = (f([*ends, ends[0] if reference is None else reference]) for f in (min, max))
    room = 0.06 * (high - low) or 0.01
    left, letters = _name_column([name for name, _, _ in rows])
    scale, base = Scale(low - room, high + room, left, WIDTH - 84), 4 + ROW * len(rows)
    parts = _rules(scale, 4, base, show, 3)
    if reference is not None:
        parts.append(line(scale(reference), 4, scale(reference), base, class_="pk-ideal"))
    for row, (name, value, error) in enumerate(rows):
        middle = 4 + ROW * (row + 0.5)
        parts.append(_row_name(left - 6, middle, name, letters))
        parts.append(line(scale(value - error), middle, scale(value + error), middle, class_="pk-error"))
        parts.append(dot(scale(value), middle, 4, class_="pk-dot"))
        parts.append(text(WIDTH - 4, middle + 3.5, show_pair(value, error), "end"))
    return _chart(title, base + 20, parts)


@dataclass(frozen=True)
class Strip:
    """A row of a strip chart: a name, values with their tooltips, and the value of a mark."""

    name: str
    values: Sequence[tuple[float, str]]
    mark: float


def strip_chart(title: str, strips: Sequence[Strip], show: Show) -> str:
    """Draw one row per strip: one dot per value, jittered vertically, and a line at the mark."""
    every = [value for strip in strips for value, _ in strip.values]
    room, height = max(0.05 * (max(every) - min(every)), 0.005), 34
    scale = Scale(min(every) - room, max(every) + room, 140, WIDE - 20)
    base = 6 + height * len(strips)
    parts = _rules(scale, 6, base, show, 5)
    for row, strip in enumerate(strips):
        middle, color = 6 + height * (row + 0.5), f"fill: var(--class-{row % N_COLORS}, #0072b2)"
        parts.append(_row_name(130, middle, strip.name, 20))
        for i, (value, tip) in enumerate(strip.values):
            # a deterministic jitter by position in the strip keeps equal values apart
            y = middle + (i * 7 % 11 - 5) * 1.6
            parts.append(dot(scale(value), y, 4, tip, style=color, fill_opacity="0.65"))
        mark = scale(strip.mark)
        parts.append(line(mark, middle - 13, mark, middle + 13, stroke="currentColor", stroke_width=2))
    return drawing(
        "".join(parts),
        (WIDE, base + 26),
        title,
        class_="pk-chart pk-wide",
        style="max-width: 100%; height: auto",
    )


def _rules(scale: Scale, top: float, base: float, show: Show, about: int) -> list[str]:
    """Return vertical grid lines at ticks, with their texts below."""
    parts = []
    for tick in scale.ticks(about):
        parts.append(line(scale(tick), top, scale(tick), base, class_="pk-rule"))
        parts.append(text(scale(tick), base + 14, show(tick)))
    return parts


def _name_column(names: Sequence[str]) -> tuple[float, int]:
    """Return the width of the name column in pixels, and the number of letters per line."""
    return (128, 22) if max(map(len, names)) > 8 else (60, 9)


def _row_name(x: float, y: float, name: str, letters: int) -> str:
    """Return a name in one line, truncated if necessary."""
    return text(x, y + 3.5, name if len(name) <= letters else name[: letters - 1] + "…", "end")


# Graphs


@dataclass(frozen=True)
class Node:
    """Appearance of a node.

    Attributes
    ----------
    label : str
        Text in the node, drawn if it has one to three letters.
    tip : str
        Tooltip.
    fill, ink : str
        Colors of the node and of its label.
    is_marked : bool
        Whether the node has a ring.
    """

    label: str
    tip: str
    fill: str
    ink: str
    is_marked: bool = False


def node_link(
    positions: Points, edges: NDArray[np.int64], nodes: Sequence[Node], size: tuple[int, int], title: str
) -> str:
    """Return a node-link diagram with equal scales on both axes.

    Parameters
    ----------
    positions : ndarray of shape (nodes, 2)
        Coordinates in any unit; y points upward.
    edges : ndarray of shape (edges, 2)
        Node numbers of both ends of each edge.
    nodes : sequence of Node
        At least one.
    size : pair of int
        Largest width and height in pixels.
    title : str
    """
    points = _fitted(positions, size)
    radius = _radius(points)
    lines = "".join(line(*points[a], *points[b]) for a, b in edges)
    circles = "".join(_node(node, x, y, radius) for node, (x, y) in zip(nodes, points, strict=True))
    content = element("g", lines, stroke="var(--soft, #888)", stroke_width=1.4) if lines else ""
    width, height = np.ceil(points.max(axis=0) + MARGIN).tolist()
    return drawing(content + element("g", circles, font_family="sans-serif"), (width, height), title)


def _fitted(positions: Points, size: tuple[int, int]) -> Points:
    """Return positions in pixels, with the origin at the top left."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scale = min(((np.array(size) - 2 * MARGIN) / np.maximum(high - low, 1e-9)).min(), LONGEST_EDGE)
    from_corner = np.stack([positions[:, 0] - low[0], high[1] - positions[:, 1]], axis=1)
    return np.asarray(from_corner * scale + MARGIN)


def _radius(points: Points) -> float:
    """Return a radius at which most nodes do not overlap."""
    if len(points) < 2:
        return LARGEST
    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(np.clip(0.42 * np.median(nearest), SMALLEST, LARGEST))


def _node(node: Node, x: float, y: float, radius: float) -> str:
    ring = {"stroke": "var(--ink, #000)", "stroke_width": 2.5}
    rim = {"stroke": "var(--soft, #666)", "stroke_width": 0.8}
    circle = dot(x, y, radius, node.tip, style=f"fill: {node.fill}", **(ring if node.is_marked else rim))
    if radius < SMALLEST_LABELED or not 0 < len(node.label) <= 3:
        return circle
    style = f"fill: {node.ink}; pointer-events: none; dominant-baseline: central"
    return circle + text(x, y, node.label, font_size=min(11.0, 1.15 * radius), style=style)


# Pictures


def pixels(picture: NDArray[np.uint8], alt: str, side: int) -> str:
    """Return an ``img`` of an RGB picture, enlarged by an integer factor to at most ``side`` pixels."""
    scale = max(1, side // max(picture.shape[:2]))
    data = b64encode(png(picture)).decode()
    return element(
        "img",
        alt=alt,
        height=picture.shape[0] * scale,
        width=picture.shape[1] * scale,
        style="image-rendering: pixelated",
        src=f"data:image/png;base64,{data}",
    )


def png(picture: NDArray[np.uint8]) -> bytes:
    """Return the bytes of a PNG file of an RGB picture, encoded with the standard library."""
    height, width, _ = picture.shape
    lines = b"".join(b"\x00" + picture[row].tobytes() for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
