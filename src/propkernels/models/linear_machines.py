"""Linear machines on sparse features, for numbers of graphs too large for a kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.models.support_vectors import SATURATED, Machine, Weights

STOCHASTIC_FROM = 200_000  # graphs above which stochastic gradients replace liblinear
PRIMAL = {"dual": False, "tol": 1e-4, "max_iter": 10_000}  # Newton's method: no random numbers, few steps
QUICK = {"dual": False, "tol": 1e-2, "max_iter": 30}  # enough to compare candidates
SEED = 0  # seed of stochastic gradients, so that fits are reproducible


@dataclass(frozen=True)
class LinearClassification:
    """Linear C-SVM with squared hinge loss (liblinear), one class against the rest."""

    effort: str = "full"
    uses_features = True
    pairwise = False

    def fit(self, known: Any, target: NDArray[np.int64], cost: float, weights: Weights = None) -> Machine:
        """Return a machine fitted to sparse features."""
        machine = self._machine(known.shape[0], cost).fit(known, target, sample_weight=weights)
        coefficients = np.ascontiguousarray(machine.coef_.T)
        return Machine(
            coefficients, np.asarray(machine.intercept_), False, _is_settled(machine, known, target)
        )

    def _machine(self, n_graphs: int, cost: float) -> Any:
        from sklearn.linear_model import SGDClassifier
        from sklearn.svm import LinearSVC

        if n_graphs > STOCHASTIC_FROM:
            return SGDClassifier(loss="hinge", alpha=1 / (cost * n_graphs), average=True, random_state=SEED)
        return LinearSVC(loss="squared_hinge", C=cost, **(QUICK if self.effort == "quick" else PRIMAL))


@dataclass(frozen=True)
class LinearRegression:
    """Linear epsilon-SVR with squared loss outside the tube (liblinear)."""

    epsilon: float
    effort: str = "full"
    uses_features = True
    pairwise = False

    def fit(self, known: Any, target: NDArray[np.float64], cost: float, weights: Weights = None) -> Machine:
        """Return a machine fitted to sparse features."""
        machine = self._machine(known.shape[0], cost).fit(known, target, sample_weight=weights)
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
        effort = QUICK if self.effort == "quick" else PRIMAL
        return LinearSVR(loss="squared_epsilon_insensitive", epsilon=self.epsilon, C=cost, **effort)


def _is_settled(machine: Any, known: Any, target: NDArray[np.int64]) -> bool:
    """Return whether the share of graphs within the margin is below ``SATURATED``."""
    scores = machine.decision_function(known)
    if scores.ndim == 1:
        margins = np.where(target == machine.classes_[1], scores, -scores)
    else:
        margins = scores[np.arange(len(target)), np.searchsorted(machine.classes_, target)]
    return bool(np.mean(margins < 1) < SATURATED)
