"""Choosing a kernel and C on a training part, with few machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from propkernels.learn.selection.folds import Fold, Indices
from propkernels.learn.selection.race import Race, Trial

Matrix = NDArray[np.float64]
SATURATED = 0.9


@dataclass(frozen=True)
class _Arm:
    """A kernel to be tried with several values of C."""

    kernel: Matrix
    costs: tuple[float, ...]

    def trials(
        self, target: NDArray[np.int64], train: Indices, test: Indices, positions: Sequence[int]
    ) -> Iterator[Trial]:
        """Mistakes on the validation graphs, for one C after the other, until a larger C changes nothing."""
        if len(np.unique(target[train])) == 1:
            yield Trial((target[test] != target[train[0]]).astype(np.float64), True, True)
            return
        unit = float(self.kernel.diagonal()[train].mean()) or 1.0
        known, unknown = (self.kernel[np.ix_(rows, train)] / unit for rows in (train, test))
        for position in positions:
            cost = self.costs[position]
            machine = SVC(kernel="precomputed", C=cost).fit(known, target[train])
            wrong = (machine.predict(unknown) != target[test]).astype(np.float64)
            at_bound = np.abs(machine.dual_coef_) >= cost
            settled = bool(at_bound.any(axis=0).sum() < SATURATED * len(train))
            yield Trial(wrong, not at_bound.any(), settled)
            if not at_bound.any():
                return


def race(
    candidates: Mapping[Any, Matrix], target: NDArray[np.int64], fold: Fold, costs: Sequence[float]
) -> tuple[Any, float]:
    """Return the name of the kernel and the C with the fewest mistakes on the inner folds.

    All meet the first inner fold; those that cannot win any more, or lie more than three standard errors
    behind the leader on the same graphs, are left there (:class:`Race`). Ties go to
    the first kernel, then to the smaller C. Only graphs of ``fold.train`` are looked at.

    Parameters
    ----------
    candidates : mapping from a name to a kernel matrix of all graphs
    target : ndarray of int
    fold : Fold
    costs : sequence of float
        Smallest first, in units of one over the mean diagonal of the training kernel.

    Examples
    --------
    >>> from propkernels.learn.selection.folds import draw_folds, draw_seeds
    >>> target = np.repeat([0, 1], 20)
    >>> good, useless = np.equal.outer(target, target).astype(float), np.ones((40, 40))
    >>> fold = draw_folds(target, 4, 3, draw_seeds(0, 1)[0])[0]
    >>> race({"useless": useless, "good": good}, target, fold, [1.0, 10.0])
    ('good', 1.0)
    """
    names = list(candidates)
    if len(names) * len(costs) == 1 or not fold.inner:
        return names[0], costs[0]
    arms = [_Arm(candidates[name], tuple(costs)) for name in names]

    def trials(arm: _Arm, number: int, positions: Sequence[int]) -> Iterator[Trial]:
        return arm.trials(target, *fold.inner[number], positions)

    winner = Race(arms, len(fold.inner), trials, is_exact=False).run()
    assert winner is not None
    return names[winner.arm], costs[winner.cost]
