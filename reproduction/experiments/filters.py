"""Grid graphs: the neighborhoods and filter matrices of the paper, from our own grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels.graphs import GridDatabase, circular_neighborhood
from reproduction.drawings import new_figure
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.sections import Section, State

NAME = "filters"
SHAPE = (6, 7)
DIAGONAL = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
NEIGHBORHOODS: dict[str, Any] = {
    "square tiling": None,
    "4-neighborhood": "nearest",
    "8-neighborhood": np.ones((3, 3)) - np.diag([0.0, 1.0, 0.0]),
    "another neighborhood": DIAGONAL,
}
FILTERS = {"$N_{1,4}$": (1, 4), "$N_{1,8}$": (1, 8), "$N_{2,16}$": (2, 16)}


def jobs(scope: Scope) -> list[Job]:
    """Nothing has to be kept: the figure takes a moment."""
    return []


def sections(state: State) -> list[Section]:
    """Return the figure."""
    return [Section("Grid Graph: neighborhoods and filters", figures={"filters": draw})]


def draw() -> Any:
    """Draw the neighborhoods as graphs, and the filters as matrices."""
    figure = new_figure(9.0, 5.0)
    graphs, matrices = figure.subfigures(2, 1, height_ratios=(1.0, 1.1))
    for ax, (title, neighborhood) in zip(graphs.subplots(1, 4), NEIGHBORHOODS.items(), strict=True):
        _draw_grid(ax, neighborhood)
        ax.set_title(title, fontsize="medium", pad=10)
    for ax, (title, name) in zip(matrices.subplots(1, 3), FILTERS.items(), strict=True):
        _draw_filter(ax, circular_neighborhood(*name))
        ax.set_title(title, fontsize="medium")
    return figure


def _draw_grid(ax: Any, neighborhood: Any) -> None:
    height, width = SHAPE
    ax.set_aspect("equal")
    ax.set_axis_off()
    if neighborhood is None:
        ax.hlines(np.arange(height + 1) - 0.5, -0.5, width - 0.5, color="0.5", linewidth=0.8)
        ax.vlines(np.arange(width + 1) - 0.5, -0.5, height - 0.5, color="0.5", linewidth=0.8)
        return
    edges = GridDatabase([np.zeros(SHAPE, dtype=int)]).to_graphs(neighborhood).adjacency.tocoo()
    rows, columns = (np.unravel_index(ends, SHAPE) for ends in (edges.row, edges.col))
    ax.plot([rows[1], columns[1]], [rows[0], columns[0]], color="black", linewidth=0.8, zorder=1)
    places = np.indices(SHAPE).reshape(2, -1)
    ax.scatter(places[1], places[0], s=28, color="0.8", edgecolors="black", linewidths=0.6, zorder=2)


def _draw_filter(ax: Any, matrix: Any) -> None:
    ax.imshow(matrix, cmap="Blues", vmin=0, vmax=0.3)
    for (row, column), value in np.ndenumerate(matrix):
        text = f"{value:.2f}".removesuffix("0").removesuffix(".0") if value else "0"
        ink = "white" if value > 0.2 else "black"
        ax.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)
    ax.set_xticks([])
    ax.set_yticks([])
