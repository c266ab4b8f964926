"""Result of model selection: one candidate, or several of equal quality whose decisions are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.kernels.sum_kernel import SumKernel
from propkernels.models.candidates import Candidate, Losses
from propkernels.models.folds import Folds, Indices
from propkernels.models.support_vectors import Machine
from propkernels.models.tasks import Task

CLOSE = 2.0  # largest distance of a partner from the best candidate, in standard errors


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Machines of one fold, and their decisions on its held-out graphs.

    Attributes
    ----------
    train, held : ndarray of int
        Positions of the training graphs and of the held-out graphs.
    decisions : ndarray of shape (held-out graphs, decisions)
        Mean decisions of all members, with intercepts.
    coefficients : tuple of ndarray
        Coefficients of each member, for the kernel or the features without a unit.
    intercepts : ndarray of shape (decisions,)
        Mean intercepts of all members.
    """

    train: Indices
    held: Indices
    decisions: NDArray[np.float64]
    coefficients: tuple[NDArray[np.float64], ...]
    intercepts: NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """Chosen candidate, and its losses in the inner cross-validation.

    Attributes
    ----------
    candidate : Candidate
        The kernel with its settings.
    C : float
    losses : tuple of ndarray
        Losses on the validation graphs of each fold; empty without folds.
    partners : tuple of (Candidate, float)
        Further candidates with their C, whose decisions are averaged with the first.
    """

    candidate: Candidate
    C: float
    losses: tuple[Losses, ...]
    partners: tuple[tuple[Candidate, float], ...] = ()

    @property
    def members(self) -> tuple[tuple[Candidate, float], ...]:
        """Candidate and partners, each with its C."""
        return (self.candidate, self.C), *self.partners

    @property
    def kernel(self) -> Any:
        """Unfitted kernel; with partners, the sum of all kernels."""
        if not self.partners:
            return self.candidate.kernel
        return SumKernel([member.kernel for member, _ in self.members], normalize_parts=False)

    def decide(self, task: Task, target: NDArray[Any], train: Indices, test: Indices) -> NDArray[np.float64]:
        """Return mean decisions of all members on the test graphs after a fit on the training graphs."""
        return self.hold_out(task, target, train, test).decisions

    def hold_out(self, task: Task, target: NDArray[Any], train: Indices, test: Indices) -> HeldOut:
        """Return the machines of all members after a fit on the training graphs, and their decisions."""
        fits = [m.machine_and_slice(task, target, train, test, C) for m, C in self.members]
        decisions = np.mean([machine.decisions(part.unknown) for machine, part in fits], axis=0)
        coefficients = tuple(machine.coefficients / part.unit for machine, part in fits)
        intercepts = np.mean([machine.intercepts for machine, _ in fits], axis=0)
        return HeldOut(train, test, np.asarray(decisions), coefficients, np.asarray(intercepts))

    @property
    def mean_loss(self) -> float:
        """Mean loss over all validation graphs; NaN without folds."""
        return float(np.concatenate(self.losses).mean()) if self.losses else float("nan")

    def judge(self, task: Task, target: NDArray[Any], train: Indices, test: Indices) -> Losses:
        """Return losses on the test graphs after a fit on the training graphs."""
        decisions = self.decide(task, target, train, test)
        n_columns = decisions.shape[1]
        identity = Machine(np.eye(n_columns), np.zeros(n_columns))
        return task.judge(self.candidate.maker, identity, decisions, target[train], target[test])


def with_partners(
    selections: Sequence[Selection], target: NDArray[Any], folds: Folds, task: Task
) -> Selection:
    """Return the best selection, with all others within two standard errors as its partners.

    With few graphs, the best of many candidates is the best by chance. The mean of the decisions is more
    reliable than any single candidate.
    """
    best = min(selections, key=lambda selection: selection.mean_loss)
    is_constant = any(task.is_constant(target[train]) for train, _ in folds)
    if is_constant:
        return best
    partners = tuple((s.candidate, s.C) for s in selections if s is not best and _is_close(s, best))
    if not partners:
        return best
    average = replace(best, partners=partners)
    return replace(average, losses=tuple(average.judge(task, target, *fold) for fold in folds))


def _is_close(selection: Selection, best: Selection) -> bool:
    """Return whether losses exceed the best by at most two standard errors on the same graphs (paired)."""
    gap = np.concatenate(selection.losses) - np.concatenate(best.losses)
    return bool(gap.sum() <= CLOSE * np.sqrt(np.sum(gap**2)))
