"""What the columns of a machine's decisions mean, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.duals import class_scores, vote

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class DecisionLayout:
    """Meaning of decision columns.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    pairwise : bool
        One column for each pair of classes, positive for the first (libsvm); otherwise one for each class
        against the rest, or, with two classes, a single one that is positive for the second.
    """

    n_classes: int
    pairwise: bool

    def predictions(self, decisions: Matrix) -> NDArray[np.int64]:
        """Class number of each row."""
        if self.pairwise:
            return vote(decisions, self.n_classes)
        if self.n_classes == 2:
            return (decisions[:, 0] > 0).astype(np.int64)
        return decisions.argmax(axis=1)

    def scores(self, decisions: Matrix) -> Matrix:
        """One score a class; for two classes a single one, for the second."""
        if not self.pairwise:
            return decisions
        return -decisions if self.n_classes == 2 else class_scores(decisions, self.n_classes)

    def of_pairs(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn weights of pairs of classes, positive for the first, into weights of the columns.

        Where columns are classes, a pair's decision is the difference of two columns.
        """
        if self.pairwise:
            return weights
        columns = np.zeros(self.n_classes)
        for weight, (first, second) in zip(weights, combinations(range(self.n_classes), 2), strict=True):
            columns[first] += weight
            columns[second] -= weight
        return columns[1:] if self.n_classes == 2 else columns
