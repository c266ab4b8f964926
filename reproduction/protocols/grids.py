"""Cross-validation that keeps versions of one picture together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from propkernels.learn.selection.folds import Fold
from propkernels.utils.parallel import run_threads
from reproduction.protocols.choice import race
from reproduction.protocols.nested import FOLDS, INNER_FOLDS
from reproduction.protocols.svm import count_correct

Array = NDArray[Any]
OTHER_SPLIT = 1000


def choose_and_test(
    kernels: Mapping[str, Array], pictures: Any, repeat: int, costs: Sequence[float], n_jobs: int | None
) -> dict[str, Any]:
    """Stratified 10-fold cross-validation by groups; see :func:`~.nested.cross_validate`.

    Kernel and C are chosen on each training part or, where ``pictures.choose_once``, on a fifth of all
    groups.
    """
    target, groups = pictures.target, pictures.groups
    candidates: dict[Any, Array] = dict(kernels)
    once: tuple[Any, float] | None = None
    if pictures.choose_once:
        part = grouped_folds(target, groups, np.arange(len(target)), 5, OTHER_SPLIT + repeat)[0][1]
        once = race(candidates, target, _fold(part, part, pictures, repeat), costs)

    def judge(split: tuple[Array, Array]) -> tuple[float, list[Any]]:
        train, test = split
        name, cost = once or race(candidates, target, _fold(train, test, pictures, repeat), costs)
        correct = count_correct(candidates[name], target, train, test, [cost])
        return 100 * float(correct[0]) / len(test), [name, cost]

    splits = grouped_folds(target, groups, np.arange(len(target)), FOLDS, repeat)
    accuracies, chosen = zip(*run_threads(judge, splits, n_jobs), strict=True)
    return {
        "accuracy": round(float(np.mean(accuracies)), 4),
        "folds": [round(value, 4) for value in accuracies],
        "chosen": list(chosen),
    }


def grouped_folds(
    target: Array, groups: Array, part: Array, n_splits: int, seed: int
) -> list[tuple[Array, Array]]:
    """Stratified folds of a part of the data that keep groups together."""
    splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    split = splitter.split(target[part], target[part], groups[part])
    return [(part[train], part[test]) for train, test in split]


def _fold(train: Array, test: Array, pictures: Any, seed: int) -> Fold:
    inner = grouped_folds(pictures.target, pictures.groups, train, INNER_FOLDS, seed)
    return Fold(train, test, tuple(inner))
