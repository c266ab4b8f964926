"""Choosing among kernels, t_max, normalisation, epsilon and C by cross-validation on the training graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.learn.machines.svm import stopping_allowed
from propkernels.learn.machines.tasks import Task
from propkernels.learn.selection.candidates import Candidate, Space, candidates
from propkernels.learn.selection.folds import Folds
from propkernels.learn.selection.halving import is_worthwhile, shortlist
from propkernels.learn.selection.race import Losses, Race, Trial, Winner


@dataclass(frozen=True)
class Selection:
    """What was chosen, and how it did in the inner cross-validation.

    Attributes
    ----------
    candidate : Candidate
        The kernel with its settings, and its numbers.
    C : float
    losses : tuple of ndarray
        Losses on the validation graphs of each fold; none without folds.
    """

    candidate: Candidate
    C: float
    losses: tuple[Losses, ...]

    @property
    def mean_loss(self) -> float:
        """Mean over all validation graphs."""
        return float(np.concatenate(self.losses).mean()) if self.losses else float("nan")


def search(
    kernels: Sequence[Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    folds: Folds,
    space: Space,
    task: Task,
    seed: int,
    selection: str,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda parts: None,
) -> Selection:
    """Return the best candidate; among equals the first kernel, smallest t_max, unnormalized, smallest C.

    Each kernel makes one pass over the graphs, which gives the numbers of every t_max, normalized or not.
    Kernels come one after the other, and each has to beat the best of those before: only the matrices of one
    pass, and the best one, are in memory at a time. With ``selection="halving"`` most candidates are only
    compared on a part of the graphs (see :mod:`~propkernels.learn.selection.halving`).
    """
    is_exact = selection == "exhaustive"
    if selection == "halving" and is_worthwhile(folds):
        with stopping_allowed():
            arms = shortlist(kernels, graphs, target, folds, space, task, seed, n_jobs, tell)
        arms = [replace(arm, decisions={}) for arm in arms]
        winner = choose_among(arms, target, folds, task, False, None, n_jobs)
        assert winner is not None
        return Selection(arms[winner.arm], arms[winner.arm].costs[winner.cost], winner.losses)
    best: Selection | None = None
    for kernel in kernels:
        arms = candidates(kernel, graphs, target, space, task, seed)
        incumbent = None if best is None else best.losses
        found = choose_among(arms, target, folds, task, is_exact, incumbent, n_jobs, tell)
        if found is not None:
            best = Selection(arms[found.arm], arms[found.arm].costs[found.cost], found.losses)
        if best is not None and not folds:
            break
    assert best is not None
    return best


def choose_among(
    arms: Sequence[Candidate],
    target: NDArray[Any],
    folds: Folds,
    task: Task,
    is_exact: bool,
    incumbent: tuple[Losses, ...] | None = None,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda parts: None,
) -> Winner | None:
    """Let candidates race on the folds; without folds the first wins unseen."""
    if not folds:
        return Winner(0, 0, ())

    def trials(arm: Candidate, fold: int, positions: Sequence[int]) -> Iterator[Trial]:
        return arm.trials(task, target, *folds[fold], positions)

    return Race(arms, len(folds), trials, is_exact, incumbent, n_jobs, tell, task.is_additive).run()
