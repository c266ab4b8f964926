"""How the paper measures accuracy: nested cross-validation, and leave-one-out for point clouds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.gram.normalize import normalized
from propkernels.learn.selection.folds import Fold, Seeds, draw_folds, draw_seeds
from propkernels.utils.parallel import run_threads
from reproduction.protocols.choice import race
from reproduction.protocols.svm import count_correct

Matrix = NDArray[np.float64]
Target = NDArray[np.int64]
Candidates = Mapping[Any, Matrix]
SEED = 0
FOLDS, INNER_FOLDS = 10, 5


def seeds_of(repeat: int) -> Seeds:
    """Seeds of a repeat; the same for every method, so that all of them meet the same folds."""
    return draw_seeds(SEED, repeat + 1)[repeat]


def unit(kernel: Matrix) -> Matrix:
    """Return the normalised copy of a kernel matrix."""
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
        Says which folds; see :func:`seeds_of`.
    costs : sequence of float
        Candidates for C, in units of the reciprocal mean diagonal of the training kernel.
    n_jobs : int or None
        Threads over folds.
    n_folds : int

    Returns
    -------
    dict
        "accuracy" in per cent, "folds" (the same of each fold) and "chosen" ([candidate, C] of each fold).
    """

    def judge(fold: Fold) -> tuple[float, list[Any]]:
        name, cost = race(candidates, target, fold, costs)
        kernel = candidates[name]
        correct = count_correct(kernel, target, fold.train, fold.test, [cost])
        return 100 * float(correct[0]) / len(fold.test), [name, cost]

    folds = draw_folds(target, n_folds, INNER_FOLDS, seeds_of(repeat))
    accuracies, chosen = zip(*run_threads(judge, folds, n_jobs), strict=True)
    return {
        "accuracy": round(float(np.mean(accuracies)), 4),
        "folds": [round(value, 4) for value in accuracies],
        "chosen": list(chosen),
    }


def leave_one_out(candidates: Candidates, target: Target) -> dict[str, Any]:
    """Give each graph the class of its nearest neighbour among the others, in the kernel.

    The candidate is chosen for each graph by leaving out each of the others in turn.

    Returns
    -------
    dict
        "accuracy" in per cent, "folds" (100 or 0 for each graph) and "chosen" (the candidate of each graph).
    """
    chosen = [_best_without(candidates, target, left_out) for left_out in range(len(target))]
    hits = [
        100.0 * (nearest_class(candidates[name], target, graph, _others(target, graph)) == target[graph])
        for graph, name in enumerate(chosen)
    ]
    return {"accuracy": round(float(np.mean(hits)), 4), "folds": hits, "chosen": chosen}


def nearest_class(kernel: Matrix, target: Target, graph: int, others: NDArray[np.int64]) -> int:
    """Class of the nearest neighbour of a graph; the first of equally near ones."""
    return int(target[others[kernel[graph, others].argmax()]])


def _best_without(candidates: Candidates, target: Target, left_out: int) -> Any:
    """Return the first candidate with most hits among all graphs but one."""
    graphs = _others(target, left_out)
    hits = [_hits(kernel, target, graphs) for kernel in candidates.values()]
    return list(candidates)[int(np.argmax(hits))]


def _hits(kernel: Matrix, target: Target, graphs: NDArray[np.int64]) -> int:
    """Return how many graphs get their own class from the others."""
    found = (nearest_class(kernel, target, graph, graphs[graphs != graph]) for graph in graphs)
    return sum(int(guess == target[graph]) for guess, graph in zip(found, graphs, strict=True))


def _others(target: Target, graph: int) -> NDArray[np.int64]:
    return np.delete(np.arange(len(target)), graph)
