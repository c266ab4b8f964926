"""Kernel ridge classification and regression in closed form: all folds from one inverse.

With ``G = (K + 1 + penalty I)^-1`` and ``a = G Y``, the predictions for held-out graphs S by a machine that
learned from all others are ``Y_S - G_SS^-1 a_S``, exactly [1]_: one inverse serves every fold of every
repeat. The machine without S also predicts each of its own graphs from the others (leave-one-out), from the
Schur complement ``G_TT - G_TS G_SS^-1 G_ST``: settings are chosen by that, inside the training part, so that
the cross-validation is nested without another machine.

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
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import get_lapack_funcs

Matrix = NDArray[Any]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Held:
    """One fold: predictions for its graphs, and by the same machine for each graph that it learned from.

    Attributes
    ----------
    outer : ndarray, (held-out graphs, columns)
    inner : ndarray, (training graphs, columns)
        Each training graph is predicted from the other training graphs.
    """

    outer: Matrix
    inner: Matrix


def inverse(kernel: Matrix, penalty: float) -> Matrix:
    """Return ``(K + 1 + penalty I)^-1`` in the precision of the kernel; the 1 is an intercept.

    Examples
    --------
    >>> inverse(np.array([[1.0, 0.0], [0.0, 1.0]]), 1.0).round(3)
    array([[ 0.375, -0.125],
           [-0.125,  0.375]])
    """
    whole = np.array(kernel + kernel.dtype.type(1), order="F")
    whole[np.diag_indices(len(whole))] += penalty
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (whole,))
    factor, failed = potrf(whole, lower=1, overwrite_a=1)
    if not failed:
        lower, failed = potri(factor, lower=1, overwrite_c=1)
    if failed:
        raise ValueError("the kernel matrix is not positive definite: choose another kernel")
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def held_out(inverted: Matrix, columns: Matrix, folds: Sequence[tuple[Indices, Indices]]) -> list[Held]:
    """Predictions outside and inside the training part of each fold (training, held out)."""
    weights, own = inverted @ columns, inverted.diagonal()
    found = []
    for train, test in folds:
        factor = cho_factor(inverted[np.ix_(test, test)], lower=True, check_finite=False)
        across = inverted[np.ix_(test, train)]
        passed_on = cho_solve(factor, across, check_finite=False)
        diagonal = own[train] - np.einsum("ij,ij->j", across, passed_on)
        inner = columns[train] - (weights[train] - passed_on.T @ weights[test]) / diagonal[:, None]
        outer = columns[test] - cho_solve(factor, weights[test], check_finite=False)
        found.append(Held(outer, inner))
    return found


def held_out_only(inverted: Matrix, columns: Matrix, tests: Sequence[Indices]) -> Matrix:
    """Predictions for each graph by the machine without its fold; the folds hold each graph once."""
    weights, found = inverted @ columns, np.empty_like(columns)
    for test in tests:
        block = inverted[np.ix_(test, test)]
        found[test] = columns[test] - np.linalg.solve(block, weights[test])
    return found


def learned_from(kernel: Matrix, columns: Matrix, penalty: float, train: Indices, test: Indices) -> Matrix:
    """Predictions for some graphs from others alone."""
    known = kernel[np.ix_(train, train)] + kernel.dtype.type(1)
    known[np.diag_indices(len(train))] += penalty
    factor = cho_factor(known, lower=True, overwrite_a=True, check_finite=False)
    coefficients = cho_solve(factor, columns[train], check_finite=False)
    return np.asarray((kernel[np.ix_(test, train)] + 1.0) @ coefficients)
