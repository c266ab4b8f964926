"""Leave-one-out with the nearest neighbor in the kernel, for the point clouds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from propkernels.models.folds import Indices
from reproduction.protocols.selection import Matrix, Target


def leave_one_out(candidates: Mapping[Any, Matrix], target: Target) -> dict[str, Any]:
    """Give each graph the class of its nearest neighbor among the others, in the kernel.

    The candidate is chosen for each graph by leaving out each of the others in turn.

    Returns
    -------
    dict
        "accuracy" in percent, "folds" (100 or 0 for each graph) and "chosen" (the candidate for each graph).
    """
    chosen = [_best_without(candidates, target, left_out) for left_out in range(len(target))]
    hits = [
        100.0 * (nearest_class(candidates[name], target, graph, _others(target, graph)) == target[graph])
        for graph, name in enumerate(chosen)
    ]
    return {"accuracy": round(float(np.mean(hits)), 4), "folds": hits, "chosen": chosen}


def nearest_class(kernel: Matrix, target: Target, graph: int, others: Indices) -> int:
    """Class of the nearest neighbor of a graph; the first of equally near ones."""
    return int(target[others[kernel[graph, others].argmax()]])


def count_hits(kernel: Matrix, target: Target, graphs: Indices) -> int:
    """Return how many graphs get their own class from the others."""
    found = (nearest_class(kernel, target, graph, graphs[graphs != graph]) for graph in graphs)
    return sum(int(guess == target[graph]) for guess, graph in zip(found, graphs, strict=True))


def _best_without(candidates: Mapping[Any, Matrix], target: Target, left_out: int) -> Any:
    """Return the first candidate with most hits among all graphs but one."""
    graphs = _others(target, left_out)
    hits = [count_hits(kernel, target, graphs) for kernel in candidates.values()]
    return list(candidates)[int(np.argmax(hits))]


def _others(target: Target, graph: int) -> Indices:
    return np.delete(np.arange(len(target)), graph)
