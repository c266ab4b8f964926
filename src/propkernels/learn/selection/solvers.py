"""Which solver, and how thorough a search, for how many graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from propkernels.learn.selection.candidates import has_explicit_counts
from propkernels.learn.selection.kernels_by_t import step_parameter
from propkernels.utils.checks import check_choice

SOLVERS = ("auto", "kernel", "linear", "gp")
SELECTIONS = ("auto", "halving", "race", "exhaustive")
MOST_FOR_KERNEL = 20_000  # graphs; a larger kernel matrix is never formed
MOST_BYTES = 2**33  # that "auto" spends on the kernel matrices of all t_max
MOST_FOR_EXHAUSTIVE = 1000  # graphs up to which "auto" drops only candidates that cannot win
MOST_KERNELS = 2  # for that


def resolve_solver(solver: str, kernels: Sequence[Any], n_graphs: int, steps: tuple[int, ...] | None) -> str:
    """Return "kernel", "linear" or "gp"; refuse what does not fit the kernels or the number of graphs.

    "auto" takes "linear" where every kernel has explicit counts and its matrices would be too large.
    """
    check_choice(solver, SOLVERS, "solver")
    other = next((kernel for kernel in kernels if not has_explicit_counts(kernel)), None)
    if solver == "linear" and other is not None:
        raise TypeError(
            f'solver="linear" needs kernels that are dot products of counts, which {other!r} is not: '
            'use base_kernel="linear", and no attributes in kernels that compare pairs of graphs'
        )
    too_many = n_graphs > MOST_FOR_KERNEL
    if solver in ("kernel", "gp") and too_many:
        raise ValueError(
            f'solver="{solver}" forms a matrix of {n_graphs} x {n_graphs}; '
            f'beyond {MOST_FOR_KERNEL} graphs use solver="linear"'
        )
    if solver != "auto":
        return solver
    is_large = too_many or n_graphs**2 * 8 * _most_steps(kernels, steps) > MOST_BYTES
    if too_many and other is not None:
        raise ValueError(
            f"{type(other).__name__} needs a matrix of {n_graphs} x {n_graphs}; beyond {MOST_FOR_KERNEL} "
            "graphs the kernel must be a dot product of counts"
        )
    return "linear" if is_large and other is None else "kernel"


def resolve_selection(selection: str, n_graphs: int, n_kernels: int = 1) -> str:
    """Return "halving", "race" or "exhaustive"; "auto" is exhaustive for few graphs and kernels."""
    check_choice(selection, SELECTIONS, "selection")
    if selection != "auto":
        return selection
    is_small = n_graphs <= MOST_FOR_EXHAUSTIVE and n_kernels <= MOST_KERNELS
    return "exhaustive" if is_small else "halving"


def _most_steps(kernels: Sequence[Any], steps: tuple[int, ...] | None) -> int:
    """Number of kernel matrices that are in memory at a time."""
    names = [(kernel, step_parameter(kernel)) for kernel in kernels]
    own = [1 if name is None else int(kernel.get_params()[name]) + 1 for kernel, name in names]
    return max(own) if steps is None else max(len(steps), 1)
