"""Ridge regression on a kernel matrix, and the predictions of all folds from one inverse.

Let ``H`` be the block of the inverse of ``[[K + I / C', 1], [1, 0]]`` that belongs to the graphs, and
``a = H Y`` the dual coefficients. A machine fitted without the graphs S predicts ``Y_S - H_SS^-1 a_S`` for
them, exactly [1]_: one inverse serves every fold of every repeat. The Schur complement
``H_TT - H_TS H_SS^-1 H_ST`` replaces ``H`` for the training part T, so that settings can be chosen by
leave-one-out within T: nested cross-validation without another fit.

References
----------
.. [1] S. An, W. Liu and S. Venkatesh (2007). Fast cross-validation algorithms for least squares support
   vector machine and kernel ridge regression. Pattern Recognition 40 (8), 2154-2162.
   doi:10.1016/j.patcog.2006.12.015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import get_lapack_funcs

from propkernels.models.least_squares import PER_COST

Matrix = NDArray[Any]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class HeldOut:
    """Predictions of a machine fitted without one fold.

    Attributes
    ----------
    test : ndarray, (held-out graphs, columns)
    train : ndarray, (training graphs, columns)
        Each training graph is predicted from the other training graphs.
    """

    test: Matrix
    train: Matrix


@dataclass(frozen=True)
class RidgeFolds:
    """Ridge regressions without parts of the graphs, all from one inverse.

    Attributes
    ----------
    inverse : ndarray, (graphs, graphs)
        ``H`` of the module's docstring, in the precision of the kernel.
    """

    inverse: Matrix

    @classmethod
    def fit(cls, kernel: Matrix, cost: float) -> RidgeFolds:
        """Invert the system of least squares for a kernel matrix and C.

        Raises
        ------
        ValueError
            If the kernel matrix is not positive semidefinite.
        """
        plain = _inverted(kernel, 1 / (PER_COST * cost))
        of_ones = plain.sum(axis=1, dtype=np.float64)
        scaled = (of_ones / np.sqrt(of_ones.sum())).astype(plain.dtype)
        plain -= np.outer(scaled, scaled)
        return cls(plain)

    def held_out(self, columns: Matrix, folds: Sequence[tuple[Indices, Indices]]) -> list[HeldOut]:
        """Return predictions for the test and the training graphs of each fold (train, test)."""
        dual, inverse_diagonal = self.inverse @ columns, self.inverse.diagonal()
        predictions = []
        for train, test in folds:
            factor = self._factor(test)
            across = self.inverse[np.ix_(test, train)]
            solved = cho_solve(factor, across, check_finite=False)
            diagonal = inverse_diagonal[train] - np.einsum("ij,ij->j", across, solved)
            inner = columns[train] - (dual[train] - solved.T @ dual[test]) / diagonal[:, None]
            outer = columns[test] - cho_solve(factor, dual[test], check_finite=False)
            predictions.append(HeldOut(outer, inner))
        return predictions

    def cross_predict(self, columns: Matrix, folds: Sequence[tuple[Indices, Indices]]) -> Matrix:
        """Return predictions of each graph by the machine without its fold; folds must be a partition."""
        dual, predicted = self.inverse @ columns, np.empty_like(columns)
        for _, test in folds:
            solved = cho_solve(self._factor(test), dual[test], check_finite=False)
            predicted[test] = columns[test] - solved
        return predicted

    def _factor(self, part: Indices) -> tuple[Matrix, bool]:
        block = self.inverse[np.ix_(part, part)]
        factor: tuple[Matrix, bool] = cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
        return factor


def _inverted(kernel: Matrix, penalty: float) -> Matrix:
    """Return ``(K + penalty I)^-1``."""
    system = np.array(kernel, order="F")
    system[np.diag_indices(len(system))] += penalty
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (system,))
    factor, failed = potrf(system, lower=1, overwrite_a=1)
    if not failed:
        lower, failed = potri(factor, lower=1, overwrite_c=1)
    if failed:
        raise ValueError("the kernel matrix is not positive semidefinite: choose another kernel")
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)
