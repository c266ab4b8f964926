"""Choosing t_max and C on the training part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.evaluation import Choice
from propkernels.learn.machine import count_correct
from propkernels.learn.splits import Fold
from propkernels.learn.stack import KernelStack


def choose(kernels: KernelStack, target: NDArray[np.int64], fold: Fold, costs: Sequence[float]) -> Choice:
    """Return the t_max and C that classify most validation graphs correctly.

    Only graphs of ``fold.train`` are looked at. Ties go to the smaller t_max, then to the smaller C; with
    one candidate, or no inner folds, nothing is computed.
    """
    steps = list(kernels)
    if len(steps) * len(costs) == 1 or not fold.inner:
        return Choice(steps[0], costs[0])
    correct = np.zeros((len(steps), len(costs)), dtype=np.int64)
    for fit, check in fold.inner:
        for row, step in zip(correct, steps, strict=True):
            row += count_correct(kernels[step], target, fit, check, costs)
    best_step, best_cost = divmod(int(correct.argmax()), len(costs))  # the first of the largest
    return Choice(steps[best_step], costs[best_cost])
