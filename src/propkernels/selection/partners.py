"""What was chosen: one candidate, or several that are as good, whose decisions are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.decisions.support_vectors import Machine
from propkernels.decisions.tasks import Task
from propkernels.kernels.sum_kernel import SumKernel
from propkernels.selection.candidates import Candidate, Losses
from propkernels.selection.folds import Folds, Indices

CLOSE = 2.0  # standard errors that a partner of the best candidate may lie behind it


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
    partners : tuple of (Candidate, float)
        Others, with their C, whose decisions are averaged with its own.
    """

    candidate: Candidate
    C: float
    losses: tuple[Losses, ...]
    partners: tuple[tuple[Candidate, float], ...] = ()

    @property
    def members(self) -> tuple[tuple[Candidate, float], ...]:
        """The candidate and its partners, each with its C."""
        return (self.candidate, self.C), *self.partners

    @property
    def kernel(self) -> Any:
        """The kernel, unfitted: with partners, the sum of all kernels."""
        if not self.partners:
            return self.candidate.kernel
        return SumKernel([member.kernel for member, _ in self.members], normalize_parts=False)

    def decide(self, task: Task, target: NDArray[Any], train: Indices, test: Indices) -> NDArray[np.float64]:
        """Learn from some graphs, and decide about others."""
        return np.asarray(np.mean([m.decide(task, target, train, test, C) for m, C in self.members], axis=0))

    @property
    def mean_loss(self) -> float:
        """Mean over all validation graphs."""
        return float(np.concatenate(self.losses).mean()) if self.losses else float("nan")

    def judge(self, task: Task, target: NDArray[Any], train: Indices, test: Indices) -> Losses:
        """Learn from some graphs, and return the losses on others."""
        decisions = self.decide(task, target, train, test)
        n_columns = decisions.shape[1]
        as_they_are = Machine(np.eye(n_columns), np.zeros(n_columns))
        return task.judge(self.candidate.maker, as_they_are, decisions, target[train], target[test])


def with_partners(found: Sequence[Selection], target: NDArray[Any], folds: Folds, task: Task) -> Selection:
    """The best of some selections, with those of the others that are as good within two standard errors.

    The best of many candidates is the best by chance where graphs are few. The mean of their decisions is
    more reliable than any of them.
    """
    best = min(found, key=lambda selection: selection.mean_loss)
    is_constant = any(task.is_constant(target[train]) for train, _ in folds)
    if is_constant:
        return best
    partners = tuple((s.candidate, s.C) for s in found if s is not best and _is_close(s, best))
    if not partners:
        return best
    together = replace(best, partners=partners)
    return replace(together, losses=tuple(together.judge(task, target, *fold) for fold in folds))


def _is_close(selection: Selection, best: Selection) -> bool:
    """Whether losses are larger by at most two standard errors, on the same graphs (paired)."""
    gap = np.concatenate(selection.losses) - np.concatenate(best.losses)
    return bool(gap.sum() <= CLOSE * np.sqrt(np.sum(gap**2)))
