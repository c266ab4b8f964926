"""Calls of libsvm on kernel matrices, without the checks that scikit-learn repeats at every fit.

Model selection fits thousands of machines to matrices that were checked before; on a few hundred graphs the
checks of :class:`~sklearn.svm.SVC` take longer than the solver. :func:`solve` hands the same arrays to the
same solver, so that machines are equal to the bit. Where scikit-learn's binding of libsvm is not as expected,
or the input is not finite, the public estimators do the work and raise the errors.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

CLASSIFICATION, REGRESSION = 0, 3  # kinds of machines by their numbers in libsvm
CACHE = 200.0  # megabytes of kernel rows, the default of scikit-learn
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Dual:
    """Solution of libsvm, with the signs of libsvm: for two classes, positive for the first.

    Attributes
    ----------
    support : ndarray of int
        Graphs with a coefficient, class by class.
    n_support : ndarray of int
        Number of such graphs per class; of an SVR, of all graphs.
    coefficients : ndarray, (classes - 1 or 1, support)
    intercepts : ndarray, (pairs of classes or 1,)
    is_converged : bool
    """

    support: NDArray[Any]
    n_support: NDArray[Any]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    is_converged: bool


def solve(
    kind: int,
    known: NDArray[np.float64],
    target: NDArray[Any],
    cost: float,
    weights: NDArray[np.float64] | None,
    limit: int,
    epsilon: float = 0.1,
) -> Dual:
    """Return the dual solution of a C-SVM or an SVR on a kernel matrix, after at most ``limit`` steps.

    Parameters
    ----------
    kind : {CLASSIFICATION, REGRESSION}
    known : ndarray, (graphs, graphs)
    target : ndarray
        Classes or numbers.
    cost : float
    weights : ndarray or None
        Factors of the cost, one per graph.
    limit : int
        Largest number of steps; -1 for no limit. A solver that stops early warns.
    epsilon : float
        Half of the width of the tube of an SVR.
    """
    binding = find_binding()
    known = np.ascontiguousarray(known, dtype=np.float64)
    if binding is None or not np.isfinite(known.sum()):
        return _solve_by_estimator(kind, known, target, cost, weights, limit, epsilon)
    classes, numbers = class_numbers(target) if kind == CLASSIFICATION else (np.empty(0), target)
    support, _, n_support, coefficients, intercepts, _, _, status, _ = binding.fit(
        known,
        np.ascontiguousarray(numbers, dtype=np.float64),
        svm_type=kind,
        kernel="precomputed",
        gamma=0.0,
        C=cost,
        epsilon=epsilon,
        class_weight=np.ones(len(classes)),
        sample_weight=np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        tol=TOLERANCE,
        cache_size=CACHE,
        max_iter=limit,
    )
    if status:
        _warn_of_stop(limit)
    n_support = n_support if kind == CLASSIFICATION else n_support[:1]
    return Dual(support, n_support, coefficients, intercepts, status == 0)


def class_numbers(target: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the classes that occur, in order, and the position of each target among them.

    Examples
    --------
    >>> class_numbers(np.array([5, 2, 5]))
    (array([2, 5]), array([1., 0., 1.]))
    """
    found, positions = np.unique(target, return_inverse=True)
    return found, positions.astype(np.float64)


@cache
def find_binding() -> Any:
    """Return scikit-learn's module that calls libsvm; None if it does not solve a matrix of two graphs."""
    try:
        from sklearn.svm import _libsvm

        _libsvm.set_verbosity_wrap(0)
        found = _libsvm.fit(
            np.eye(2),
            np.array([0.0, 1.0]),
            svm_type=CLASSIFICATION,
            kernel="precomputed",
            gamma=0.0,
            C=1.0,
            epsilon=0.1,
            class_weight=np.ones(2),
            sample_weight=np.empty(0),
            tol=TOLERANCE,
            cache_size=CACHE,
            max_iter=-1,
        )
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    return _libsvm if len(found) == 9 and found[0].tolist() == [0, 1] else None


def _solve_by_estimator(
    kind: int,
    known: NDArray[np.float64],
    target: NDArray[Any],
    cost: float,
    weights: NDArray[np.float64] | None,
    limit: int,
    epsilon: float,
) -> Dual:
    """Return the solution of scikit-learn's public estimators, which validate their input."""
    from sklearn.svm import SVC, SVR

    options: dict[str, Any] = {"kernel": "precomputed", "C": cost, "max_iter": limit}
    machine = SVC(**options) if kind == CLASSIFICATION else SVR(epsilon=epsilon, **options)
    with config_context(skip_parameter_validation=True):
        machine.fit(known, target, weights)
    # scikit-learn turns the signs of machines for two classes
    sign = -1.0 if kind == CLASSIFICATION and len(machine.n_support_) == 2 else 1.0
    return Dual(
        machine.support_,
        machine.n_support_,
        sign * machine.dual_coef_,
        sign * machine.intercept_,
        machine.fit_status_ == 0,
    )


def _warn_of_stop(limit: int) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(f"libsvm stopped early, after {limit} steps", ConvergenceWarning, stacklevel=4)
