"""The C-SVM on a slice of a kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from propkernels.learn.selection.folds import Indices

Matrix = NDArray[np.float64]


def count_correct(
    kernel: Matrix, target: NDArray[np.int64], train: Indices, test: Indices, costs: Sequence[float]
) -> NDArray[np.int64]:
    """Number of test graphs classified correctly, for each C.

    The slice is divided by the mean of its training diagonal. That is a reparametrisation of C and no
    other change: with kernel K / m and cost C, the machine is the one with kernel K and cost C / m. It lets
    one grid of C, at values where libsvm is fast, serve kernels of any scale.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        Kernel of all graphs.
    target : ndarray of shape (n,)
        Class of each graph; those of ``test`` are only compared with.
    train, test : ndarray of int
        Which graphs to learn from, and which to classify.
    costs : sequence of float
        The values of C, smallest first.
    """
    if len(np.unique(target[train])) == 1:
        return np.full(len(costs), np.sum(target[test] == target[train[0]]))
    scale = float(kernel.diagonal()[train].mean()) or 1.0
    known = _slice(kernel, train, train, scale)
    unknown = _slice(kernel, test, train, scale)
    correct = np.zeros(len(costs), dtype=np.int64)
    for i, cost in enumerate(costs):
        machine = SVC(kernel="precomputed", C=cost).fit(known, target[train])
        correct[i:] = np.sum(machine.predict(unknown) == target[test])
        if is_unbounded(machine):
            break
    return correct


def is_unbounded(machine: SVC) -> bool:
    """Whether no multiplier has reached C, so that a larger C would give the same machine."""
    return bool(np.abs(machine.dual_coef_).max(initial=0.0) < machine.C)


def _slice(kernel: Matrix, rows: Indices, columns: Indices, scale: float) -> Matrix:
    part = kernel[np.ix_(rows, columns)]
    part /= scale
    return part
