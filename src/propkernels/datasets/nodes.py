"""Nodes, listed in any order, brought into the order of their graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NodeOrder:
    """Nodes in the order of their graphs, stable; ``sorting`` is None where the file has that order.

    Attributes
    ----------
    graph : ndarray
        Graph of each node (both from 0), in the order of the file.
    graph_ptr : ndarray
        Offsets of the graphs in the new order.
    sorting : ndarray or None
        For each new position, the node of the file.
    """

    graph: NDArray[np.int64]
    graph_ptr: NDArray[np.int64]
    sorting: NDArray[np.int64] | None

    @classmethod
    def of(cls, graph: NDArray[np.int64], n_graphs: int) -> NodeOrder:
        """Sort nodes by their graphs."""
        graph_ptr = np.concatenate([[0], np.cumsum(np.bincount(graph, minlength=n_graphs))])
        is_sorted = bool((np.diff(graph) >= 0).all())
        return cls(graph, graph_ptr, None if is_sorted else np.argsort(graph, kind="stable"))

    def sort(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Bring one row a node into the new order."""
        return rows if self.sorting is None else rows[self.sorting]

    def new_numbers(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of nodes in the new order."""
        if self.sorting is None:
            return nodes
        position = np.empty_like(self.sorting)
        position[self.sorting] = np.arange(len(position))
        return position[nodes]
