"""Choosing among kernels, t_max, normalisation and C by cross-validation on the training graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.gram.normalize import normalized
from propkernels.graphs.database import GraphDatabase
from propkernels.learn.splits import Indices
from propkernels.learn.stack import compute_stack, redrawn, step_parameter

Matrix = NDArray[np.float64]
# scores of all costs on one validation fold: (kernel, target, fit on, validate on, costs)
Score = Callable[[Matrix, NDArray[Any], Indices, Indices, Sequence[float]], NDArray[Any]]


@dataclass(frozen=True)
class Selection:
    """What was chosen, and how it did in the inner cross-validation.

    Attributes
    ----------
    kernel : estimator
        Unfitted, with t_max and normalize as chosen.
    matrix : ndarray of shape (n, n)
        Its kernel matrix of the training graphs.
    t_max : int or None
    normalize : bool or None
    C : float
    score : float
        Mean score of the validation folds.
    """

    kernel: Any
    matrix: Matrix
    t_max: int | None
    normalize: bool | None
    C: float
    score: float


def search(
    kernels: Sequence[Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    folds: Sequence[tuple[Indices, Indices]],
    normalize: Any,
    steps: tuple[int, ...] | None,
    costs: tuple[float, ...],
    score: Score,
    seed: int,
) -> Selection:
    """Return the best candidate; among equals the first kernel, unnormalised, smallest t_max and C.

    Each kernel makes one pass over the graphs, which gives the matrices of every t_max, normalised or not;
    folds are slices of them.
    """
    best: Selection | None = None
    for kernel in kernels:
        for candidate, matrix, t, is_normalized in _matrices(redrawn(kernel, seed), graphs, normalize, steps):
            totals = sum(score(matrix, target, fit, check, costs) for fit, check in folds)
            values = np.atleast_1d(totals if folds else np.zeros(len(costs)))
            at = int(values.argmax())
            if best is None or values[at] > best.score:
                best = Selection(candidate, matrix, t, is_normalized, costs[at], float(values[at]))
    assert best is not None
    return best


def _matrices(
    kernel: Any, graphs: GraphDatabase, normalize: Any, steps: tuple[int, ...] | None
) -> Iterator[tuple[Any, Matrix, int | None, bool | None]]:
    """The kernel's candidates with their matrices, from one pass."""
    has_option = "normalize" in kernel.get_params(deep=False)
    wanted = _wanted(kernel, normalize) if has_option else [None]
    plain = kernel.set_params(normalize=False) if has_option else kernel
    for t, matrix in compute_stack(plain, graphs, steps).items():
        for is_normalized in wanted:
            changes: dict[str, Any] = {} if t is None else {str(step_parameter(kernel)): t}
            if has_option:
                changes["normalize"] = is_normalized
            yield _copy(kernel, changes), _finished(matrix, is_normalized), t, is_normalized


def _wanted(kernel: Any, normalize: Any) -> list[bool | None]:
    if normalize == "auto":
        return [False, True]
    return [bool(kernel.normalize if normalize is None else normalize)]


def _copy(kernel: Any, changes: dict[str, Any]) -> Any:
    return redrawn(kernel, kernel.get_params().get("random_state")).set_params(**changes)


def _finished(matrix: Matrix, is_normalized: bool | None) -> Matrix:
    if not is_normalized:
        return matrix
    diagonal = matrix.diagonal().copy()
    return normalized(matrix.copy(), diagonal, diagonal)
