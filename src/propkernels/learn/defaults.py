"""Kernels that are tried when the user names none."""

from __future__ import annotations

from typing import Any

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.propagation.diffusion import Diffusion
from propkernels.propagation.propagated_attributes import PropagatedAttributes


def default_kernels(graphs: Any, n_jobs: int | None) -> list[PropagationKernel]:
    """Candidates by what the graphs carry, all of them cheap; cross-validation decides.

    Attributes are used where there are some: one dimension at a time, all together, or spread along the
    edges. Fully labelled and unlabelled graphs are tried with the
    paper's walk and with summed neighbours, which keep degrees apart; elsewhere "auto" decides the scheme.
    """
    if graphs.node_attributes is not None:
        return _attributed_kernels(n_jobs)
    walk = PropagationKernel(n_jobs=n_jobs)
    column = graphs.label_column
    complete = column is None or bool(column.observed.all())
    if not (isinstance(graphs, GraphDatabase) and complete):
        return [walk]
    summed = Diffusion(laziness=0.5, normalization="none")
    return [walk, PropagationKernel(propagation=summed, n_jobs=n_jobs)]


def _attributed_kernels(n_jobs: int | None) -> list[PropagationKernel]:
    kernels = [PropagationKernel(attributes=how, t_max=5, n_jobs=n_jobs) for how in ("sum", "product")]
    spreading = PropagatedAttributes()
    return [*kernels, PropagationKernel(attributes=spreading, t_max=5, n_hashes=5, n_jobs=n_jobs)]


def check_kernels(kernel: Any, graphs: Any, n_jobs: int | None) -> list[Any]:
    """Return the candidates that the parameter ``kernel`` stands for: one, several, or the defaults."""
    if kernel is None:
        return list(default_kernels(graphs, n_jobs))
    several = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    if not several:
        raise ValueError("kernel must be one estimator or a list of at least one, got an empty list")
    for candidate in several:
        if isinstance(candidate, type) or not hasattr(candidate, "fit_transform"):
            raise TypeError(f"kernel must be an estimator with fit_transform, got {candidate!r}")
    return several
