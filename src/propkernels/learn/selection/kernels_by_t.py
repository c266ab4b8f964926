"""The kernels of one pass: one for each candidate t_max."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.graphs.database import GraphDatabase
from propkernels.utils.checks import shown

Matrix = NDArray[np.float64]
KernelStack = dict[int | None, Matrix]


def check_kernel(kernel: Any, steps: tuple[int, ...] | None) -> None:
    """Refuse what cannot be evaluated, before anything is computed."""
    if not isinstance(kernel, type) and hasattr(kernel, "predict") and hasattr(kernel, "get_params"):
        if steps is not None:
            raise ValueError(f"t_max cannot be chosen for a model: set it in {type(kernel).__name__}")
        return
    if isinstance(kernel, type) or not (hasattr(kernel, "fit_transform") and hasattr(kernel, "get_params")):
        raise TypeError(f"kernel must be an estimator with fit_transform, got {shown(kernel)}")
    if steps is not None and not has_steps(kernel):
        raise ValueError(
            f"t_max cannot be chosen: {type(kernel).__name__} has no parameter t_max "
            "or no method fit_transform_cumulative"
        )


def has_steps(kernel: Any) -> bool:
    """Whether the kernel is one of a family indexed by t_max (or n_iter), computed together."""
    return step_parameter(kernel) is not None


def step_parameter(kernel: Any) -> str | None:
    """Name of the parameter that says how many iterations are summed."""
    names = kernel.get_params(deep=False) if hasattr(kernel, "fit_transform_cumulative") else {}
    return next((name for name in ("t_max", "n_iter") if name in names), None)


def redrawn(kernel: Any, seed: int) -> Any:
    """Unfitted copy of the kernel, every random_state in it an integer drawn anew."""
    names = [name for name in kernel.get_params() if f"__{name}".endswith("__random_state")]
    return clone(kernel).set_params(**dict.fromkeys(sorted(names), seed))


def compute_stack(kernel: Any, graphs: GraphDatabase, steps: tuple[int, ...] | None) -> KernelStack:
    """Kernel matrices by t_max, from one pass; a single one, without t_max, where the kernel has no steps.

    The matrices are views of one array: nothing is held twice.
    """
    if not has_steps(kernel):
        return {None: _as_matrix(kernel.fit_transform(graphs), len(graphs))}
    if steps is None:
        kernels = kernel.fit_transform_cumulative(graphs)
        return {t: _as_matrix(matrix, len(graphs)) for t, matrix in enumerate(kernels)}
    kernel = kernel.set_params(**{str(step_parameter(kernel)): steps[-1]})
    if len(steps) == 1:
        return {steps[0]: _as_matrix(kernel.fit_transform(graphs), len(graphs))}
    kernels = kernel.fit_transform_cumulative(graphs)
    return {t: _as_matrix(kernels[t], len(graphs)) for t in steps}


def _as_matrix(kernel: Any, n_graphs: int) -> Matrix:
    matrix = np.asarray(kernel, dtype=np.float64)
    if matrix.shape != (n_graphs, n_graphs):
        raise ValueError(
            f"the kernel of {n_graphs} graphs has shape {matrix.shape}, expected {(n_graphs, n_graphs)}"
        )
    return matrix
