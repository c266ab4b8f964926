"""Attributed graphs: runtime against accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

from reproduction.drawings.canvas import new_figure

COLORS = {
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
Points = Sequence[tuple[str, str, float, float, float]]


def draw_runtime_and_accuracy(panels: Mapping[str, Points]) -> Any:
    """Draw one panel a data set: fast and accurate methods are in the upper left corner."""
    figure = new_figure(8.4, 3.1 * ((len(panels) + 1) // 2))
    axes = figure.subplots((len(panels) + 1) // 2, 2, squeeze=False).ravel()
    for ax, (dataset, points) in zip(axes, panels.items(), strict=False):
        for method, information, seconds, accuracy, deviation in points:
            ax.errorbar(
                seconds,
                accuracy,
                deviation,
                color=COLORS[method],
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


def _decades(ax: Any, seconds: Sequence[float]) -> None:
    """A logarithmic axis with two powers of ten at least, which alone are labelled."""
    from matplotlib.ticker import NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = log10(min(seconds)), log10(max(seconds))
    if floor(high) - ceil(low) < 1:
        ax.set_xlim(0.8 * 10.0 ** floor(low), 1.25 * 10.0 ** max(ceil(high), floor(low) + 1))


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D

    methods = [Line2D([], [], color=color, marker="o", ls="", label=name) for name, color in COLORS.items()]
    shapes = [Line2D([], [], color="white", marker="", ls="", label="")]
    shapes += [
        Line2D([], [], color="black", marker=m, ls="", mfc="white", label=n) for n, m in SHAPES.items()
    ]
    return methods + shapes
