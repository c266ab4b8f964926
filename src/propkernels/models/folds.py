"""Folds: training and test graphs, and inner folds for model selection."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

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
from sklearn.utils import check_random_state

from propkernels._utils.cells import is_missing
from propkernels._utils.checks import check_integer, shown
from propkernels._utils.typing import Indices

Folds = Sequence[tuple[Indices, Indices]]
_MOST = 2**31 - 1
DEFAULT_FOLDS = 5  # number of inner folds for model selection
LEAVE_ONE_OUT = "loo"


class Seeds(NamedTuple):
    """Seeds of one repeat."""

    kernel: int
    outer: int
    inner: int


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
    target: NDArray[Any], cv: Any = None, groups: Any = None, seed: int = 0
) -> tuple[tuple[Indices, Indices], ...]:
    """Return folds for model selection: shuffled folds, or those of a scikit-learn splitter.

    Classes are stratified, groups are never split. By default there are five folds, or as many as the
    smallest class has graphs (or as there are groups), but at least two. A larger number of folds than the
    largest class has graphs is reduced to that number.
    """
    is_class = target.ndim == 1 and target.dtype.kind in "iu"
    smallest, largest, _ = most_folds(target, groups, is_class)
    if cv is None:
        cv, largest = DEFAULT_FOLDS, largest if largest < 2 else max(2, smallest)
    if isinstance(cv := check_folds(cv, "cv"), int):
        cv = min(cv, largest)
        if cv < 2:
            return ()
    return tuple(split(target, cv, groups, is_class, seed))


def held_out_parts(target: NDArray[Any], cv: Any, groups: Any, seed: int) -> list[Indices] | None:
    """Return the graphs that are held out together: those of a group, or of a fold; None: each alone."""
    numbers = check_groups(groups, len(target))
    if cv is None:
        return None if numbers is None else [np.flatnonzero(numbers == g) for g in range(numbers.max() + 1)]
    parts = [test for _, test in choosing_folds(target, cv, numbers, seed)]
    held = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    if len(np.unique(held)) < len(held):
        raise ValueError("cv must hold out each graph at most once: repeats are for evaluate")
    rest = np.setdiff1d(np.arange(len(target)), held)
    return [*parts, *(rest[i : i + 1] for i in range(len(rest)))] or None


def check_folds(cv: Any, name: str) -> Any:
    """Return a number of folds, "loo", a splitter, or a list of (train, test); raise for anything else."""
    if isinstance(cv, str):
        if cv != LEAVE_ONE_OUT:
            raise ValueError(f'{name} must be a whole number, "loo" or a splitter, got {shown(cv)}')
        return cv
    if hasattr(cv, "split") and not isinstance(cv, bytes):
        return cv
    if not isinstance(cv, Iterable):
        return check_integer(cv, name, 2)
    pairs = [] if isinstance(cv, bytes) else list(cv)
    if not all(isinstance(pair, Sequence | np.ndarray) and len(pair) == 2 for pair in pairs) or not pairs:
        raise ValueError(f"{name} must hold pairs of training and test positions, got {shown(cv)}")
    return pairs


def split(
    target: NDArray[Any], cv: Any, groups: Any, is_class: bool, seed: int
) -> list[tuple[Indices, Indices]]:
    """Return pairs of training and test positions; classes are stratified, groups are never split.

    Parameters
    ----------
    target : ndarray
    cv : int, "loo", splitter or list of (train, test)
        As :func:`check_folds` returns it.
    groups : ndarray or None
    is_class : bool
        Whether the target holds class numbers.
    seed : int
        Seed of shuffled folds.
    """
    splitter: Any
    if cv == LEAVE_ONE_OUT:
        splitter = LeaveOneOut() if groups is None else LeaveOneGroupOut()
    elif isinstance(cv, int):
        plain, grouped = (StratifiedKFold, StratifiedGroupKFold) if is_class else (KFold, GroupKFold)
        splitter = (plain if groups is None else grouped)(cv, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        pairs = splitter.split(target, target, groups)
        return [(np.asarray(train), np.asarray(test)) for train, test in pairs]


def most_folds(target: NDArray[Any], groups: Any, is_class: bool) -> tuple[int, int, str]:
    """Return how many folds are good and possible: sizes of the smallest and largest class, or their number.

    Also of what: "class", "groups" or "graphs".
    """
    if is_class and groups is None:
        sizes = np.bincount(target)
        return int(sizes.min()), int(sizes.max()), "class"
    n = len(target if groups is None else np.unique(groups))
    return n, n, "graphs" if groups is None else "groups"


def check_groups(groups: Any, n_graphs: int) -> NDArray[np.int64] | None:
    """Return groups as integers 0, 1, ...; raise if there are fewer than two."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.ndim != 1 or len(values) != n_graphs:
        raise ValueError(
            f"groups must have one value for each of {n_graphs} graphs, got shape {values.shape}"
        )
    if is_missing(values).any():
        raise ValueError(f"graph {int(is_missing(values).argmax())} has no group: give it one of its own")
    names, numbers = np.unique(values, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups must name at least two groups, got only {names.tolist()}")
    return np.asarray(numbers, dtype=np.int64)
