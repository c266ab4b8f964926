"""Running a scheme until nothing changes any more."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.scheme import PropagationScheme


def run_to_convergence(
    graphs: GraphDatabase,
    scheme: PropagationScheme,
    initial: InitialDistributions,
    tolerance: float,
    max_steps: int,
) -> NDArray[np.float64]:
    """Return the distributions of each graph at the first step that changes none by more than a tolerance.

    Each graph stops by itself, so that its result does not depend on the graphs beside it. A graph that is
    still changing after ``max_steps`` steps keeps its last distributions, with a ConvergenceWarning.
    """
    prepared = scheme.prepare(graphs, initial)
    start = initial.to_dense()
    current, settled = start.copy(), start.copy()
    moving = np.ones(len(graphs), dtype=bool)
    for _ in range(max_steps):
        following = np.asarray(scheme.step(prepared, current, start), dtype=np.float64)
        changes = np.abs(following - current).max(axis=1, initial=0.0)
        active = moving[graphs.graph_ids]
        settled[active] = following[active]
        moving &= _largest_of_each(changes, graphs) > tolerance
        if not moving.any():
            return settled
        current = following
    number = int(moving.sum())
    who = f"{number} graph" if number == 1 else f"{number} graphs"
    warnings.warn(
        f"{who} still changed by more than {tolerance} after {max_steps} steps: "
        "raise max_steps or the tolerance",
        ConvergenceWarning,
        stacklevel=2,
    )
    return settled


def _largest_of_each(values: NDArray[np.float64], graphs: GraphDatabase) -> NDArray[np.float64]:
    """The largest value in each graph; 0 for a graph without nodes."""
    largest = np.zeros(len(graphs))
    np.maximum.at(largest, graphs.graph_ids, values)
    return largest
