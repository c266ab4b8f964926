"""Least squares on kernel values with some training graphs, the landmarks.

A decision is a sum over landmarks z_j (the subset of regressors; Smola and Schölkopf 2000),

    f(x) = sum_j a_j k(x, z_j) + b,   minimizing   C sum_i c_i (y_i - f(x_i))^2 + a^T K_mm a

over all n training graphs, so that ``(K_nm^T D K_nm + K_mm / C) a = K_nm^T D (y - b)`` with ``D = diag(c)``.
Time grows with n m^2, memory with n m and m^2; a matrix of all graphs is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve

from propkernels._utils.parallel import one_blas_thread
from propkernels.models.ridge_classification import one_against_rest
from propkernels.models.support_vectors import Machine, Weights

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]
JITTER = 1e-4  # of k(x, x), added to K_mm: equal landmarks, and rounding of kernel values to 24 bits


class Equations(NamedTuple):
    """Sums over the training graphs with weights c_i.

    Attributes
    ----------
    products : ndarray, (landmarks, landmarks)
        ``K_nm^T D K_nm``.
    sides : ndarray, (landmarks, columns + 1)
        ``K_nm^T D y`` of each column, and ``K_nm^T D 1``.
    """

    products: Matrix
    sides: Matrix


class LandmarkRows(Protocol):
    """Kernel values of training graphs with landmarks."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Positions of the landmarks among the training graphs."""

    @property
    def between(self) -> Matrix:
        """Kernel values between landmarks, a new array."""

    def equations(self, columns: Matrix, weights: Values) -> Equations:
        """Return the sums over all training graphs, in new arrays."""


@dataclass(frozen=True)
class LandmarkClassification:
    """Least squares for columns of 1 and -1, one class against the rest."""

    uses_features = False
    pairwise = False

    def fit(self, known: LandmarkRows, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Return the machine of all classes, or of the second of two."""
        return _least_squares(known, one_against_rest(target), cost, weights)


@dataclass(frozen=True)
class LandmarkRegression:
    """Least squares for numbers.

    Attributes
    ----------
    epsilon : float, default=0.0
        Epsilon of the support vector regression that it replaces; not used.
    """

    epsilon: float = 0.0
    uses_features = False
    pairwise = False

    def fit(self, known: LandmarkRows, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Return the machine of the numbers."""
        return _least_squares(known, target.reshape(len(target), -1), cost, weights)


def _least_squares(known: LandmarkRows, columns: Matrix, cost: float, weights: Weights) -> Machine:
    """Return a machine with one coefficient per training graph, 0 except for landmarks."""
    shares = np.ones(len(columns)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = shares.sum()
    with one_blas_thread():  # otherwise bits depend on the number of threads
        system, sides = known.equations(columns, shares)
        middle, level = sides[:, -1] / total, shares @ columns / total
        system -= total * np.outer(middle, middle)
        solved = _solved(system, known.between, sides[:, :-1] - total * np.outer(middle, level), cost)
    coefficients = np.zeros_like(columns)
    coefficients[known.places] = solved
    return Machine(coefficients, level - middle @ solved)


def _solved(system: Matrix, between: Matrix, sides: Matrix, cost: float) -> Matrix:
    """Return the solution of the centered equations; ``between`` is changed."""
    between.flat[:: len(between) + 1] += JITTER * max(between.diagonal().mean(), np.finfo(np.float64).tiny)
    between /= cost
    system += between
    try:
        return np.asarray(solve(system, sides, assume_a="pos"))
    except LinAlgError:  # the kernel is not positive semidefinite
        return np.asarray(np.linalg.lstsq(system, sides)[0])
