"""Helpers shared by all figures: axes, text colors, target values and class names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.checks import kind_of
from propkernels._utils.optional import import_optional


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``; without matplotlib, raise an error that names the extra to install."""
    return import_optional("matplotlib.pyplot", extra="plot", purpose="plots need")


def one_axes(ax: Any, size: tuple[float, float] = (5.0, 4.2)) -> Any:
    """Return ``ax``, or the axes of a new figure if it is None."""
    pyplot = import_pyplot()
    if ax is None:
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    if not hasattr(ax, "imshow"):
        raise TypeError(f"ax must be matplotlib axes, got {kind_of(ax)}")
    return ax


def several_axes(ax: Any, n: int, columns: int = 4) -> list[Any]:
    """Return n axes: those of ``ax``, or those of a new figure with ``columns`` axes per row."""
    pyplot = import_pyplot()
    if ax is not None:
        given = list(np.ravel(np.array(ax, dtype=object)))
        if len(given) != n:
            raise ValueError(f"ax must hold {n} axes, one per iteration; got {len(given)}")
        return [one_axes(axes) for axes in given]
    columns = min(n, columns)
    rows = -(-n // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(2.9 * columns + 0.9, 2.8 * rows), layout="constrained", squeeze=False
    )
    for empty in grid.ravel()[n:]:
        figure.delaxes(empty)
    return list(grid.ravel()[:n])


def text_color(background: Sequence[float]) -> str:
    """Return "black" or "white", whichever is easier to read on a background color.

    Examples
    --------
    >>> text_color((1.0, 1.0, 0.9)), text_color((0.1, 0.1, 0.4))
    ('black', 'white')
    """
    red, green, blue = background[:3]
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def check_target(target: ArrayLike, n_graphs: int) -> NDArray[Any]:
    """Return the target as an array with one value per graph."""
    labels = np.asarray(target)
    if labels.shape != (n_graphs,):
        raise ValueError(
            f"target must hold one value for each of {n_graphs} graphs, got shape {labels.shape}"
        )
    return labels


def class_names(labels: NDArray[Any], names: Sequence[str] | None) -> list[str]:
    """Return one name per class in ``labels``, in the order of the sorted labels."""
    classes = np.unique(labels)
    if names is None:
        return [str(label) for label in classes]
    given = [str(name) for name in names]
    if len(given) != len(classes):
        raise ValueError(f"target_names must name {len(classes)} classes, got {len(given)} names")
    return given
