"""Choosing a kernel and C on a training part, and testing the choice: the library's own model selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.models.candidates import Candidate
from propkernels.models.choosing import choose_among
from propkernels.models.folds import Fold, Indices, Seeds, draw_seeds
from propkernels.models.kernel_sources import GramSource
from propkernels.models.study import Protocol
from propkernels.models.support_vectors import SupportVectorClassification
from propkernels.models.tasks import Classification

Matrix = NDArray[np.float64]
Target = NDArray[np.int64]
Splits = Sequence[tuple[Indices, Indices]]
SEED = 0
FOLDS, INNER_FOLDS = 10, 5


def seeds_of(repeat: int) -> Seeds:
    """Seeds of a repeat, the same for every method: all methods are tested on the same folds."""
    return draw_seeds(SEED, repeat + 1)[repeat]


def stratified_folds(target: Target, seeds: Seeds, n_folds: int = FOLDS) -> list[Fold]:
    """Return the folds of a repeat, each with five inner folds to choose on."""
    return Protocol(n_folds, INNER_FOLDS, None, True).folds(target, seeds, has_choice=True)


def candidate(kernel: Matrix, costs: Sequence[float]) -> Candidate:
    """Return a kernel matrix of all graphs as a candidate of the library's search.

    C is in units of one over the mean diagonal of the training kernel, so that one grid of C serves kernels
    of any scale.
    """
    return Candidate(
        kernel=None,
        t_max=None,
        normalize=None,
        source=GramSource(kernel, normalize=False),
        epsilon=None,
        maker=SupportVectorClassification(),
        costs=tuple(costs),
        scaled=True,
    )


def choose(
    kernels: Mapping[Any, Matrix], target: Target, inner: Splits, costs: Sequence[float]
) -> tuple[Any, float]:
    """Return the name of the kernel and the C with the fewest mistakes on the inner folds.

    Every candidate that can still win is tried, so that the choice is that of an exhaustive search; among
    equals it is the first kernel, then the smallest C. A single candidate is chosen unseen.

    Parameters
    ----------
    kernels : mapping from a name to a kernel matrix of all graphs
    target : ndarray of int
    inner : sequence of pairs of index arrays
        What to learn from and what to validate on, all of it inside the training part.
    costs : sequence of float
        Smallest first.

    Examples
    --------
    >>> target = np.repeat([0, 1], 20)
    >>> good, useless = np.equal.outer(target, target).astype(float), np.ones((40, 40))
    >>> fold = stratified_folds(target, seeds_of(0))[0]
    >>> choose({"useless": useless, "good": good}, target, fold.inner, [1.0, 10.0])
    ('good', 1.0)
    """
    names = list(kernels)
    candidates = [candidate(kernel, costs) for kernel in kernels.values()]
    is_only_one = len(names) * len(costs) == 1
    winner = choose_among(candidates, target, () if is_only_one else inner, Classification(), is_exact=True)
    assert winner is not None
    return names[winner.arm], costs[winner.cost]


def share_correct(kernel: Matrix, target: Target, train: Indices, test: Indices, cost: float) -> float:
    """Return the share of the test graphs that a C-SVM classifies correctly."""
    predicted = candidate(kernel, [cost]).predict(Classification(), target, train, test, 0)
    return float(np.mean(predicted == target[test]))
