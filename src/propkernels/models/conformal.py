"""Conformal prediction from held-out decisions: sets of classes and intervals of numbers with a coverage.

Every training graph i has a score R_i from its held-out decision f_-i(x_i): |y_i - f_-i(x_i)| for numbers,
and 1 / (1 + exp(margin)) for classes, where the margin is how far the graph's class is ahead of its strongest
rival. With n scores and r = ceil(coverage (n + 1)), q is the r-th smallest one. The interval of a new graph
is [f(x) - q, f(x) + q]; a class is in its set if the score of the class is at most q, with scores and q of
each class apart (Mondrian), so that each class has the coverage.

Held-out decisions are those of ten folds, without each of which the model is chosen anew (cross-conformal
prediction [1]_, [2]_): the decisions of one model about the graphs that chose it are too good. New graphs are
decided by the model of all graphs, whose guarantee needs decisions that hardly change if a fold is left out.
With few graphs a little more is covered than asked for; measured coverage is in the documentation.

References
----------
.. [1] V. Vovk (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74, 9-28.
   doi:10.1007/s10472-013-9368-4.
.. [2] R. F. Barber, E. J. Candes, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
   jackknife+. Annals of Statistics 49 (1), 486-507. doi:10.1214/20-AOS1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_nonnegative, shown
from propkernels._utils.stored import require

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Conformal:
    """Scores of held-out graphs.

    Attributes
    ----------
    scores : list of ndarray
        Sorted scores of each group: a class, a value of a label, or a column of numbers.
    """

    scores: list[Values]

    def _check_parts(self) -> None:
        """Raise unless scores are sorted."""
        require(bool(self.scores), "scores of at least one group are needed")
        for scores in self.scores:
            require(scores.ndim == 1 and bool((np.diff(scores) >= 0).all()), "scores must be sorted")

    @classmethod
    def of(cls, scores: Matrix) -> Conformal:
        """Return the scores of each column, (graphs, groups), without missing ones (NaN)."""
        return cls([np.sort(column[~np.isnan(column)]) for column in scores.T])

    def quantiles(self, coverage: float) -> Values:
        """Return q of each group; infinite if it has too few graphs for the coverage."""
        ranks = [math.ceil(coverage * (len(scores) + 1)) for scores in self.scores]
        return np.array(
            [
                scores[r - 1] if r <= len(scores) else np.inf
                for r, scores in zip(ranks, self.scores, strict=True)
            ]
        )


def check_coverage(coverage: Any) -> float:
    """Return a coverage between 0 and 1, both excluded."""
    checked = check_nonnegative(coverage, "coverage")
    if not 0 < checked < 1:
        raise ValueError(f"coverage must be above 0 and below 1, got {shown(coverage)}")
    return checked
