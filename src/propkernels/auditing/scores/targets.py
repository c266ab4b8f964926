"""What is to be predicted: classes or numbers, checked once for all parts of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from propkernels.auditing.statistics import Spread, TargetCounts
from propkernels.learn.selection.folds import check_numbers


@dataclass(frozen=True)
class Target:
    """One value per graph.

    Attributes
    ----------
    values : ndarray
        Numbers of classes 0, 1, ... (int64), or numbers to be predicted (float64).
    classes : tuple of str
        What the classes are called; none where numbers are predicted.
    labels : tuple
        The classes as they were given.
    """

    values: NDArray[Any]
    classes: tuple[str, ...]
    labels: tuple[Any, ...] = ()

    @property
    def is_classes(self) -> bool:
        """Whether classes are predicted."""
        return bool(self.classes)

    def name(self, value: Any) -> str:
        """A value as people read it."""
        return self.classes[int(value)] if self.is_classes else f"{value:.4g}"

    def take(self, positions: NDArray[Any]) -> Target:
        """Values at some positions."""
        return Target(self.values[positions], self.classes, self.labels)

    def counts(self) -> TargetCounts:
        """Balance of the classes, or the spread of the numbers."""
        if not self.is_classes:
            return TargetCounts("numbers", spread=Spread.of(self.values))
        counts = np.bincount(self.values, minlength=len(self.classes))
        return TargetCounts("classes", self.classes, tuple(counts.tolist()))


def check_audit_target(
    target: Any, n_graphs: int, names: Sequence[str], like: Target | None = None
) -> Target:
    """Return classes, or numbers where they have fractions; ``like``: what the training graphs have.

    Parameters
    ----------
    target : array-like of shape (n,)
    n_graphs : int
    names : sequence of str
        What the classes are called, in the order of their sorted labels; may be empty.
    like : Target, optional
        The target of the training graphs, whose kind and classes are meant.
    """
    values = np.asarray(target)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"an audit takes one target per graph, got shape {values.shape}: choose a column")
    if len(values) != n_graphs:
        raise ValueError(f"target has {len(values)} values for {n_graphs} graphs")
    is_number = values.dtype.kind == "f" and type_of_target(values[np.isfinite(values)]) == "continuous"
    if is_number if like is None else not like.is_classes:
        return Target(check_numbers(values, n_graphs), ())
    return _classes(values, names, like)


def _classes(values: NDArray[Any], names: Sequence[str], like: Target | None) -> Target:
    found, numbers = np.unique(values, return_inverse=True)
    labels = tuple(found.tolist())
    if like is None:
        texts = names if len(names) == len(labels) else [str(label) for label in labels]
        return Target(numbers.astype(np.int64), tuple(texts), labels)
    strange = [label for label in labels if label not in like.labels]
    if strange:
        raise ValueError(f"the test graphs have a class {strange[0]!r} that no training graph has")
    places = np.array([like.labels.index(label) for label in labels], dtype=np.int64)
    return Target(places[numbers], like.classes, like.labels)
