"""Protocols of cross-validation: stratified, group-aware, leave-one-out, for classes and for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from propkernels.learn.selection.folds import Fold, Indices, Seeds, small_classes_allowed
from propkernels.utils.checks import check_integer

LEAVE_ONE_OUT = "loo"
Pairs = list[tuple[Indices, Indices]]


@dataclass(frozen=True)
class Protocol:
    """How graphs are split, outside and inside.

    Attributes
    ----------
    n_folds, inner_folds : int or "loo"
        Number of folds; "loo" leaves out one graph at a time, or one group.
    groups : ndarray or None
        Group of each graph: a group is never split, neither outside nor inside.
    is_classification : bool
        Whether folds are stratified by class.
    """

    n_folds: int | str
    inner_folds: int | str
    groups: NDArray[np.int64] | None
    is_classification: bool

    @property
    def name(self) -> str:
        """The outer split in words."""
        if self.n_folds == LEAVE_ONE_OUT:
            return "leave-one-out" if self.groups is None else "leave-one-group-out"
        kind = "stratified " if self.is_classification else ""
        return f"{kind}{self.n_folds}-fold" + ("" if self.groups is None else " by groups")

    def folds(self, target: NDArray[Any], seeds: Seeds, has_choice: bool) -> list[Fold]:
        """Split, and split every training part again where there is something to choose."""
        everyone = np.arange(len(target))
        self._check_number(target)
        outer = self._split(everyone, target, self.n_folds, seeds.outer)
        return [
            Fold(train, test, self._inner(train, target, seeds.inner) if has_choice else ())
            for train, test in outer
        ]

    def _inner(self, train: Indices, target: NDArray[Any], seed: int) -> tuple[tuple[Indices, Indices], ...]:
        n_folds = self.inner_folds
        if not isinstance(n_folds, str):
            n_folds = min(n_folds, self._most(train, target))
            if n_folds < 2:
                return ()
        return tuple(self._split(train, target, n_folds, seed))

    def _split(self, graphs: Indices, target: NDArray[Any], n_folds: int | str, seed: int) -> Pairs:
        groups = None if self.groups is None else self.groups[graphs]
        splitter = self._splitter(n_folds, seed)
        with small_classes_allowed():
            return [(graphs[a], graphs[b]) for a, b in splitter.split(graphs, target[graphs], groups)]

    def _splitter(self, n_folds: int | str, seed: int) -> Any:
        if isinstance(n_folds, str):
            return LeaveOneOut() if self.groups is None else LeaveOneGroupOut()
        if self.groups is None:
            kind: Any = StratifiedKFold if self.is_classification else KFold
        else:
            kind = StratifiedGroupKFold if self.is_classification else GroupKFold
        return kind(n_folds, shuffle=True, random_state=seed)

    def _most(self, graphs: Indices, target: NDArray[Any]) -> int:
        """Largest possible number of folds."""
        if self.groups is not None:
            return len(np.unique(self.groups[graphs]))
        return int(np.bincount(target[graphs]).max()) if self.is_classification else len(graphs)

    def _check_number(self, target: NDArray[Any]) -> None:
        most = self._most(np.arange(len(target)), target)
        if not isinstance(self.n_folds, str) and self.n_folds > most:
            limit = "the size of the largest class" if self.is_classification else "the number of graphs"
            limit = limit if self.groups is None else "the number of groups"
            raise ValueError(f"n_folds must be at most {most}, {limit}; got {self.n_folds}")


def check_folds(value: Any, name: str) -> int | str:
    """Return a number of folds, or "loo"."""
    if isinstance(value, str):
        if value != LEAVE_ONE_OUT:
            raise ValueError(f'{name} must be a whole number or "loo", got {value!r}')
        return value
    return check_integer(value, name, 2)


def check_groups(groups: Any, n_graphs: int) -> NDArray[np.int64] | None:
    """Return groups as numbers 0, 1, ...; at least two are needed."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.ndim != 1 or len(values) != n_graphs:
        raise ValueError(
            f"groups must have one value for each of {n_graphs} graphs, got shape {values.shape}"
        )
    names, numbers = np.unique(values, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups must name at least two groups, got only {names.tolist()}")
    return np.asarray(numbers, dtype=np.int64)
