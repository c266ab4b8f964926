"""Curves: accuracy against the share of labels that are hidden or wrong; time against iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reproduction.drawings.canvas import new_figure

COLORS = {"PK": "C0", "WL": "C1", "LABELS": "0.5", "LP+WL": "C2"}
# rows of (x, y, standard error)
Curve = Sequence[tuple[float, float, float]]


def draw_noise(panels: Mapping[tuple[str, str], Mapping[str, Curve]]) -> Any:
    """Draw one panel a data set and kind of noise, one curve a method.

    Parameters
    ----------
    panels : mapping from (data set, kind) to curves by method
    """
    datasets = list(dict.fromkeys(dataset for dataset, _ in panels))
    kinds = list(dict.fromkeys(kind for _, kind in panels))
    figure = new_figure(3.6 * len(kinds), 2.4 * len(datasets))
    grid = figure.subplots(len(datasets), len(kinds), squeeze=False, sharex=True, sharey="row")
    for row, dataset in zip(grid, datasets, strict=True):
        for ax, kind in zip(row, kinds, strict=True):
            _draw_curves(ax, panels.get((dataset, kind), {}))
            ax.set_title(f"{dataset}, labels {kind}", fontsize="medium")
        row[0].set_ylabel("accuracy, %")
    for ax in grid[-1]:
        ax.set_xlabel("share of the labels, %")
    lines, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=len(names), frameon=False)
    return figure


def draw_runtime(curves: Mapping[str, Curve], dataset: str) -> Any:
    """Draw seconds against the number of iterations, one curve a method."""
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
            color=COLORS.get(method, "C3"),
            marker="o",
            markersize=3.5,
            capsize=2,
            linewidth=1.2,
            label=method,
        )
    ax.spines[["top", "right"]].set_visible(False)
