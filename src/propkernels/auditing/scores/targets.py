"""What is to be predicted: classes or numbers, checked once for all parts of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.auditing.statistics import Spread, TargetCounts
from propkernels.learn.selection.targets import check_numbers, known_targets
from propkernels.utils.columns import has_fractions


@dataclass(frozen=True)
class Target:
    """One value per graph.

    Attributes
    ----------
    values : ndarray
        Numbers of classes 0, 1, ... (int64; -1: missing), or numbers to be predicted (float64; NaN: missing).
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

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each graph has a target."""
        return np.asarray(self.values >= 0 if self.is_classes else ~np.isnan(self.values))

    def name(self, value: Any) -> str:
        """A value as people read it."""
        if value < 0 if self.is_classes else np.isnan(value):
            return "no target"
        return self.classes[int(value)] if self.is_classes else f"{value:.4g}"

    def take(self, positions: NDArray[Any]) -> Target:
        """Values at some positions."""
        return Target(self.values[positions], self.classes, self.labels)

    def counts(self) -> TargetCounts:
        """Balance of the classes, or the spread of the numbers."""
        missing = int(np.count_nonzero(~self.known))
        if not self.is_classes:
            return TargetCounts("numbers", spread=Spread.of(self.values), missing=missing)
        counts = np.bincount(self.values[self.known], minlength=len(self.classes))
        return TargetCounts("classes", self.classes, tuple(counts.tolist()), missing=missing)


def check_audit_target(
    target: Any, n_graphs: int, names: Sequence[str], like: Target | None = None
) -> Target:
    """Return classes, or numbers where they have fractions; ``like``: what the training graphs have.

    Parameters
    ----------
    target : array-like of shape (n,)
        Entries that are None or NaN are missing.
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
    known = known_targets(target if isinstance(target, np.ma.MaskedArray) else values, n_graphs)
    if has_fractions(known.target) if like is None else not like.is_classes:
        numbers = np.full(n_graphs, np.nan)
        numbers[known.places] = check_numbers(known.target, len(known.places), known.places)
        return Target(numbers, ())
    found = _classes(known.target, names, like)
    classes = np.full(n_graphs, -1)
    classes[known.places] = found.values
    return replace(found, values=classes)


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
