"""Folds: training and test graphs, and inner folds for model selection."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

Indices = NDArray[np.int64]
Folds = Sequence[tuple[Indices, Indices]]
_MOST = 2**31 - 1
DEFAULT_FOLDS = 5  # number of inner folds for model selection


class Seeds(NamedTuple):
    """Seeds of one repeat."""

    kernel: int
    outer: int
    inner: int


@dataclass(frozen=True)
class Fold:
    """One fold; ``inner`` holds pairs (fit, validate) of positions within ``train``."""

    train: Indices
    test: Indices
    inner: tuple[tuple[Indices, Indices], ...]


def draw_seeds(random_state: Any, repeats: int) -> list[Seeds]:
    """Return seeds for each repeat; the first seeds do not depend on the number of repeats.

    Examples
    --------
    >>> draw_seeds(0, 3)[:2] == draw_seeds(0, 2)
    True
    """
    table = check_random_state(random_state).randint(_MOST, size=(repeats, len(Seeds._fields)))
    return [Seeds(*row) for row in table.tolist()]


def choosing_folds(
    target: NDArray[Any], n_folds: int | None, cv: Any, groups: Any, seed: int
) -> tuple[tuple[Indices, Indices], ...]:
    """Return folds for model selection: those of a scikit-learn splitter, or shuffled folds.

    Classes are stratified, groups are never split. By default there are five folds, or as many as the
    smallest class has graphs (or as there are groups), but at least two.
    """
    is_class = target.ndim == 1 and target.dtype.kind in "iu"
    everyone = np.arange(len(target))
    if cv is not None:
        splitter = check_cv(cv, target if is_class else None, classifier=is_class)
        return tuple((np.asarray(a), np.asarray(b)) for a, b in splitter.split(everyone, target, groups))
    most = _most_folds(target, groups, is_class, n_folds is None)
    n_folds = min(DEFAULT_FOLDS if n_folds is None else n_folds, most)
    if n_folds < 2:
        return ()
    if groups is None:
        kind: Any = StratifiedKFold if is_class else KFold
    else:
        kind = StratifiedGroupKFold if is_class else GroupKFold
    with small_classes_allowed():
        split = kind(n_folds, shuffle=True, random_state=seed).split(everyone, target, groups)
        return tuple((train, test) for train, test in split)


def _most_folds(target: NDArray[Any], groups: Any, is_class: bool, is_default: bool) -> int:
    """Return the largest number of folds: size of the largest class, or by default of the smallest."""
    if groups is not None:
        return len(np.unique(groups))
    if not is_class:
        return len(target)
    sizes = np.bincount(target)
    return max(2, int(sizes.min())) if is_default and sizes.max() > 1 else int(sizes.max())


def inner_folds(target: NDArray[np.int64], n_folds: int, seed: int) -> tuple[tuple[Indices, Indices], ...]:
    """Return stratified folds of a training set; at most as many as the largest class has graphs."""
    n_folds = min(n_folds, int(np.bincount(target).max()))
    if n_folds < 2:
        return ()
    cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with small_classes_allowed():
        return tuple(cv.split(target, target))


def check_groups(groups: Any, n_graphs: int) -> NDArray[np.int64] | None:
    """Return groups as integers 0, 1, ...; raise if there are fewer than two."""
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


@contextmanager
def small_classes_allowed() -> Iterator[None]:
    """Silence scikit-learn's warning about classes with fewer graphs than folds."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        yield
