"""L-BFGS on exact sums: the same steps for any number of workers, and for any cut of the rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from propkernels.learn.linear.rows import Problem, Rows
from propkernels.utils.parallel import one_blas_thread
from propkernels.utils.progress import ProgressBar

Values = NDArray[np.float64]
CORRECTIONS = 10  # pairs of steps and gradients that L-BFGS remembers
NO_PROGRESS = 64 * np.finfo(np.float64).eps  # relative decrease at which it stops, as scikit-learn has it


class Learned(NamedTuple):
    """Coefficients, the intercept last, and how many iterations they took."""

    coefficients: Values
    n_iterations: int


@dataclass(frozen=True)
class Settings:
    """How a linear model is learned.

    Attributes
    ----------
    cost : float
        C: what losses count against the squared length of the coefficients.
    fit_intercept : bool
    tolerance : float
        Largest entry of the gradient of the mean loss at which to stop.
    max_iter : int
    """

    cost: float
    fit_intercept: bool
    tolerance: float
    max_iter: int


def minimize_loss(rows: Rows, problem: Problem, settings: Settings, text: str) -> Learned:
    """Minimize (sum of weighted losses + |w|^2 / (2 C)) / (sum of weights) by L-BFGS.

    Parameters
    ----------
    rows : Rows
    problem : Problem
    settings : Settings
    text : str
        What the progress bar says.
    """
    survey, total = rows.survey(problem), math.fsum(problem.weights.tolist())
    with ProgressBar(text, settings.max_iter) as bar, one_blas_thread():

        def value_and_gradient(coefficients: Values) -> tuple[float, Values]:
            rounding = survey.rounding(problem.loss, coefficients)
            loss, gradient = rows.sums(problem, coefficients, rounding).result()
            weights = coefficients[:-1]
            gradient[:-1] += weights / settings.cost
            if not settings.fit_intercept:
                gradient[-1] = 0.0
            value = loss + float(weights @ weights) / (2 * settings.cost)
            return value / total, gradient / total

        found = minimize(
            value_and_gradient,
            np.zeros(len(rows.outline.columns) + 1),
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: bar.step(),
            options={
                "maxiter": settings.max_iter,
                "maxfun": 20 * settings.max_iter,
                "maxcor": CORRECTIONS,
                "gtol": settings.tolerance,
                "ftol": NO_PROGRESS,
            },
        )
    if found.status != 0:
        why = "" if found.status == 1 else f" ({found.message})"
        warnings.warn(
            f"L-BFGS stopped after {found.nit} iterations, before it converged{why}: increase max_iter or "
            "tol, or decrease C",
            ConvergenceWarning,
            stacklevel=4,
        )
    return Learned(rows.expanded(np.asarray(found.x)), max(int(found.nit), 1))
