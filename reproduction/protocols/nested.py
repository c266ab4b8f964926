"""Nested cross-validation of a C-SVM on kernel matrices: the paper's protocol, in plain scikit-learn.

Stratified 10-fold cross-validation, repeated with other folds and hash functions. On each training part,
inner folds choose the kernel (t_max, say) and C together. All methods have the same folds in the same repeat.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import SVC

Matrix = NDArray[np.float64]
Classes = NDArray[np.int64]
Indices = NDArray[np.int64]
Split = tuple[Indices, Indices]  # what to learn from, and what to predict
Kernels = Mapping[str, Matrix]  # candidates, such as the kernels for several t_max
Choice = tuple[str, float]  # name of a kernel, and C
SEED = 0
FOLDS, INNER_FOLDS = 10, 5


class Seeds(NamedTuple):
    """Seeds of a repeat: hash functions, outer folds and inner folds."""

    kernel: int
    outer: int
    inner: int


@dataclass(frozen=True)
class Fold:
    """One fold; ``inner`` splits its training part."""

    train: Indices
    test: Indices
    inner: list[Split]


def seeds_of(repeat: int) -> Seeds:
    """Return the seeds of a repeat, the same for every method."""
    table = np.random.RandomState(SEED).randint(2**31 - 1, size=(repeat + 1, len(Seeds._fields)))
    return Seeds(*table[repeat].tolist())


def class_numbers(target: Any) -> Classes:
    """Return classes as numbers 0, 1, ..."""
    return np.unique(np.asarray(target), return_inverse=True)[1].astype(np.int64)


def split(
    part: Indices, target: Classes, n_splits: int, seed: int, groups: Indices | None = None
) -> list[Split]:
    """Return stratified folds of some graphs; groups, such as the versions of a picture, stay together."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(n_splits, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        pairs = list(folds.split(part, target[part], None if groups is None else groups[part]))
    return [(part[train], part[test]) for train, test in pairs]


def folds_of(target: Classes, repeat: int, n_folds: int = FOLDS, groups: Indices | None = None) -> list[Fold]:
    """Return the folds of a repeat; those of groups are drawn with the number of the repeat."""
    _, outer, inner = seeds_of(repeat) if groups is None else (repeat, repeat, repeat)
    pairs = split(np.arange(len(target)), target, n_folds, outer, groups)
    return [Fold(train, test, split(train, target, INNER_FOLDS, inner, groups)) for train, test in pairs]


def unit(kernel: Matrix) -> Matrix:
    """Return the normalized kernel; 0 for graphs without nodes."""
    lengths = np.sqrt(np.maximum(kernel.diagonal(), 0.0))
    factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return kernel * factors[:, None] * factors


def mistakes(kernel: Matrix, target: Classes, train: Indices, test: Indices, cost: float) -> int:
    """Return the number of test graphs that a C-SVM gets wrong.

    C is in units of one over the mean diagonal of the training kernel, so that one grid of C serves kernels
    of any scale.
    """
    if len(np.unique(target[train])) == 1:
        return int(np.sum(target[test] != target[train][0]))
    scale = float(kernel.diagonal()[train].mean()) or 1.0
    machine = SVC(C=cost, kernel="precomputed")
    machine.fit(kernel[np.ix_(train, train)] / scale, target[train])
    return int(np.sum(machine.predict(kernel[np.ix_(test, train)] / scale) != target[test]))


def choose(kernels: Kernels, target: Classes, inner: Sequence[Split], costs: Sequence[float]) -> Choice:
    """Return the kernel and the C with the fewest mistakes on the inner folds.

    Among equals it is the first kernel, then the smallest C. A single candidate is chosen unseen. The result
    is that of all candidates on all folds, but a candidate is left as soon as it has more mistakes than the
    best of those that are finished; the most promising ones after the first fold are finished first.

    Examples
    --------
    >>> target = np.repeat([0, 1], 20)
    >>> kernels = {"useless": np.ones((40, 40)), "good": np.equal.outer(target, target).astype(float)}
    >>> choose(kernels, target, folds_of(target, 0)[0].inner, [1.0, 10.0])
    ('good', 1.0)
    """
    pairs = [(name, cost) for name in kernels for cost in costs]
    if len(pairs) == 1:
        return pairs[0]
    first = [mistakes(kernels[name], target, *inner[0], cost) for name, cost in pairs]
    best, winner = np.inf, -1
    for place in np.argsort(first, kind="stable"):
        name, cost = pairs[place]
        total = first[place]
        for split in inner[1:]:
            if total > best:
                break
            total += mistakes(kernels[name], target, *split, cost)
        if (total, place) < (best, winner):
            best, winner = total, int(place)
    return pairs[winner]


def cross_validate(
    kernels: Kernels,
    target: Classes,
    folds: Sequence[Fold],
    costs: Sequence[float],
    n_jobs: int | None = None,
    once: Sequence[Split] = (),
) -> dict[str, Any]:
    """Choose kernel and C on the training part of each fold, and test the choice.

    Parameters
    ----------
    kernels : mapping from a name to a kernel matrix of all graphs
    target : ndarray of int
    folds : sequence of Fold
    costs : sequence of float
        Candidates for C, smallest first.
    n_jobs : int or None
        Threads over folds.
    once : sequence of splits
        If given, the choice is made once, on these, instead of on each training part.

    Returns
    -------
    dict
        "accuracy" in percent, "folds" (the same for each fold) and "chosen" ([kernel, C] for each fold).
    """
    fixed = choose(kernels, target, once, costs) if once else None

    def judge(fold: Fold) -> tuple[float, list[Any]]:
        name, cost = fixed or choose(kernels, target, fold.inner, costs)
        wrong = mistakes(kernels[name], target, fold.train, fold.test, cost)
        return 100 * (1 - wrong / len(fold.test)), [name, cost]

    outcomes = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(judge)(fold) for fold in folds)
    accuracies, chosen = zip(*outcomes, strict=True)
    return {
        "accuracy": round(float(np.mean(accuracies)), 4),
        "folds": [round(value, 4) for value in accuracies],
        "chosen": list(chosen),
    }


def leave_one_out(kernels: Kernels, target: Classes) -> dict[str, Any]:
    """Give each graph the class of its nearest neighbor among the others, in the kernel.

    The kernel is chosen for each graph by leaving out each of the others in turn; the first of equally good
    ones.

    Returns
    -------
    dict
        As that of :func:`cross_validate`; a fold is a graph, 100 or 0, and "chosen" has names of kernels.
    """
    folds, chosen = [], []
    for graph in range(len(target)):
        others = np.delete(np.arange(len(target)), graph)
        hits = [_hits(kernel, target, others) for kernel in kernels.values()]
        chosen.append(list(kernels)[int(np.argmax(hits))])
        folds.append(100.0 * _is_hit(kernels[chosen[-1]], target, graph, others))
    return {"accuracy": round(float(np.mean(folds)), 4), "folds": folds, "chosen": chosen}


def _hits(kernel: Matrix, target: Classes, graphs: Indices) -> int:
    return sum(_is_hit(kernel, target, graph, graphs[graphs != graph]) for graph in graphs)


def _is_hit(kernel: Matrix, target: Classes, graph: int, others: Indices) -> bool:
    return bool(target[others[kernel[graph, others].argmax()]] == target[graph])
