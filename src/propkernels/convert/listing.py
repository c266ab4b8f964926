"""Lists of the edges of a graph for other libraries, with undirected edges listed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase


@dataclass(frozen=True)
class Listing:
    """Edges of a graph.

    Attributes
    ----------
    directed : bool
        Whether the two directions of some edge differ in weight, label or attributes.
    source, target, weights : ndarray
    labels, attributes : ndarray or None
    """

    directed: bool
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weights: NDArray[np.float64]
    labels: NDArray[Any] | None
    attributes: NDArray[np.float64] | None


def list_edges(graph: Graph, *, both: bool = False) -> Listing:
    """Return the edges of a graph; with ``both``, undirected edges in both directions."""
    entries = graph.adjacency.tocoo()
    source, target = (axis.astype(np.int64) for axis in entries.coords)
    directed = is_one_way(graph.database)
    chosen = slice(None) if directed or both else source <= target
    labels, attributes = graph.edge_labels, graph.edge_attributes
    return Listing(
        directed,
        source[chosen],
        target[chosen],
        entries.data[chosen],
        None if labels is None else labels[chosen],
        None if attributes is None else attributes[chosen],
    )


def is_one_way(graphs: GraphDatabase) -> bool:
    """Return whether any edge lacks a reverse edge with the same weight, label and attributes.

    Entries are sorted by row and column, and parallel ones by their contents. If every entry has a reverse
    entry, sorting by column and row gives the same sequence of contents.
    """
    entries = graphs.adjacency.tocoo()
    rows, cols = entries.coords
    order = np.lexsort((rows, cols))
    if not (np.array_equal(rows, cols[order]) and np.array_equal(cols, rows[order])):
        return True
    column, attributes = graphs.edge_label_column, graphs.edge_attributes
    return not (
        np.array_equal(entries.data, entries.data[order])
        and (column is None or np.array_equal(column.ids, column.ids[order]))
        and (attributes is None or np.array_equal(attributes, attributes[order], equal_nan=True))
    )
