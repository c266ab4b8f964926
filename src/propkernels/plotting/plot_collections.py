"""plot_collections: a map of several collections of graphs, from the distances between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import kind_of
from propkernels._utils.label_places import label_places
from propkernels.plotting.canvas import one_axes
from propkernels.sets.several import Comparisons

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = NDArray[np.float64]
FONT = 9.0  # points
LETTER, LINE = 0.6 * FONT, 1.3 * FONT  # mean width of a letter and height of a line


def plot_collections(found: Comparisons, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw a map of several collections of graphs: near points are similar collections.

    Distances are as close to the MMD as a plane allows. Dashed lines join collections that the test does not
    tell apart; larger dots have more graphs.

    Parameters
    ----------
    found : Comparisons
        Result of :func:`propkernels.compare_several`.
    alpha : float, default=0.05
        Pairs with a larger adjusted p-value are joined.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    propkernels.compare_several : Distances, p-values and positions.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(90, random_state=0).graphs
    >>> years = {"2023": graphs[:30], "2024": graphs[30:60], "2025": graphs[60:]}
    >>> ax = pk.plotting.plot_collections(pk.compare_several(years, n_permutations=99))
    >>> [text.get_text() for text in ax.texts]
    ['2023', '2024', '2025']
    """
    if not isinstance(found, Comparisons):
        raise TypeError(f"found must be a result of compare_several, got {kind_of(found)}")
    ax, points = one_axes(ax, (5.0, 4.0)), found.positions
    joined = found.not_told_apart(alpha)
    for i, j in joined:
        ax.plot(*points[[i, j]].T, color="0.75", linewidth=1, linestyle="--", zorder=1)
    radii = 4.0 + 4.0 * np.sqrt(np.array(found.sizes) / max(found.sizes))
    colors = [f"C{i % 10}" for i in range(len(points))]
    ax.scatter(
        points[:, 0], points[:, 1], s=4.0 * radii**2, c=colors, edgecolors="white", linewidths=1, zorder=2
    )
    ax.margins(0.35)  # room for names
    ax.set_aspect("equal", adjustable="datalim")
    _write_names(ax, points, radii, found.names, joined)
    ax.set_xlabel("first coordinate, MMD")
    ax.set_ylabel("second coordinate, MMD")
    return ax


def _write_names(
    ax: Any, points: Points, radii: Points, names: list[str], joined: list[tuple[int, int]]
) -> None:
    """Write each name beside its point, away from other names and points."""
    ax.figure.draw_without_rendering()  # transData is final only after the layout
    per_point = ax.figure.dpi / 72
    places = ax.transData.transform(points) / per_point
    widths = [LETTER * len(name) for name in names]
    area = tuple((ax.bbox.extents / per_point).tolist())
    centers = label_places(places, radii.tolist(), widths, LINE, area=area, lines=joined)
    for name, point, offset in zip(names, points, centers - places, strict=True):
        ax.annotate(
            name,
            point,
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=FONT,
            arrowprops={"arrowstyle": "-", "color": "0.7"} if abs(offset[1]) > 2 * LINE else None,
        )
