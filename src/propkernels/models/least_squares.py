"""Kernel least squares with an intercept: one solver for classes and numbers, with exact held-out decisions.

Let K be the kernel matrix of n graphs, Y their targets (n, columns), w their weights and D = diag(sqrt(w)).
Decisions f(x) = sum_i a_i k(x, x_i) + b minimize the weighted squared error plus ``ridge`` times the squared
norm. With A = (D K D + ridge I)^-1, d = D 1 and G = A - A d d' A / (d' A d):

    a = D G D Y,   b = d' A D Y / (d' A d).

A graph i that is left out, alone or with the other graphs S of its group, has the decision [1]_

    f_-i(x_i) = y_i - (G D Y)_i / (G_ii d_i),   or   Y_S - D_S^-1 (G_SS)^-1 (G D Y)_S,

and without the graphs S, G of the others T becomes G_TT - G_TS (G_SS)^-1 G_ST: what is chosen by decisions
about held-out graphs can be chosen anew without each fold, and no machine is fitted again.

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
from scipy.linalg.lapack import get_lapack_funcs
from scipy.sparse import issparse

from propkernels._utils.locks import cached_property
from propkernels._utils.typing import Indices, Matrix, Values

AT_ONCE = 2**22  # entries of the inverse, or those of one fold
NO_FOLD = np.zeros((1, 0), dtype=np.int64)
RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # in mean diagonals of the kernel matrix


@dataclass(frozen=True, eq=False)
class Solution:
    """Least squares of one ridge.

    Attributes
    ----------
    coefficients : ndarray, (n, columns)
    intercepts : ndarray, (columns,)
    held_out : ndarray, (n, columns)
        Decision about each graph without it, or without its group.
    ridge : float
    apart : ndarray, (folds, n, columns)
        Decisions without each fold: about its own graphs, and about each other graph that is held out too.
    """

    coefficients: Matrix
    intercepts: Values
    held_out: Matrix
    ridge: float
    apart: Matrix


def solve(
    kernel: Matrix,
    targets: Matrix,
    ridges: Sequence[float] = RIDGES,
    weights: Values | None = None,
    groups: Sequence[Indices] | None = None,
    folds: Sequence[Indices] | None = None,
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
    folds : sequence of ndarray, optional
        Parts without which everything is solved as well; groups are not split.

    Returns
    -------
    list of Solution
        Held-out decisions of missing entries, and of graphs of weight 0, are those of the model itself; NaN
        without a fold.
    """
    n, n_columns = targets.shape
    unit = float(kernel.diagonal().mean()) or 1.0
    apart = np.full((len(folds or ()), n, n_columns), np.nan)
    none, level = np.zeros((n, n_columns)), np.zeros(n_columns)
    found = [Solution(none.copy(), level.copy(), none.copy(), float(r), apart.copy()) for r in ridges]
    for columns, pattern in patterns_of(targets):
        pattern = pattern if weights is None else pattern & (weights > 0)
        rows = np.flatnonzero(pattern)
        whole = len(rows) == n
        if not len(rows):
            continue
        part = kernel if whole else np.ascontiguousarray(kernel[np.ix_(rows, rows)])
        scale = np.ones(len(rows)) if weights is None else np.sqrt(weights[rows] / weights[rows].mean())
        places, own_targets = _places(groups, rows, n), targets[np.ix_(rows, columns)]
        parts = _places(folds, rows, n) or []
        sizes = np.array(list(map(len, parts)), dtype=np.int64)
        scaled = part if weights is None else scale[:, None] * part * scale
        for one in found:
            machine = _Machine(scaled, scale, own_targets, unit * one.ridge)
            one.coefficients[np.ix_(rows, columns)] = coefficients = scale[:, None] * machine.dual
            one.intercepts[columns] = machine.intercepts
            one.held_out[np.ix_(rows, columns)] = own_targets - machine.errors(places)[0]
            if not whole:
                others = np.flatnonzero(~pattern)
                decided = kernel[np.ix_(others, rows)] @ coefficients + machine.intercepts
                one.held_out[np.ix_(others, columns)] = decided
            for size in np.unique(sizes[(sizes > 0) & (sizes < len(rows) - 1)]):
                same, step = np.flatnonzero(sizes == size), max(1, AT_ONCE // (size * len(rows)))
                for numbers in np.split(same, np.arange(step, len(same), step)):  # folds of one size together
                    some = np.array([parts[number] for number in numbers.tolist()])
                    one.apart[np.ix_(numbers, rows, columns)] = own_targets - machine.errors(places, some)
    return found


def _places(parts: Sequence[Indices] | None, rows: Indices, n: int) -> list[Indices] | None:
    """Return the positions of each part among ``rows``; None if each graph is alone."""
    if parts is None:
        return None
    at = np.full(n, -1)
    at[rows] = np.arange(len(rows))
    found = [at[part] for part in parts]
    return [places[places >= 0] for places in found]


class _Machine:
    """G and G D Y of the formulas above for one penalty.

    A is R' R, where R is the inverse of the Cholesky factor, in two thirds of n^3 operations. Where there is
    no factor, since a kernel is not positive definite, negative eigenvalues count as 0.
    """

    def __init__(self, kernel: Matrix, scale: Values, targets: Matrix, penalty: float) -> None:
        system = np.array(kernel.T, order="F")  # of a symmetric matrix: rows become columns without a shuffle
        system.flat[:: len(system) + 1] += penalty
        factorize, invert, self._square = get_lapack_funcs(("potrf", "trtri", "lauum"), (system,))
        factor, failed = factorize(system, lower=1, overwrite_a=1)
        if not failed:
            root, failed = invert(factor, lower=1, overwrite_c=1)
        if failed:
            values, vectors = eigh(kernel, driver="evd", check_finite=False)
            root = np.asfortranarray((vectors / np.sqrt(values.clip(0) + penalty)).T)
        self._is_triangular = not failed
        self.scale = scale.astype(root.dtype)
        self._root = root
        self._of_ones = root.T @ (root @ self.scale)
        self._total = self.scale @ self._of_ones
        of_targets = root.T @ (root @ (scale[:, None] * targets).astype(root.dtype))
        self.intercepts = self.scale @ of_targets / self._total
        self.dual = of_targets - np.outer(self._of_ones, self.intercepts)
        self._diagonal = np.einsum("ij,ij->j", root, root) - self._of_ones**2 / self._total

    @cached_property
    def inverse(self) -> Matrix:
        """G."""
        if self._is_triangular:
            product = self._square(self._root, lower=1)[0]
            product += np.tril(product, -1).T
        else:
            product = self._root.T @ self._root
        product -= np.outer(self._of_ones / self._total, self._of_ones)
        return np.asarray(product)

    def errors(self, groups: Sequence[Indices] | None, folds: Indices = NO_FOLD) -> Matrix:
        """Return the errors of all graphs without each of some folds of equal size, (folds, graphs, columns).

        Those outside a fold are left out as well, alone or by group.
        """
        shape = *folds.shape, len(self.dual)
        across = self.inverse[folds] if folds.size else np.zeros(shape, dtype=self.dual.dtype)
        inverse = np.linalg.inv(np.take_along_axis(across, folds[:, None], axis=2))
        solved = inverse @ across
        dual = self.dual - solved.transpose(0, 2, 1) @ self.dual[folds]
        if groups is None:
            own = self._diagonal - np.einsum("fsn,fsn->fn", across, solved)
            errors = dual / own.clip(np.finfo(own.dtype).tiny)[:, :, None]  # 0 if there is a single graph
        else:
            errors = np.empty_like(dual)
            for group in groups:
                block = self.inverse[np.ix_(group, group)]
                own = block - across[:, :, group].transpose(0, 2, 1) @ solved[:, :, group]
                errors[:, group] = [
                    np.linalg.lstsq(a, b, rcond=1e-12)[0] for a, b in zip(own, dual[:, group], strict=True)
                ]
        np.put_along_axis(errors, folds[:, :, None], inverse @ self.dual[folds], axis=1)
        return np.asarray(errors / self.scale[:, None])


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
        own, truth = rows if known.all() else rows[known], targets[np.ix_(known, columns)]
        shares = np.ones(len(truth)) if weights is None else weights[known]
        total = shares.sum()
        shares = shares / total
        middle, level = np.asarray(shares @ own).ravel(), shares @ truth
        if issparse(own):
            gram = np.asarray((own.T @ own.multiply(shares[:, None])).toarray(), dtype=np.float64)
        else:
            scaled = np.sqrt(shares)[:, None] * own
            gram = np.asarray(scaled.T @ scaled)  # one array twice: half of the products
        gram -= np.outer(middle, middle)  # the normal equations of centered features
        sides = np.asarray(own.T @ (shares[:, None] * truth)) - np.outer(middle, level)
        for cost, one in zip(costs, found, strict=True):
            system = gram.copy()
            system.flat[:: len(gram) + 1] += 1 / (PER_COST * cost * total)
            try:
                solved = np.asarray(solve_system(system, sides, assume_a="pos", overwrite_a=True))
            except np.linalg.LinAlgError:
                raise ValueError(f"C={cost:g} is too large for these features: use a smaller one") from None
            one.coefficients[:, columns], one.intercepts[columns] = solved, level - middle @ solved
    return found


def patterns_of(targets: Matrix) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
    """Yield columns with the same missing entries, and a mask of the rows that have them."""
    known, patterns = ~np.isnan(targets), dict[bytes, list[int]]()
    for column, mask in enumerate(known.T):
        if mask.any():
            patterns.setdefault(mask.tobytes(), []).append(column)
    for columns in patterns.values():
        yield np.array(columns), known[:, columns[0]]
