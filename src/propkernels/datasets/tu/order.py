"""Nodes and edges of a TU data set in the order of their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.utils.arrays import index_dtype, offsets


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
        graph_ptr = offsets(np.bincount(graph, minlength=n_graphs))
        is_sorted = bool((np.diff(graph) >= 0).all())
        return cls(graph, graph_ptr, None if is_sorted else np.argsort(graph, kind="stable"))

    def sort(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Bring one row per node into the new order."""
        return rows if self.sorting is None else rows[self.sorting]

    def new_numbers(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of nodes in the new order."""
        if self.sorting is None:
            return nodes
        position = np.empty_like(self.sorting)
        position[self.sorting] = np.arange(len(position))
        return position[nodes]


@dataclass(frozen=True)
class EdgeOrder:
    """How the lines of an edge list become the stored entries of a CSR matrix.

    Attributes
    ----------
    lines : ndarray
        Line numbers (from 0), sorted by row and column; repeated lines follow each other.
    is_first : ndarray of bool
        Whether each of them is the first for its edge.
    """

    lines: NDArray[np.int64]
    is_first: NDArray[np.bool_]

    @classmethod
    def of(cls, ends: NDArray[np.int64], n_nodes: int, contents: Sequence[NDArray[Any]] = ()) -> EdgeOrder:
        """Sort an (edges, 2) array of node numbers.

        Parameters
        ----------
        ends : ndarray of shape (lines, 2)
        n_nodes : int
        contents : sequence of ndarray, each of shape (lines, columns)
            What lines say of their edges; lines that say different things are different (parallel) edges.
        """
        keys = ends[:, 0] * n_nodes + ends[:, 1]
        lines = np.argsort(keys, kind="stable")
        is_first = np.ones(len(lines), dtype=bool)
        is_first[1:] = np.diff(keys[lines]) != 0
        columns = [column for table in contents for column in table.T]
        if columns and not is_first.all():
            lines = np.lexsort((*columns, keys))
            for column in columns:
                a, b = column[lines[:-1]], column[lines[1:]]
                is_first[1:] |= (a != b) & ~((a != a) & (b != b))  # NaN agrees with NaN
        return cls(lines, is_first)

    @property
    def entries(self) -> NDArray[np.int64]:
        """For each stored entry of the matrix, the line that it comes from."""
        return self.lines[self.is_first]


def adjacency_matrix(ends: NDArray[np.int64], order: EdgeOrder, n_nodes: int) -> csr_array:
    """Matrix with a 1 for each listed edge, however often it is listed."""
    kept = ends[order.entries]
    indptr = offsets(np.bincount(kept[:, 0], minlength=n_nodes))
    small = index_dtype(len(kept), n_nodes)
    parts = (np.ones(len(kept)), kept[:, 1].astype(small), indptr.astype(small))
    return csr_array(parts, shape=(n_nodes, n_nodes))


def undirected(ends: NDArray[np.int64], n_nodes: int) -> csr_array:
    """Matrix with a 1 in both directions for each edge, listed in one."""
    both = np.concatenate([ends, ends[:, ::-1]])
    return adjacency_matrix(both, EdgeOrder.of(both, n_nodes), n_nodes)
