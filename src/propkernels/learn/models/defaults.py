"""Kernels that are tried when the user names none."""

from __future__ import annotations

from typing import Any

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.propagation import PropagationKernel
from propkernels.propagation.diffusion import Diffusion

MANY_DIMENSIONS = 4  # of attributes; with fewer, agreeing in all of them tells less than in one at a time
HASHES = 20  # of attributes an iteration: more make the kernel less random, and slower


def default_kernels(graphs: Any, n_jobs: int | None) -> list[PropagationKernel]:
    """Candidates by what the graphs carry, all of them cheap; cross-validation decides.

    Fully labelled and unlabelled graphs are tried with the paper's walk and with summed neighbours, which
    keep degrees apart; elsewhere "auto" decides the scheme. Attributes, where there are some, are tried one
    dimension at a time, with about twenty hashes per iteration in all; many dimensions also together, with
    twenty hashes, since two nodes seldom agree in all dimensions of one.
    """
    if graphs.node_attributes is not None:
        return _attributed_kernels(graphs.node_attributes.shape[1], n_jobs)
    walk = PropagationKernel(n_jobs=n_jobs)
    column = graphs.label_column
    complete = column is None or bool(column.observed.all())
    if not (isinstance(graphs, GraphDatabase) and complete):
        return [walk]
    summed = Diffusion(laziness=0.5, normalization="none")
    return [walk, PropagationKernel(propagation=summed, n_jobs=n_jobs)]


def _attributed_kernels(n_dimensions: int, n_jobs: int | None) -> list[PropagationKernel]:
    if n_dimensions < MANY_DIMENSIONS:
        n_hashes = HASHES // max(n_dimensions, 1)
        return [PropagationKernel(attributes="sum", n_hashes=n_hashes, n_jobs=n_jobs)]
    return [
        PropagationKernel(attributes="sum", t_max=5, n_jobs=n_jobs),
        PropagationKernel(attributes="product", n_hashes=HASHES, t_max=5, n_jobs=n_jobs),
    ]


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
