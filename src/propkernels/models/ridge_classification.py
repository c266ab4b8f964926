"""Least squares for classes and for several labels, on a kernel matrix.

All columns are solved together by conjugate gradients [1]_, each with the graphs that have an entry.

References
----------
.. [1] M. R. Hestenes and E. Stiefel (1952). Methods of conjugate gradients for solving linear systems.
   Journal of Research of the National Bureau of Standards 49 (6), 409-436. doi:10.6028/jres.049.044.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from propkernels._utils.parallel import one_blas_thread
from propkernels.models.support_vectors import Machine, Weights

Matrix = NDArray[np.float64]
STEPS = {"quick": 50, "patient": 200, "full": 1000}  # of conjugate gradients, at most
TOLERANCE = 1e-4  # of residuals, beside those of the first step


@dataclass(frozen=True)
class RidgeClassification:
    """Least squares for columns of 1 and -1: one class against the rest, or several labels with gaps.

    Within the training molecules of SIDER and Tox21, rankings of new scaffolds were one to two points of
    ROC-AUC better than those of support vector machines.

    Attributes
    ----------
    class_weight : dict, "balanced" or None
        Weights of the labels 0 and 1; only with several labels.
    effort : {"quick", "patient", "full"}
        Limit of steps; "quick" is enough to compare candidates.
    """

    class_weight: Any = None
    effort: str = "full"
    uses_features = False
    pairwise = False

    def fit(self, known: Matrix, target: NDArray[Any], cost: float, weights: Weights = None) -> Machine:
        """Return the machine of all columns: ``(K + D / C) a = y - b`` and ``sum(a) = 0`` for each."""
        columns = 2 * target - 1 if target.ndim == 2 else one_against_rest(target)
        shares = _label_weights(target, self.class_weight) if target.ndim == 2 else np.ones_like(columns)
        if weights is not None:
            shares = shares * weights[:, None]
        with one_blas_thread():  # otherwise bits depend on the number of threads
            return conjugate_gradients(known, np.nan_to_num(columns), shares, cost, STEPS[self.effort])


def one_against_rest(target: NDArray[Any]) -> Matrix:
    """Return columns of 1 and -1 for all classes, or for the second of two."""
    classes = np.unique(target)
    return np.where(target[:, None] == classes[1 if len(classes) == 2 else 0 :], 1.0, -1.0)


def _label_weights(target: Matrix, class_weight: Any) -> Matrix:
    """Return the weight of each entry: that of its label, and 0 if it is missing."""
    shares = (~np.isnan(target)).astype(np.float64)
    if class_weight is not None:
        for share, column in zip(shares.T, target.T, strict=True):
            observed = ~np.isnan(column)
            share[observed] = compute_sample_weight(class_weight, column[observed].astype(np.int64))
    return shares


def conjugate_gradients(known: Matrix, columns: Matrix, shares: Matrix, cost: float, most: int) -> Machine:
    """Return the machine of all columns, each with weights of its own; entries of weight 0 are left out.

    With ``s = sqrt(shares)`` and ``a = s u``, conjugate gradients solve ``s K s u + u / C = s (y - b)`` for u
    orthogonal to s, and b is what remains along s.
    """
    roots = np.sqrt(shares)
    totals = np.maximum(shares.sum(axis=0), np.finfo(np.float64).tiny)

    def across(rows: Matrix) -> Matrix:
        return np.asarray(rows - roots * (np.einsum("ij,ij->j", roots, rows) / totals))

    def times(rows: Matrix) -> Matrix:
        return np.asarray(roots * (known @ (roots * rows)) + rows / cost)

    residual = across(roots * columns)
    solved, step = np.zeros_like(residual), residual.copy()
    length = np.einsum("ij,ij->j", residual, residual)
    enough = length * TOLERANCE**2
    is_open = length > 0
    for _ in range(most):
        if not is_open.any():
            break
        image = across(times(step))
        curvature = np.einsum("ij,ij->j", step, image)
        is_open &= curvature > 0  # the kernel is not positive definite
        pace = np.where(is_open, length / np.where(is_open, curvature, 1.0), 0.0)
        solved += pace * step
        residual -= pace * image
        before, length = length, np.einsum("ij,ij->j", residual, residual)
        is_open &= length > enough
        step = residual + np.where(is_open, length / np.where(is_open, before, 1.0), 0.0) * step
    left = np.einsum("ij,ij->j", roots, roots * columns - times(solved)) / totals
    is_empty = ~(shares > 0).any(axis=0)
    return Machine(roots * solved, np.where(is_empty, -1.0, left), is_converged=not is_open.any())
