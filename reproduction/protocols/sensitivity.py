"""The protocol of the heat maps: the cost from all graphs, then one cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.selection.folds import draw_folds, inner_folds
from propkernels.utils.parallel import run_threads
from reproduction.protocols.nested import FOLDS, INNER_FOLDS, seeds_of
from reproduction.protocols.svm import count_correct


def best_cost_accuracy(
    kernel: NDArray[np.float64], target: NDArray[np.int64], costs: Sequence[float], n_jobs: int | None
) -> dict[str, Any]:
    """Learn C on all graphs, then cross-validate with it.

    Returns
    -------
    dict
        "accuracy" in per cent, and "C".
    """
    seeds = seeds_of(0)
    first = inner_folds(target, INNER_FOLDS, seeds.inner)
    table = run_threads(lambda s: count_correct(kernel, target, s[0], s[1], costs), list(first), n_jobs)
    cost = costs[int(np.sum(table, axis=0).argmax())]
    folds = draw_folds(target, FOLDS, 0, seeds)
    found = run_threads(
        lambda fold: int(count_correct(kernel, target, fold.train, fold.test, [cost])[0]) / len(fold.test),
        folds,
        n_jobs,
    )
    return {"accuracy": round(100 * float(np.mean(found)), 4), "C": cost}
