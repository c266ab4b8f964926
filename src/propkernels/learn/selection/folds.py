"""Folds: what is learned from, what is tested on, and the folds inside for choosing."""

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
from sklearn.utils.multiclass import type_of_target

Indices = NDArray[np.int64]
Folds = Sequence[tuple[Indices, Indices]]
_MOST = 2**31 - 1
DEFAULT_FOLDS = 5  # of the choice, where nobody sets their number


class Seeds(NamedTuple):
    """Seeds of one repeat."""

    kernel: int
    outer: int
    inner: int


@dataclass(frozen=True)
class Fold:
    """One fold; ``inner`` are pairs of positions to fit on and to validate on, all within ``train``."""

    train: Indices
    test: Indices
    inner: tuple[tuple[Indices, Indices], ...]


def draw_seeds(random_state: Any, repeats: int) -> list[Seeds]:
    """Return seeds for each repeat; the first are the same, however many are drawn.

    Examples
    --------
    >>> draw_seeds(0, 3)[:2] == draw_seeds(0, 2)
    True
    """
    table = check_random_state(random_state).randint(_MOST, size=(repeats, len(Seeds._fields)))
    return [Seeds(*row) for row in table.tolist()]


def check_target(target: Any, n_graphs: int) -> NDArray[np.int64]:
    """Return class labels as numbers 0, 1, ..., after a look at whether they are class labels."""
    labels = np.asarray(target)
    n_values = len(labels) if labels.ndim else 1
    if n_values != n_graphs:
        raise ValueError(f"target has {n_values} values for {n_graphs} graphs")
    kind = type_of_target(labels)
    if labels.ndim != 1 or kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: target must hold one class label per graph, got a {kind} target"
        )
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()
        raise ValueError(f"one class is not enough: target must have at least two classes, got only {only}")
    return np.asarray(numbers, dtype=np.int64)


def check_labels(target: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return several labels per graph as 0, 1 and, where they are missing, NaN."""
    values = check_several(target, n_graphs)
    strange = ~(np.isnan(values) | (values == 0) | (values == 1))
    if strange.any():
        graph, column = np.argwhere(strange)[0]
        raise ValueError(
            f"Unknown label type: several targets must be 0, 1 or missing (NaN), "
            f"but column {column} of graph {graph} is {values[graph, column]:g}"
        )
    return values


def check_several(target: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return several numbers per graph, NaN where they are missing; each column needs one at least."""
    values = np.asarray(target)
    if len(values) != n_graphs:
        raise ValueError(f"target has {len(values)} rows for {n_graphs} graphs")
    if values.dtype.kind not in "biuf":
        values = values.astype(np.float64)  # None becomes NaN
    values = values.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"target must be finite, but that of graph {np.argwhere(np.isinf(values))[0, 0]} is not"
        )
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        raise ValueError(f"column {int(np.argmax(empty))} of the target has no entry")
    return values


def has_columns(target: Any) -> bool:
    """Whether a target has several columns."""
    shape = np.asarray(target).shape
    return len(shape) == 2 and shape[1] > 1


def check_numbers(target: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return finite numbers, one per graph."""
    numbers = np.asarray(target)
    n_values = len(numbers) if numbers.ndim else 1
    if n_values != n_graphs:
        raise ValueError(f"target has {n_values} values for {n_graphs} graphs")
    if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
        raise ValueError(f"target must hold one number per graph, got an array of {numbers.dtype}")
    values = numbers.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(
            f"target must be finite, but that of graph {int(np.argmin(np.isfinite(values)))} is not"
        )
    return values


def choosing_folds(
    target: NDArray[Any], n_folds: int | None, cv: Any, groups: Any, seed: int
) -> tuple[tuple[Indices, Indices], ...]:
    """Folds for choosing: those of a splitter of scikit-learn, or shuffled ones.

    Classes are stratified, groups are never split. Without a number there are five, or as many as the
    smallest class (or the groups) can give, but at least two.
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
    """Largest number of folds: of the largest class, or by default of the smallest."""
    if groups is not None:
        return len(np.unique(groups))
    if not is_class:
        return len(target)
    sizes = np.bincount(target)
    return max(2, int(sizes.min())) if is_default and sizes.max() > 1 else int(sizes.max())


def inner_folds(target: NDArray[np.int64], n_folds: int, seed: int) -> tuple[tuple[Indices, Indices], ...]:
    """Folds for choosing, of a whole training set; fewer where classes are smaller."""
    n_folds = min(n_folds, int(np.bincount(target).max()))
    if n_folds < 2:
        return ()
    cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with small_classes_allowed():
        return tuple(cv.split(target, target))


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


@contextmanager
def small_classes_allowed() -> Iterator[None]:
    """A class with fewer members than folds is simply absent from some of them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        yield
