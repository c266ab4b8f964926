"""Machines on kernel matrices and on features: one small class for each solver and task.

All of them have a method ``fit(known, target, cost)`` that returns a :class:`Machine`; ``known`` is the
kernel matrix of the graphs to learn from, or their features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.machines.decisions import pairwise_coefficients

Matrix = NDArray[np.float64]
SATURATED = 0.9  # share of multipliers at C above which C is too small to judge a machine by
FREE = 0.01  # share of multipliers at C below which a larger C changes little


@dataclass(frozen=True)
class Machine:
    """A fitted machine: decisions are ``rows @ coefficients + intercepts``.

    Attributes
    ----------
    coefficients : ndarray, (training graphs or columns of features, decisions)
    intercepts : ndarray, (decisions,)
    is_final : bool
        A larger C gives the same machine.
    is_settled : bool
        C is so large that not nearly all multipliers are at C; below, accuracy says little about larger C.
    is_nearly_final : bool
        Hardly any multiplier is at C: a larger one gives nearly the same machine.
    details : object, optional
        What else the solver knows (a Gaussian process: its uncertainty).
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]
    is_final: bool = False
    is_settled: bool = True
    is_nearly_final: bool = False
    details: Any = None

    def decisions(self, rows: Any) -> Matrix:
        """Decisions on rows of a kernel matrix, or on features."""
        return np.asarray(rows @ self.coefficients) + self.intercepts


class MachineMaker(Protocol):
    """Learns machines."""

    uses_features: bool
    pairwise: bool

    def fit(self, known: Any, target: NDArray[Any], cost: float) -> Machine:
        """Learn from the kernel matrix or the features of some graphs."""


@dataclass(frozen=True)
class SupportVectorClassification:
    """The C-SVM, libsvm's: one machine for each pair of classes."""

    uses_features = False
    pairwise = True

    def fit(self, known: Matrix, target: NDArray[np.int64], cost: float) -> Machine:
        """Learn from a kernel matrix."""
        from sklearn.svm import SVC

        machine = SVC(kernel="precomputed", C=cost).fit(known, target)
        coefficients, intercepts = pairwise_coefficients(machine, len(known))
        return Machine(coefficients, intercepts, *_state(machine.dual_coef_, cost, len(known)))


@dataclass(frozen=True)
class SupportVectorRegression:
    """The epsilon-SVR, libsvm's."""

    epsilon: float
    uses_features = False
    pairwise = False

    def fit(self, known: Matrix, target: NDArray[np.float64], cost: float) -> Machine:
        """Learn from a kernel matrix."""
        from sklearn.svm import SVR

        machine = SVR(kernel="precomputed", C=cost, epsilon=self.epsilon).fit(known, target)
        coefficients = np.zeros((len(known), 1))
        coefficients[machine.support_, 0] = machine.dual_coef_[0]
        intercepts = np.asarray(machine.intercept_, dtype=np.float64)
        return Machine(coefficients, intercepts, *_state(machine.dual_coef_, cost, len(known)))


def _state(multipliers: Matrix, cost: float, n_graphs: int) -> tuple[bool, bool, bool]:
    """Whether a larger C changes nothing, C is large enough to judge by, a larger C changes little."""
    share = float((np.abs(multipliers) >= cost).any(axis=0).sum()) / n_graphs
    return share == 0, share < SATURATED, share < FREE
