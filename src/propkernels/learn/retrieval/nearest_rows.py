"""The rows of a folder of features that are most similar to one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.gram.linear import self_products
from propkernels.learn.retrieval.index import Neighbors
from propkernels.learn.retrieval.search import largest
from propkernels.scale.opened import FeatureFolder
from propkernels.utils.checks import check_integer
from propkernels.utils.progress import ProgressBar


def nearest_rows(features: FeatureFolder, graph: int, k: int = 10) -> Neighbors:
    """Search a folder of features, part by part, for the graphs most similar to one of them.

    The similarity is the normalized dot product of features; where bins share a column, it is a little larger
    than that of an index.

    Parameters
    ----------
    features : FeatureFolder
    graph : int
        Number of the graph in the plan; it is among the results.
    k : int, default=10
    """
    row, k = row_of(features, graph), min(check_integer(k, "k", 1), len(features))
    query, length = row.toarray().ravel(), float(self_products(row)[0])
    values, ids, least = np.empty(0), np.empty(0, dtype=np.int64), -1.0
    with ProgressBar("Searching", features.n_parts) as bar:
        for block in features:
            scale = np.sqrt(length * self_products(block.features))
            own = np.divide(block.features @ query, scale, out=np.zeros(len(block.ids)), where=scale > 0)
            best = candidates(own, k, least)
            values, ids = np.concatenate([values, own[best]]), np.concatenate([ids, block.ids[best]])
            kept = largest(values, min(k, len(values)))
            values, ids = values[kept], ids[kept]
            least = float(values[-1]) if len(values) == k else -1.0
            bar.step()
    return Neighbors(values, ids)


def candidates(values: NDArray[np.float64], k: int, least: float) -> NDArray[np.int64]:
    """Places of at most k values that are larger than a number, largest first; among equals the first ones.

    Examples
    --------
    >>> candidates(np.array([0.5, 0.9, 0.5, 0.1]), 2, 0.1)
    array([1, 0])
    >>> candidates(np.array([0.5, 0.9, 0.5, 0.1]), 2, 0.5)
    array([1])
    """
    above = np.flatnonzero(values > least)
    return above[largest(values[above], min(k, len(above)))]


def row_of(features: FeatureFolder, graph: int) -> Any:
    """Features of one graph, (1, columns)."""
    places = np.flatnonzero(features.ids == check_integer(graph, "graph", 0))
    if len(places) == 0:
        raise ValueError(f"{features.folder} has no graph {graph}")
    ends = np.cumsum(features.part_sizes)
    part = int(np.searchsorted(ends, places[0], side="right"))
    return features.block(part).features[[int(places[0] - (ends[part] - features.part_sizes[part]))]]
