"""Classes in figures: one per graph, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_target(target: Any, n_graphs: int) -> NDArray[Any]:
    """Return one value per graph."""
    labels = np.asarray(target)
    if labels.shape != (n_graphs,):
        raise ValueError(
            f"target must hold one value for each of {n_graphs} graphs, got shape {labels.shape}"
        )
    return labels


def class_names(labels: NDArray[Any], names: Any) -> list[str]:
    """Return the names of the classes that occur, in the order of their labels."""
    classes = np.unique(labels)
    if names is None:
        return [str(label) for label in classes]
    given = [str(name) for name in names]
    if len(given) != len(classes):
        raise ValueError(f"target_names must name {len(classes)} classes, got {len(given)} names")
    return given
