"""Linear machines on sparse features, for so many graphs that no kernel matrix should be formed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.learn.machines import SATURATED, Machine

STOCHASTIC_FROM = 200_000  # graphs from which on stochastic gradients take liblinear's place
TOLERANCE, MOST_SWEEPS = 1e-3, 2000
SEED = 0  # of the order in which coordinates are visited: the same data, the same machine
_ONE_AT_A_TIME = Lock()  # liblinear's random numbers are one sequence for the whole process


@dataclass(frozen=True)
class LinearClassification:
    """Linear C-SVM with hinge loss (liblinear), one machine for each class against the rest."""

    uses_features = True
    pairwise = False

    def fit(self, known: Any, target: NDArray[np.int64], cost: float) -> Machine:
        """Learn from sparse features."""
        with _undisturbed():
            machine = self._machine(known.shape[0], cost).fit(known, target)
        coefficients = np.ascontiguousarray(machine.coef_.T)
        return Machine(
            coefficients, np.asarray(machine.intercept_), False, _is_settled(machine, known, target)
        )

    def _machine(self, n_graphs: int, cost: float) -> Any:
        from sklearn.linear_model import SGDClassifier
        from sklearn.svm import LinearSVC

        if n_graphs > STOCHASTIC_FROM:
            return SGDClassifier(loss="hinge", alpha=1 / (cost * n_graphs), average=True, random_state=SEED)
        return LinearSVC(loss="hinge", C=cost, tol=TOLERANCE, max_iter=MOST_SWEEPS, random_state=SEED)


@dataclass(frozen=True)
class LinearRegression:
    """Linear epsilon-SVR (liblinear)."""

    epsilon: float
    uses_features = True
    pairwise = False

    def fit(self, known: Any, target: NDArray[np.float64], cost: float) -> Machine:
        """Learn from sparse features."""
        with _undisturbed():
            machine = self._machine(known.shape[0], cost).fit(known, target)
        coefficients = np.ascontiguousarray(machine.coef_.reshape(-1, 1))
        return Machine(coefficients, np.atleast_1d(np.asarray(machine.intercept_, dtype=np.float64)))

    def _machine(self, n_graphs: int, cost: float) -> Any:
        from sklearn.linear_model import SGDRegressor
        from sklearn.svm import LinearSVR

        if n_graphs > STOCHASTIC_FROM:
            return SGDRegressor(
                loss="epsilon_insensitive",
                epsilon=self.epsilon,
                alpha=1 / (cost * n_graphs),
                average=True,
                random_state=SEED,
            )
        return LinearSVR(epsilon=self.epsilon, C=cost, tol=TOLERANCE, max_iter=MOST_SWEEPS, random_state=SEED)


def _is_settled(machine: Any, known: Any, target: NDArray[np.int64]) -> bool:
    """Whether a fair share of graphs lies outside the margin."""
    scores = machine.decision_function(known)
    if scores.ndim == 1:
        margins = np.where(target == machine.classes_[1], scores, -scores)
    else:
        margins = scores[np.arange(len(target)), np.searchsorted(machine.classes_, target)]
    return bool(np.mean(margins < 1) < SATURATED)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Coordinate descent that is cut short is a machine like any other: cross-validation judges it.

    One thread at a time: liblinear's random numbers, and Python's filters of warnings, belong to the process.
    """
    from sklearn.exceptions import ConvergenceWarning

    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        yield
