"""Alphabet: numbers of the node and edge labels of a graph and of its edits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, canonical_label
from propkernels.propagation.initial import UNKNOWN

NEW_NODES = 2  # nodes that the edits of one row may add


@dataclass(frozen=True)
class Alphabet:
    """Labels of a graph and labels that edits may use, as numbers, and the number of nodes they may add.

    Attributes
    ----------
    node_values : tuple
        Labels of nodes; None stands for an unobserved label.
    node_ids : ndarray of int64, (nodes,)
        The label of each node of the graph.
    new_labels : ndarray of int64
        Labels that edits may give to a node; only the number of None if nodes have no labels.
    edge_values : tuple
        Labels of edges; ``UNKNOWN`` stands for an unobserved label.
    edge_ids : ndarray of int64, (entries,)
        The label of each stored entry of the graph's adjacency.
    new_bonds : ndarray of int64
        Labels that edits may give to an edge.
    has_labels, has_bonds : bool
        Whether nodes, and whether edges, have labels.
    n_new : int
        Number of nodes, and of neighbors of a node, that edits may add.
    """

    node_values: tuple[Hashable, ...]
    node_ids: NDArray[np.int64]
    new_labels: NDArray[np.int64]
    edge_values: tuple[Hashable, ...]
    edge_ids: NDArray[np.int64]
    new_bonds: NDArray[np.int64]
    has_labels: bool
    has_bonds: bool
    n_new: int = NEW_NODES

    @classmethod
    def of(cls, graph: GraphDatabase, labels: Sequence[Any], bonds: Sequence[Any]) -> Alphabet:
        """Return the alphabet of a graph and of the labels that edits may use."""
        column, edges = graph.label_column, graph.edge_label_column
        plain = isinstance(column, LabelColumn)
        present = (*column.values, None) if isinstance(column, LabelColumn) else (None,)
        node_values, new_labels = _numbered(present, labels if plain else [None])
        node_ids = np.zeros(graph.n_nodes, dtype=np.int64)
        if isinstance(column, LabelColumn):
            node_ids[:] = np.where(column.ids < 0, len(column.values), column.ids)
        stored = () if edges is None else edges.values
        edge_values, new_bonds = _numbered((*stored, UNKNOWN), bonds if edges is not None else [UNKNOWN])
        edge_ids = np.full(graph.adjacency.nnz, len(stored), dtype=np.int64)
        if edges is not None:
            edge_ids[:] = np.where(edges.ids < 0, len(stored), edges.ids)
        return cls(
            node_values, node_ids, new_labels, edge_values, edge_ids, new_bonds, plain, edges is not None
        )

    def node_column(self, ids: NDArray[np.int64]) -> LabelColumn | None:
        """Return the node labels of these numbers; None if nodes have no labels."""
        return _column(ids, self.node_values, None) if self.has_labels else None

    def edge_column(self, ids: NDArray[np.int64]) -> LabelColumn | None:
        """Return the edge labels of these numbers; None if edges have no labels."""
        return _column(ids, self.edge_values, UNKNOWN) if self.has_bonds else None


def _column(ids: NDArray[np.int64], values: tuple[Hashable, ...], missing: Any) -> LabelColumn:
    """Return a label column, with -1 in place of the value ``missing``."""
    at = values.index(missing)
    shifted = np.arange(len(values)) - (np.arange(len(values)) > at)
    shifted[at] = -1
    return LabelColumn(shifted[ids].astype(np.int32), values[:at] + values[at + 1 :])


def _numbered(
    present: Sequence[Any], further: Sequence[Any]
) -> tuple[tuple[Hashable, ...], NDArray[np.int64]]:
    """Return all values, those of the graph first, and the numbers of the additional values."""
    position = {value: i for i, value in enumerate(present)}
    numbers = [position.setdefault(canonical_label(value), len(position)) for value in further]
    return tuple(position), np.array(numbers, dtype=np.int64)
