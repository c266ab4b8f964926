"""Target of an audit: classes or numbers, as columns of ridge regression, and scores of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import has_fractions
from propkernels._utils.locks import cached_property
from propkernels.explain.decisions import DecisionLayout
from propkernels.models.targets import check_numbers, known_targets

TIE_BREAK = 1e-6  # weight of squared errors beside the loss


@dataclass(frozen=True)
class Target:
    """One value per graph.

    Attributes
    ----------
    values : ndarray
        Class numbers 0, 1, ... (int64; -1: missing), or real numbers (float64; NaN: missing).
    classes : tuple of str
        Names of the classes; empty for regression.
    labels : tuple
        The class labels of the user.
    """

    values: NDArray[Any]
    classes: tuple[str, ...]
    labels: tuple[Any, ...] = ()

    @property
    def is_classes(self) -> bool:
        """Whether the target has classes; otherwise, it has numbers."""
        return bool(self.classes)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each graph has a target."""
        return np.asarray(self.values >= 0 if self.is_classes else ~np.isnan(self.values))

    def name(self, value: Any) -> str:
        """Return the name of a class, or a number with four digits."""
        if value < 0 if self.is_classes else np.isnan(value):
            return "no target"
        return self.classes[int(value)] if self.is_classes else f"{value:.4g}"

    def differs(self, graphs: list[int]) -> bool:
        """Return whether the known targets of some graphs differ."""
        return len(np.unique(self.values[graphs][self.known[graphs]])) > 1

    def take(self, positions: NDArray[Any]) -> Target:
        """Return the target of the graphs at the given positions."""
        return Target(self.values[positions], self.classes, self.labels)

    @cached_property
    def columns(self) -> NDArray[np.float64]:
        """Targets of least squares: 1 and -1 for classes, or the standardized numbers."""
        if not self.is_classes:
            return np.asarray((self.values - self.values.mean()) / self._unit)[:, None]
        positive = np.arange(len(self.classes))[1 if len(self.classes) == 2 else 0 :]
        return np.where(self.values[:, None] == positive, 1.0, -1.0)

    def predictions(self, decisions: NDArray[Any]) -> NDArray[Any]:
        """Return the predicted class numbers or real numbers."""
        if self.is_classes:
            return DecisionLayout(len(self.classes)).predictions(decisions)
        return np.asarray(decisions[:, 0] * self._unit + self.values.mean())

    @property
    def _unit(self) -> float:
        return float(self.values.std()) or 1.0

    def losses(self, decisions: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of each graph: 1 for a wrong class, or the squared error in standard deviations."""
        if self.is_classes:
            return (self.predictions(decisions) != self.values[places]).astype(np.float64)
        return np.asarray((decisions[:, 0] - self.columns[places, 0]) ** 2)

    def loss(self, decisions: NDArray[Any], places: NDArray[np.int64]) -> float:
        """Return the mean loss for the choice of settings, with squared errors to break ties."""
        squares = float(np.square(decisions - self.columns[places]).mean())
        return float(self.losses(decisions, places).mean()) + TIE_BREAK * squares

    def score(self, decisions: NDArray[Any], places: NDArray[np.int64]) -> float:
        """Return the accuracy, or R^2 against the mean of all graphs."""
        total = len(places) if self.is_classes else float(np.square(self.columns[places]).sum())
        return 1.0 - float(self.losses(decisions, places).sum()) / total if total else 0.0


def check_audit_target(
    target: Any, n_graphs: int, names: Sequence[str], like: Target | None = None
) -> Target:
    """Return a validated target: numbers if they have fractions, else classes.

    Parameters
    ----------
    target : array-like of shape (n,)
        Entries that are None or NaN are missing.
    n_graphs : int
    names : sequence of str
        Names of the classes, in the order of their sorted labels; may be empty.
    like : Target, optional
        Target of the training graphs, which determines the kind and the class numbers.
    """
    values = np.asarray(target)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"an audit takes one target per graph, got shape {values.shape}: select a column")
    if len(values) != n_graphs:
        raise ValueError(f"target has {len(values)} values for {n_graphs} graphs")
    known = known_targets(target if isinstance(target, np.ma.MaskedArray) else values, n_graphs)
    if has_fractions(known.target) if like is None else not like.is_classes:
        measured = np.full(n_graphs, np.nan)
        measured[known.places] = check_numbers(known.target, len(known.places), known.places)
        return Target(measured, ())
    distinct, numbers = np.unique(known.target, return_inverse=True)
    labels = tuple(distinct.tolist())
    if like is None:
        texts = names if len(names) == len(labels) else [str(label) for label in labels]
        like = Target(np.arange(0), tuple(texts), labels)
    strange = [label for label in labels if label not in like.labels]
    if strange:
        raise ValueError(f"the test graphs have a class {strange[0]!r} that no training graph has")
    classes = np.full(n_graphs, -1)
    classes[known.places] = np.array([like.labels.index(label) for label in labels])[numbers]
    return replace(like, values=classes)
