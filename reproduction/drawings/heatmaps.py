"""Parameter sensitivity: one map of accuracies a data set, plain and normalised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.drawings.canvas import new_figure

# accuracy by (exponent of w, t_max)
Points = Mapping[tuple[int, int], float]
MOST_TICKS = 10  # labels of two digits that fit below a map


def draw_heatmaps(maps: Mapping[tuple[str, str], Points]) -> Any:
    """Draw a map for each data set and variant, side by side on one scale of colours a data set.

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
            ax.set_title(f"{dataset}{', normalised' if variant == 'normalized' else ''}", fontsize="medium")
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
