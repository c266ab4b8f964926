"""Folds: what is learned from, what is tested on, and the folds inside for choosing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

Indices = NDArray[np.int64]
_MOST = 2**31 - 1


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
        raise ValueError(f"Unknown label type: target must hold one class label a graph, got a {kind} target")
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()
        raise ValueError(f"one class is not enough: target must have at least two classes, got only {only}")
    return np.asarray(numbers, dtype=np.int64)


def check_numbers(target: Any, n_graphs: int) -> NDArray[np.float64]:
    """Return finite numbers, one a graph."""
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


def plain_folds(n_graphs: int, n_folds: int, seed: int) -> tuple[tuple[Indices, Indices], ...]:
    """Folds for choosing, without regard to any class; fewer where there are fewer graphs."""
    n_folds = min(n_folds, n_graphs)
    if n_folds < 2:
        return ()
    cv = KFold(n_folds, shuffle=True, random_state=seed)
    return tuple(cv.split(np.arange(n_graphs)))


def inner_folds(target: NDArray[np.int64], n_folds: int, seed: int) -> tuple[tuple[Indices, Indices], ...]:
    """Folds for choosing, of a whole training set; fewer where classes are smaller."""
    n_folds = min(n_folds, int(np.bincount(target).max()))
    if n_folds < 2:
        return ()
    cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with small_classes_allowed():
        return tuple(cv.split(target, target))


@contextmanager
def small_classes_allowed() -> Iterator[None]:
    """A class with fewer members than folds is simply absent from some of them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        yield
