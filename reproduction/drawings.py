"""The drawings behind the figures that are measured: curves, heat maps, and runtime against accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

CURVE_COLORS = {"PK": "C0", "WL": "C1", "LABELS": "0.5", "LP+WL": "C2"}
# rows of (x, y, standard error)
Curve = Sequence[tuple[float, float, float]]
# accuracy by (exponent of w, t_max)
Points = Mapping[tuple[int, int], float]
MOST_TICKS = 10  # labels of two digits that fit below a map
METHOD_COLORS = {
    "PK": "tab:blue",
    "P2K": "tab:cyan",
    "WL": "tab:orange",
    "SP": "tab:green",
    "GH": "tab:red",
    "CSM": "tab:purple",
    "A": "0.45",
}
SHAPES = {"labels": "s", "attr": "^", "labels+attr": "D"}
# rows of (method, information, seconds, accuracy, standard deviation)
Markers = Sequence[tuple[str, str, float, float, float]]


def new_figure(width: float, height: float) -> Any:
    """Return a matplotlib figure that belongs to no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def draw_runtime(curves: Mapping[str, Curve], dataset: str) -> Any:
    """Draw seconds against the number of iterations, one curve per method."""
    figure = new_figure(5.0, 3.6)
    ax = figure.subplots()
    _draw_curves(ax, curves)
    ax.set_yscale("log")
    ax.set_xlabel("iterations")
    ax.set_ylabel("processor seconds")
    ax.set_title(f"{dataset}, half of the labels missing", fontsize="medium")
    ax.legend(frameon=False)
    return figure


def _draw_curves(ax: Any, curves: Mapping[str, Curve]) -> None:
    for method, curve in curves.items():
        x, y, error = zip(*curve, strict=True)
        ax.errorbar(
            x,
            y,
            error,
            color=CURVE_COLORS.get(method, "C3"),
            marker="o",
            markersize=3.5,
            capsize=2,
            linewidth=1.2,
            label=method,
        )
    ax.spines[["top", "right"]].set_visible(False)


def draw_heatmaps(maps: Mapping[tuple[str, str], Points]) -> Any:
    """Draw a map for each data set and variant, side by side on one color scale per data set.

    Parameters
    ----------
    maps : mapping from (data set, "plain" or "normalized") to points
    """
    datasets = list(dict.fromkeys(dataset for dataset, _ in maps))
    figure = new_figure(7.2, 2.5 * len(datasets))
    grid = figure.subplots(len(datasets), 2, squeeze=False)
    for row, dataset in zip(grid, datasets, strict=True):
        values = [value for (name, _), points in maps.items() if name == dataset for value in points.values()]
        for ax, variant in zip(row, ("plain", "normalized"), strict=True):
            image = _draw_map(ax, maps[dataset, variant], min(values), max(values))
            ax.set_title(f"{dataset}{', normalized' if variant == 'normalized' else ''}", fontsize="medium")
        figure.colorbar(image, ax=list(row), label="accuracy, %")
    return figure


def _draw_map(ax: Any, points: Points, least: float, most: float) -> Any:
    exponents = sorted({w for w, _ in points})
    steps = sorted({t for _, t in points})
    table = to_table(points, exponents, steps)
    image = ax.imshow(table, vmin=least, vmax=most, cmap="viridis", aspect="auto", interpolation="nearest")
    row, column = np.unravel_index(int(np.nanargmax(table)), table.shape)
    ax.plot(column, row, marker="x", color="red", markersize=9, markeredgewidth=2)
    shown = range(0, len(steps), 1 if len(steps) <= MOST_TICKS else 2)
    ax.set_xticks(shown, [str(steps[column]) for column in shown])
    ax.set_yticks(range(len(exponents)), [f"$10^{{{w}}}$" for w in exponents])
    ax.set_xlabel("$t_{max}$")
    ax.set_ylabel("$w$")
    return image


def to_table(points: Points, exponents: list[int], steps: list[int]) -> NDArray[np.float64]:
    """Accuracies as a table; NaN where nothing was measured.

    Examples
    --------
    >>> to_table({(-2, 0): 80.0, (-1, 0): 70.0}, [-2, -1], [0]).tolist()
    [[80.0], [70.0]]
    """
    return np.array([[points.get((w, t), np.nan) for t in steps] for w in exponents])


def draw_runtime_and_accuracy(panels: Mapping[str, Markers]) -> Any:
    """Draw one panel per data set: fast and accurate methods are in the upper left corner."""
    figure = new_figure(8.4, 3.1 * ((len(panels) + 1) // 2))
    axes = figure.subplots((len(panels) + 1) // 2, 2, squeeze=False).ravel()
    for ax, (dataset, points) in zip(axes, panels.items(), strict=False):
        for method, information, seconds, accuracy, deviation in points:
            ax.errorbar(
                seconds,
                accuracy,
                deviation,
                color=METHOD_COLORS[method],
                marker=SHAPES[information],
                markersize=7,
                markeredgecolor="black",
                markeredgewidth=0.5,
                capsize=2,
                elinewidth=0.8,
            )
        _decades(ax, [seconds for _, _, seconds, _, _ in points])
        ax.set_title(dataset, fontsize="medium")
        ax.set_xlabel("processor seconds")
        ax.set_ylabel("accuracy, %")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[len(panels) :]:
        figure.delaxes(ax)
    figure.legend(handles=_legend(), loc="outside right center", frameon=False)
    return figure


def draw_strips(errors: Mapping[str, Mapping[str, float]], marked: str, label: str) -> Any:
    """Draw one row of points per method, smallest mean first, with a line at the mean; one method is marked.

    Parameters
    ----------
    errors : mapping from method to errors by data set
    marked : str
        The method in color.
    label : str
        Label of the axis.
    """
    means = {method: float(np.mean(list(of.values()))) for method, of in errors.items()}
    order = sorted(means, key=lambda method: -means[method])
    figure = new_figure(7.2, 0.27 * len(order) + 0.8)
    ax = figure.subplots()
    for row, method in enumerate(order):
        color, size = ("tab:blue", 16) if method == marked else ("0.6", 9)
        values = np.array(list(errors[method].values()))
        ax.scatter(values, np.full(len(values), row), s=size, color=color, alpha=0.75, linewidths=0)
        ax.plot([means[method]] * 2, [row - 0.36, row + 0.36], color="black", linewidth=1.5)
    ax.set_yticks(range(len(order)), [f"{method}   {means[method]:.3f}" for method in order])
    ax.get_yticklabels()[order.index(marked)].set(color="tab:blue", fontweight="bold")
    ax.set_xlabel(label)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


def _decades(ax: Any, seconds: Sequence[float]) -> None:
    """A logarithmic axis with two powers of ten at least, which alone are labeled."""
    from matplotlib.ticker import NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = log10(min(seconds)), log10(max(seconds))
    if floor(high) - ceil(low) < 1:
        ax.set_xlim(0.8 * 10.0 ** floor(low), 1.25 * 10.0 ** max(ceil(high), floor(low) + 1))


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D

    methods = [
        Line2D([], [], color=color, marker="o", ls="", label=name) for name, color in METHOD_COLORS.items()
    ]
    shapes = [Line2D([], [], color="white", marker="", ls="", label="")]
    shapes += [
        Line2D([], [], color="black", marker=m, ls="", mfc="white", label=n) for n, m in SHAPES.items()
    ]
    return methods + shapes
