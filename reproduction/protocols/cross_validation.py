"""Cross-validation of a C-SVM as in the paper: stratified, by groups of pictures, and for the heat maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from propkernels._utils.parallel import run_threads
from propkernels.counts.products import normalized
from propkernels.models.folds import choosing_folds
from reproduction.protocols.selection import (
    FOLDS,
    INNER_FOLDS,
    Matrix,
    Splits,
    Target,
    choose,
    seeds_of,
    share_correct,
    stratified_folds,
)

Candidates = Mapping[Any, Matrix]
Array = NDArray[Any]
OTHER_SPLIT = 1000  # added to the number of the repeat: seed of the split whose first fifth is chosen on


def unit(kernel: Matrix) -> Matrix:
    """Return the normalized copy of a kernel matrix."""
    own = kernel.diagonal().copy()
    return normalized(kernel.copy(), own, own)


def cross_validate(
    candidates: Candidates,
    target: Target,
    repeat: int,
    costs: Sequence[float],
    n_jobs: int | None = None,
    n_folds: int = FOLDS,
) -> dict[str, Any]:
    """Stratified cross-validation of a C-SVM; kernel and C are chosen on each training part.

    Parameters
    ----------
    candidates : mapping from a name to a kernel matrix of all graphs
        Such as the kernels for several t_max.
    target : ndarray of int
    repeat : int
        Determines the folds; see :func:`~.selection.seeds_of`.
    costs : sequence of float
        Candidates for C, in units of one over the mean diagonal of the training kernel.
    n_jobs : int or None
        Threads over folds.
    n_folds : int

    Returns
    -------
    dict
        "accuracy" in percent, "folds" (the same for each fold) and "chosen" ([candidate, C] for each fold).
    """
    folds = stratified_folds(target, seeds_of(repeat), n_folds)
    choices = [lambda fold=fold: choose(candidates, target, fold.inner, costs) for fold in folds]
    splits = [(fold.train, fold.test) for fold in folds]
    return _test(candidates, target, splits, choices, n_jobs)


def cross_validate_groups(
    candidates: Candidates,
    target: Target,
    groups: Array,
    repeat: int,
    costs: Sequence[float],
    n_jobs: int | None = None,
    choose_once: bool = False,
) -> dict[str, Any]:
    """Stratified 10-fold cross-validation that keeps groups, such as the versions of a picture, together.

    Kernel and C are chosen on each training part or, with ``choose_once``, once on a fifth of all groups.

    Returns
    -------
    dict
        As for :func:`cross_validate`.
    """
    everything = np.arange(len(target))

    def choice(part: Array) -> tuple[Any, float]:
        return choose(candidates, target, grouped_folds(target, groups, part, INNER_FOLDS, repeat), costs)

    splits = grouped_folds(target, groups, everything, FOLDS, repeat)
    if choose_once:
        part = grouped_folds(target, groups, everything, 5, OTHER_SPLIT + repeat)[0][1]
        once = choice(part)
        return _test(candidates, target, splits, [lambda: once] * len(splits), n_jobs)
    choices = [lambda train=train: choice(train) for train, _ in splits]
    return _test(candidates, target, splits, choices, n_jobs)


def _test(
    candidates: Candidates,
    target: Target,
    splits: Splits,
    choices: Sequence[Callable[[], tuple[Any, float]]],
    n_jobs: int | None,
) -> dict[str, Any]:
    """Choose for each fold, and test the choice."""

    def judge(number: int) -> tuple[float, list[Any]]:
        name, cost = choices[number]()
        return 100 * share_correct(candidates[name], target, *splits[number], cost), [name, cost]

    accuracies, chosen = zip(*run_threads(judge, range(len(splits)), n_jobs), strict=True)
    return {
        "accuracy": round(float(np.mean(accuracies)), 4),
        "folds": [round(value, 4) for value in accuracies],
        "chosen": list(chosen),
    }


def grouped_folds(
    target: Target, groups: Array, part: Array, n_splits: int, seed: int
) -> list[tuple[Array, Array]]:
    """Stratified folds of a part of the data that keep groups together."""
    splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    split = splitter.split(target[part], target[part], groups[part])
    return [(part[train], part[test]) for train, test in split]


def best_cost_accuracy(
    kernel: Matrix, target: Target, costs: Sequence[float], n_jobs: int | None
) -> dict[str, Any]:
    """Learn C on all graphs, then cross-validate with it: how the paper makes its heat maps.

    Returns
    -------
    dict
        "accuracy" in percent, and "C".
    """
    seeds = seeds_of(0)
    inner = choosing_folds(target, INNER_FOLDS, seed=seeds.inner)
    cost = choose({"": kernel}, target, inner, costs)[1]
    folds = stratified_folds(target, seeds)
    found = run_threads(
        lambda fold: share_correct(kernel, target, fold.train, fold.test, cost), folds, n_jobs
    )
    return {"accuracy": round(100 * float(np.mean(found)), 4), "C": cost}
