"""Kernel least squares with an intercept: one solver for classes and numbers, with exact held-out decisions.

Let K be the kernel matrix of n graphs, Y their targets (n, columns), w their weights and D = diag(sqrt(w)).
Decisions f(x) = sum_i a_i k(x, x_i) + b minimize the weighted squared error plus ``ridge`` times the squared
norm. With A = (D K D + ridge I)^-1, d = D 1 and G = A - A d d' A / (d' A d):

    a = D G D Y,   b = d' A D Y / (d' A d).

A graph i that is left out, alone or with the other graphs S of its group, has the decision [1]_

    f_-i(x_i) = y_i - (G D Y)_i / (G_ii d_i),   or   Y_S - D_S^-1 (G_SS)^-1 (G D Y)_S:

choosing, calibrating and conformal sets need no folds.

References
----------
.. [1] S. An, W. Liu and S. Venkatesh (2007). Fast cross-validation algorithms for least squares support
   vector machine and kernel ridge regression. Pattern Recognition 40 (8), 2154-2162.
   doi:10.1016/j.patcog.2006.12.015.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg import solve as solve_system
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.sparse import issparse

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]
Indices = NDArray[np.int64]
RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # in mean diagonals of the kernel matrix


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of the training graphs, (n, columns), intercepts, held-out decisions, and the ridge."""

    coefficients: Matrix
    intercepts: Values
    held_out: Matrix
    ridge: float


def solve(
    kernel: Matrix,
    targets: Matrix,
    ridges: Sequence[float] = RIDGES,
    weights: Values | None = None,
    groups: Sequence[Indices] | None = None,
) -> list[Solution]:
    """Return one solution per ridge.

    Parameters
    ----------
    kernel : ndarray, (n, n)
    targets : ndarray, (n, columns)
        NaN: missing; columns with the same missing entries are solved together, without these graphs.
    ridges : sequence of float
        In mean diagonals of the kernel matrix.
    weights : ndarray, (n,), optional
        Weights of squared errors; graphs of weight 0 are not learned from.
    groups : sequence of ndarray, optional
        Graphs that are left out together; by default each alone.

    Returns
    -------
    list of Solution
        Held-out decisions of missing entries, and of graphs of weight 0, are those of the model itself.
    """
    n, n_columns = targets.shape
    unit = float(kernel.diagonal().mean()) or 1.0
    found = [
        Solution(np.zeros((n, n_columns)), np.zeros(n_columns), np.zeros((n, n_columns)), float(ridge))
        for ridge in ridges
    ]
    for columns, pattern in patterns_of(targets):
        pattern = pattern if weights is None else pattern & (weights > 0)
        rows = np.flatnonzero(pattern)
        whole = len(rows) == n
        if not len(rows):
            continue
        part = kernel if whole else np.ascontiguousarray(kernel[np.ix_(rows, rows)])
        scale = np.ones(len(rows)) if weights is None else np.sqrt(weights[rows] / weights[rows].mean())
        places = _places(groups, rows, n)
        penalties = [unit * ridge for ridge in ridges]
        solved = _projected(part, scale, targets[np.ix_(rows, columns)], penalties, places)
        for one, (coefficients, intercepts, held_out) in zip(found, solved, strict=True):
            one.coefficients[np.ix_(rows, columns)] = coefficients
            one.intercepts[columns] = intercepts
            one.held_out[np.ix_(rows, columns)] = held_out
            if not whole:
                others = np.flatnonzero(~pattern)
                decided = kernel[np.ix_(others, rows)] @ coefficients + intercepts
                one.held_out[np.ix_(others, columns)] = decided
    return found


def _places(groups: Sequence[Indices] | None, rows: Indices, n: int) -> list[Indices] | None:
    """Return the positions, among ``rows``, of each group that has some; None if each graph is alone."""
    if groups is None:
        return None
    at = np.full(n, -1)
    at[rows] = np.arange(len(rows))
    return [places[places >= 0] for places in (at[group] for group in groups) if (places >= 0).any()]


def _projected(
    kernel: Matrix,
    scale: Values,
    targets: Matrix,
    penalties: Sequence[float],
    groups: list[Indices] | None,
) -> Iterator[tuple[Matrix, Values, Matrix]]:
    """Yield coefficients, intercepts and held-out decisions for each penalty; see the formulas above."""
    scaled = scale[:, None] * targets
    inverses = _inverses(kernel if (scale == 1).all() else scale[:, None] * kernel * scale, penalties)
    for multiply, block in inverses:
        a_d, a_y = multiply(scale), multiply(scaled)
        total = scale @ a_d
        intercepts = scale @ a_y / total
        dual = a_y - np.outer(a_d, intercepts)
        if groups is None:
            own = (block(None) - a_d**2 / total).clip(np.finfo(float).tiny)  # 0 if there is a single graph
            residuals = dual / own[:, None]
        else:
            residuals = np.empty_like(dual)
            for group in groups:
                own = block(group) - np.outer(a_d[group], a_d[group]) / total
                residuals[group] = np.linalg.lstsq(own, dual[group], rcond=1e-12)[0]
        yield scale[:, None] * dual, intercepts, targets - residuals / scale[:, None]


def _inverses(kernel: Matrix, penalties: Sequence[float]) -> Iterator[tuple[Any, Any]]:
    """Yield two functions per penalty: products with A, and its diagonal (None) or the block of a group.

    A is R' R, where R is the inverse of the Cholesky factor, in two thirds of n^3 operations. Where there is
    no factor, since a kernel is not positive definite, negative eigenvalues count as 0.
    """
    for penalty in penalties:
        system = np.array(kernel.T, order="F")  # of a symmetric matrix: rows become columns without a shuffle
        system.flat[:: len(system) + 1] += penalty
        factor, failed = dpotrf(system, lower=1, overwrite_a=1)
        if not failed:
            root, failed = dtrtri(factor, lower=1, overwrite_c=1)
        if failed:
            values, vectors = eigh(kernel, driver="evd", check_finite=False)
            root = np.asfortranarray((vectors / np.sqrt(values.clip(0) + penalty)).T)
        yield (
            lambda x, r=root: r.T @ (r @ x),
            lambda group, r=root: (
                np.einsum("ij,ij->j", r, r) if group is None else r[:, group].T @ r[:, group]
            ),
        )


PER_COST = 10.0  # an error e costs 10 C e^2 / 2: as much as C |e| of a support vector regression at e = 1/5


class Linear(NamedTuple):
    """Weights of features, (features, columns), and intercepts."""

    coefficients: Matrix
    intercepts: Values

    def decisions(self, rows: Any) -> Matrix:
        """Return the decisions about rows of features, dense or sparse."""
        return np.asarray(rows @ self.coefficients) + self.intercepts


def solve_features(
    rows: Any, targets: Matrix, costs: Sequence[float], weights: Values | None = None
) -> list[Linear]:
    """Return, for each C, the minimum of ``10 C sum_i w_i (y_i - x_i a - b)^2 + |a|^2`` over a and b.

    All C share the products of features. Columns are solved from the rows whose target is not missing (NaN).
    """
    shape = rows.shape[1], targets.shape[1]
    found = [Linear(np.zeros(shape), np.zeros(shape[1])) for _ in costs]
    for columns, known in patterns_of(targets):
        whole = bool(known.all())
        own = np.ones(int(known.sum())) if weights is None else weights[known]
        solved = _centered(rows if whole else rows[known], targets[np.ix_(known, columns)], costs, own)
        for one, (coefficients, intercepts) in zip(found, solved, strict=True):
            one.coefficients[:, columns], one.intercepts[columns] = coefficients, intercepts
    return found


def _centered(
    rows: Any, targets: Matrix, costs: Sequence[float], weights: Values
) -> Iterator[tuple[Matrix, Values]]:
    """Yield the solutions of the normal equations of centered features."""
    total = weights.sum()
    shares = weights / total
    middle, level = np.asarray(shares @ rows).ravel(), shares @ targets
    if issparse(rows):
        gram = np.asarray((rows.T @ rows.multiply(shares[:, None])).toarray(), dtype=np.float64)
    else:
        scaled = np.sqrt(shares)[:, None] * rows
        gram = np.asarray(scaled.T @ scaled)  # one array twice: half of the products
    gram -= np.outer(middle, middle)
    sides = np.asarray(rows.T @ (shares[:, None] * targets)) - np.outer(middle, level)
    for cost in costs:
        system = gram.copy()
        system.flat[:: len(gram) + 1] += 1 / (PER_COST * cost * total)
        solved = np.asarray(solve_system(system, sides, assume_a="pos", overwrite_a=True))
        yield solved, level - middle @ solved


def patterns_of(targets: Matrix) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
    """Yield columns with the same missing entries, and a mask of the rows that have them."""
    masks, number_of = np.unique(~np.isnan(targets), axis=1, return_inverse=True)
    for number, mask in enumerate(masks.T):
        if mask.any():
            yield np.flatnonzero(number_of.ravel() == number), mask
