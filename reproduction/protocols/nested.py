"""The paper's nested cross-validation of a C-SVM on kernel matrices.

Stratified 10-fold cross-validation, repeated with other folds and hash functions. On each training part,
5-fold cross-validation chooses C for each kernel (t_max, say); then 10-fold cross-validation, with that C,
chooses the kernel. All methods have the same folds in the same repeat.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from reproduction.protocols.svm import Machine, Parts

Matrix = NDArray[np.floating[Any]]
Classes = NDArray[np.int64]
Indices = NDArray[np.int64]
Kernels = Mapping[str, Matrix]  # candidates, such as the kernels for several t_max
Candidate = TypeVar("Candidate")
SEED = 0
FOLDS, COST_FOLDS, KERNEL_FOLDS = 10, 5, 10
# values of C by kind of kernel: the paper's, for the kernel as it is, and ours, over the mean diagonal
COSTS: dict[str, dict[str, tuple[float, ...]]] = {
    "paper": {
        "plain": (1e-7, 1e-5, 1e-3, 1e-1),
        "normalized": (1e-7, 1e-5, 1e-3, 1e-1, 1e1, 1e3, 1e5, 1e7),
    },
    "scaled": dict.fromkeys(("plain", "normalized"), (1.0, 10.0, 100.0, 1000.0)),
}


class Seeds(NamedTuple):
    """Seeds of a repeat: hash functions, outer folds and inner folds."""

    kernel: int
    outer: int
    inner: int


@dataclass(frozen=True)
class Fold:
    """One fold, and two partitions of its training part: to choose C, and to choose the kernel."""

    train: Indices
    test: Indices
    for_cost: Parts
    for_kernel: Parts


def seeds_of(repeat: int) -> Seeds:
    """Return the seeds of a repeat, the same for every method."""
    table = np.random.RandomState(SEED).randint(2**31 - 1, size=(repeat + 1, len(Seeds._fields)))
    return Seeds(*table[repeat].tolist())


def class_numbers(target: Any) -> Classes:
    """Return classes as numbers 0, 1, ..."""
    return np.unique(np.asarray(target), return_inverse=True)[1].astype(np.int64)


def partition(
    graphs: Indices, target: Classes, n_parts: int, seed: int, groups: Indices | None = None
) -> Parts:
    """Return for each graph the number of its part, -1 outside ``graphs``; groups stay together.

    There are no more parts than the largest class has graphs.

    Examples
    --------
    >>> partition(np.arange(1, 5), np.array([0, 0, 0, 1, 1]), 2, seed=0).tolist()
    [-1, 1, 0, 0, 1]
    """
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    n_parts = min(n_parts, int(np.bincount(target[graphs]).max()))
    folds = kind(n_parts, shuffle=True, random_state=seed)
    parts = np.full(len(target), -1, dtype=np.int32)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        pairs = folds.split(graphs, target[graphs], None if groups is None else groups[graphs])
        for number, (_, held_out) in enumerate(pairs):
            parts[graphs[held_out]] = number
    return parts


def fold_of(train: Indices, test: Indices, target: Classes, seed: int, groups: Indices | None = None) -> Fold:
    """Return a fold with the partitions of its training part."""
    return Fold(
        train,
        test,
        partition(train, target, COST_FOLDS, seed, groups),
        partition(train, target, KERNEL_FOLDS, seed, groups),
    )


def folds_of(target: Classes, repeat: int, n_folds: int = FOLDS, groups: Indices | None = None) -> list[Fold]:
    """Return the folds of a repeat; those of groups are drawn with the number of the repeat."""
    _, outer, inner = seeds_of(repeat) if groups is None else (repeat, repeat, repeat)
    parts = partition(np.arange(len(target)), target, n_folds, outer, groups)
    sides = [(np.flatnonzero(parts != number), np.flatnonzero(parts == number)) for number in range(n_folds)]
    return [fold_of(train, test, target, inner, groups) for train, test in sides]


def unit(kernel: Matrix) -> Matrix:
    """Return the normalized kernel; 0 for graphs without nodes."""
    lengths = np.sqrt(np.maximum(kernel.diagonal(), 0.0))
    factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return kernel * factors[:, None] * factors


def fewest(
    candidates: Sequence[Candidate], wrong: Callable[[Candidate, int], int], n_parts: int
) -> Candidate:
    """Return the candidate with the fewest mistakes on all parts, the first among equals.

    A candidate is left as soon as it has more mistakes than the best of those that are finished; the most
    promising ones after the first part are finished first. A single candidate is chosen unseen.
    """
    if len(candidates) == 1:
        return candidates[0]
    first = [wrong(candidate, 0) for candidate in candidates]
    best, winner = np.inf, -1
    for place in np.argsort(first, kind="stable"):
        total = first[place]
        for part in range(1, n_parts):
            if total > best:
                break
            total += wrong(candidates[place], part)
        if (total, place) < (best, winner):
            best, winner = total, int(place)
    return candidates[winner]


def costs_of(kernel: Matrix, train: Indices, grid: str, variant: str) -> list[float]:
    """Return the values of C of a grid for a kernel."""
    scale = 1.0 if grid == "paper" else float(kernel.diagonal()[train].mean()) or 1.0
    return [cost / scale for cost in COSTS[grid][variant]]


def cross_validate(
    kernels: Kernels,
    target: Classes,
    folds: Sequence[Fold],
    variant: str,
    grids: Sequence[str] = ("paper",),
    n_jobs: int | None = None,
    once: Fold | None = None,
) -> dict[str, dict[str, list[Any]]]:
    """Choose kernel and C on the training part of each fold, and test the choice.

    Parameters
    ----------
    kernels : mapping from a name to a kernel matrix of all graphs
    target : ndarray of int
    folds : sequence of Fold
    variant : {"plain", "normalized"}
    grids : sequence of {"paper", "scaled"}
        Candidates for C.
    n_jobs : int or None
        Threads over folds.
    once : Fold, optional
        If given, the choice is made once, on its training part, instead of on that of each fold.

    Returns
    -------
    dict
        For each grid "folds" (accuracies in percent), "kernel" and "C" (the chosen ones, for each fold).
    """
    if variant == "normalized":
        kernels = {name: unit(kernel) for name, kernel in kernels.items()}
    singles = {name: np.ascontiguousarray(kernel, dtype=np.float32) for name, kernel in kernels.items()}

    def choose(fold: Fold) -> tuple[dict[str, Machine], dict[str, tuple[str, float]]]:
        machines = {name: Machine(kernel, target, fold.train) for name, kernel in singles.items()}
        wanted = {
            name: [costs_of(kernels[name], fold.train, grid, variant) for grid in grids] for name in kernels
        }
        for name, machine in machines.items():
            for cost in sorted({cost for costs in wanted[name] for cost in costs}):
                machine.prepare(cost)
        chosen = {}
        for number, grid in enumerate(grids):
            best = {
                name: fewest(wanted[name][number], partial(_wrong_cost, machine, fold), COST_FOLDS)
                for name, machine in machines.items()
            }
            name = fewest(
                list(kernels), partial(_wrong_kernel, machines, best, fold), int(fold.for_kernel.max()) + 1
            )
            chosen[grid] = name, best[name]
        return machines, chosen

    fixed = choose(once)[1] if once is not None else None

    def judge(fold: Fold) -> dict[str, tuple[float, str, float]]:
        found = {}
        if fixed is not None:
            chosen, machines = fixed, {n: Machine(singles[n], target, fold.train) for n, _ in fixed.values()}
        else:
            machines, chosen = choose(fold)
        for grid, (name, cost) in chosen.items():
            wrong = machines[name].wrong(cost)
            found[grid] = round(100 * (1 - wrong / len(fold.test)), 2), name, float(f"{cost:.3g}")
        return found

    outcomes = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(judge)(fold) for fold in folds)
    return {
        grid: {
            key: [one[grid][place] for one in outcomes] for place, key in enumerate(("folds", "kernel", "C"))
        }
        for grid in grids
    }


def _wrong_cost(machine: Machine, fold: Fold, cost: float, part: int) -> int:
    return machine.wrong(cost, fold.for_cost, part)


def _wrong_kernel(
    machines: Mapping[str, Machine], costs: Mapping[str, float], fold: Fold, name: str, part: int
) -> int:
    return machines[name].wrong(costs[name], fold.for_kernel, part)


def leave_one_out(kernels: Kernels, target: Classes) -> dict[str, list[Any]]:
    """Give each graph the class of its nearest neighbor among the others, in the kernel.

    The kernel is chosen for each graph by leaving out each of the others in turn; the first of equally good
    ones.

    Returns
    -------
    dict
        "folds" and "kernel" as in :func:`cross_validate`; a fold is a graph, 100 or 0.
    """
    folds, chosen = [], []
    for graph in range(len(target)):
        others = np.delete(np.arange(len(target)), graph)
        hits = [_hits(kernel, target, others) for kernel in kernels.values()]
        chosen.append(list(kernels)[int(np.argmax(hits))])
        folds.append(100 * int(_is_hit(kernels[chosen[-1]], target, graph, others)))
    return {"folds": folds, "kernel": chosen}


def _hits(kernel: Matrix, target: Classes, graphs: Indices) -> int:
    return sum(_is_hit(kernel, target, graph, graphs[graphs != graph]) for graph in graphs)


def _is_hit(kernel: Matrix, target: Classes, graph: int, others: Indices) -> bool:
    return bool(target[others[kernel[graph, others].argmax()]] == target[graph])
