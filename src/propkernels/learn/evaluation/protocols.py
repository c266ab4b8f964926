"""Protocols of cross-validation: stratified, group-aware, leave-one-out, for classes and for numbers."""

from __future__ import annotations

import warnings
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
    check_cv,
)

from propkernels.learn.selection.folds import Fold, Indices, Seeds, small_classes_allowed
from propkernels.utils.checks import check_integer, shown

LEAVE_ONE_OUT = "loo"
DEFAULT_FOLDS = 10
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
    cv : splitter or iterable of (train, test), optional
        The outer split, in place of ``n_folds``.
    """

    n_folds: int | str
    inner_folds: int | str
    groups: NDArray[np.int64] | None
    is_classification: bool
    cv: Any = None

    @property
    def name(self) -> str:
        """The outer split in words."""
        if self.cv is not None:
            return type(self.cv).__name__ if hasattr(self.cv, "split") else "given folds"
        if self.n_folds == LEAVE_ONE_OUT:
            return "leave-one-out" if self.groups is None else "leave-one-group-out"
        kind = "stratified " if self.is_classification else ""
        return f"{kind}{self.n_folds}-fold" + ("" if self.groups is None else " by groups")

    def folds(self, target: NDArray[Any], seeds: Seeds, has_choice: bool) -> list[Fold]:
        """Split, and split every training part again where there is something to choose."""
        everyone = np.arange(len(target))
        outer = self._outer(everyone, target, seeds.outer)
        return [
            Fold(train, test, self._inner(train, target, seeds.inner) if has_choice else ())
            for train, test in outer
        ]

    def _outer(self, everyone: Indices, target: NDArray[Any], seed: int) -> Pairs:
        if self.cv is None:
            self._check_number(target)
            return self._split(everyone, target, self.n_folds, seed)
        splitter = check_cv(self.cv, target if self.is_classification else None)
        return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(everyone, target, self.groups)]

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


def default_folds(target: NDArray[Any], groups: Any, is_classification: bool) -> int:
    """Ten folds, or as many as the smallest class (or the groups, or the graphs) can give; at least two."""
    if groups is not None:
        most, what = len(np.unique(groups)), "there are only so many groups"
    elif is_classification:
        most, what = int(np.bincount(target).min()), "the smallest class has only so many graphs"
    else:
        most, what = len(target), "there are only so many graphs"
    n_folds = max(2, min(DEFAULT_FOLDS, most))
    if n_folds < DEFAULT_FOLDS:
        warnings.warn(f"{n_folds} folds instead of {DEFAULT_FOLDS}: {what}", UserWarning, stacklevel=3)
    return n_folds


def check_folds(value: Any, name: str) -> int | str:
    """Return a number of folds, or "loo"."""
    if isinstance(value, str):
        if value != LEAVE_ONE_OUT:
            raise ValueError(f'{name} must be a whole number or "loo", got {shown(value)}')
        return value
    return check_integer(value, name, 2)
