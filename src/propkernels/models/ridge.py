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
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve
from scipy.linalg.lapack import get_lapack_funcs
from scipy.sparse import issparse

from propkernels.models.ridge_classification import one_against_rest
from propkernels.models.support_vectors import (
    ColumnMaker,
    Machine,
    SupportVectorRegression,
    Weights,
    with_effort,
)

Matrix = NDArray[Any]
Indices = NDArray[np.int64]
# An error e costs C |e| in a support vector regression and C' e^2 / 2 here. Both are equal for errors of a
# fifth of a standard deviation if C' is 10 C.
PER_COST = 10.0


@dataclass(frozen=True)
class RidgeRegression:
    """Least squares with a penalty on the norm and a free intercept: one linear system for any C.

    Attributes
    ----------
    epsilon : float, default=0.0
        Epsilon of the support vector regression that it replaces; not used.
    """

    epsilon: float = 0.0
    uses_features = False
    pairwise = False

    def fit(self, known: Matrix, target: Matrix, cost: float, weights: Weights = None) -> Machine:
        """Return a machine for one or several columns: ``(K + D / C') a = y - b`` and ``sum(a) = 0``."""
        penalty = np.full(len(known), 1 / (PER_COST * cost))
        if weights is not None:
            penalty /= np.maximum(weights, np.finfo(np.float64).tiny ** 0.5)
        system = known.copy()
        system.flat[:: len(known) + 1] += penalty.astype(known.dtype)
        sides = np.column_stack([target, np.ones(len(known))]).astype(known.dtype)
        try:
            solved = solve(system, sides, assume_a="pos", overwrite_a=True)
        except LinAlgError:  # the kernel is not positive definite
            solved = np.linalg.lstsq(known + np.diag(penalty), sides)[0]
        of_target, of_ones = solved[:, :-1], solved[:, -1]
        intercepts = of_target.sum(axis=0) / of_ones.sum()
        return Machine(of_target - np.outer(of_ones, intercepts), intercepts)


@dataclass(frozen=True)
class FeatureRegression:
    """Least squares on features, with a penalty on the weights and free intercepts.

    Attributes
    ----------
    epsilon : float, default=0.0
        Epsilon of the support vector regression that it replaces; not used.
    """

    epsilon: float = 0.0
    uses_features = True
    pairwise = False

    def fit(self, known: Any, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Return the machine that minimizes ``C' sum_i c_i (y_i - x_i w - b)^2 + |w|^2``."""
        return self.fit_path(known, target, [cost], weights)[0]

    def fit_path(
        self, known: Any, target: NDArray[Any], costs: Sequence[float], weights: Weights = None
    ) -> list[Machine]:
        """Return the machine of each cost; all share their products of features."""
        return _least_squares(known, target.reshape(len(target), -1), costs, weights)


@dataclass(frozen=True)
class FeatureClassification:
    """Least squares on features for columns of 1 and -1, one class against the rest."""

    uses_features = True
    pairwise = False

    def fit(self, known: Any, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Return the machine of :class:`FeatureRegression` for all classes, or for the second of two."""
        return self.fit_path(known, target, [cost], weights)[0]

    def fit_path(
        self, known: Any, target: NDArray[Any], costs: Sequence[float], weights: Weights = None
    ) -> list[Machine]:
        """Return the machine of each cost; all share their products of features."""
        return _least_squares(known, one_against_rest(target), costs, weights)


def _least_squares(known: Any, columns: Matrix, costs: Sequence[float], weights: Weights) -> list[Machine]:
    """Solve the normal equations of centered features for each cost."""
    shares = np.ones(len(columns)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = shares.sum()
    shares = shares / total
    middle, level = np.asarray(shares @ known).ravel(), shares @ columns
    gram = _weighted_products(known, shares) - np.outer(middle, middle)
    sides = np.asarray(known.T @ (shares[:, None] * columns)) - np.outer(middle, level)
    machines = []
    for cost in costs:
        system = gram.copy()
        system.flat[:: len(gram) + 1] += 1 / (PER_COST * cost * total)
        solved = np.asarray(solve(system, sides, assume_a="pos", overwrite_a=True))
        machines.append(Machine(solved, level - middle @ solved))
    return machines


def _weighted_products(rows: Any, shares: NDArray[np.float64]) -> Matrix:
    """Return ``X^T diag(shares) X`` as a dense matrix, for dense or sparse rows."""
    if issparse(rows):
        scaled = rows.multiply(shares[:, None])
        return np.asarray((rows.T @ scaled).toarray(), dtype=np.float64)
    scaled = np.sqrt(shares)[:, None] * rows
    return np.asarray(scaled.T @ scaled)  # one array twice: half of the products


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
        """Invert the system of :class:`RidgeRegression` for a kernel matrix and C.

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


def screening_maker(maker: Any) -> Any:
    """Return a maker of fast machines for the comparison of kernels."""
    if isinstance(maker, ColumnMaker):
        return ColumnMaker(screening_maker(maker.each), maker.class_weight)
    if isinstance(maker, SupportVectorRegression):
        return RidgeRegression(maker.epsilon)
    return with_effort(maker, "quick")
