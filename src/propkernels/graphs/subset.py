"""Taking some graphs out of a database."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.index import ranges


def subset(database: GraphDatabase, positions: NDArray[np.int64]) -> GraphDatabase:
    """Copy the graphs at the given positions, which are in range, into a new database."""
    if positions.size and bool((np.diff(positions) == 1).all()):
        return _neighbours(database, int(positions[0]), int(positions[-1]) + 1)
    return _scattered(database, positions)


def _neighbours(database: GraphDatabase, first: int, last: int) -> GraphDatabase:
    """Graphs ``first`` to ``last - 1``: every array is one slice, whatever the size of the database."""
    offsets, indptr = database.graph_ptr[first : last + 1], database.adjacency.indptr
    start, stop = int(offsets[0]), int(offsets[-1])
    nodes, entries = slice(start, stop), slice(int(indptr[start]), int(indptr[stop]))
    return _gather(
        database,
        offsets - start,
        nodes,
        entries,
        database.adjacency.indices[entries] - start,
        indptr[start : stop + 1] - indptr[start],
    )


def _scattered(database: GraphDatabase, positions: NDArray[np.int64]) -> GraphDatabase:
    indptr, starts = database.adjacency.indptr, database.graph_ptr[positions]
    sizes = database.graph_ptr[positions + 1] - starts
    nodes = ranges(starts, sizes)
    lengths = indptr[nodes + 1] - indptr[nodes]
    entries = ranges(indptr[nodes], lengths)
    graph_ptr = np.concatenate([[0], np.cumsum(sizes)])
    shift = np.repeat(np.repeat(graph_ptr[:-1] - starts, sizes), lengths)
    columns = database.adjacency.indices[entries] + shift
    return _gather(database, graph_ptr, nodes, entries, columns, np.concatenate([[0], np.cumsum(lengths)]))


def _gather(
    database: GraphDatabase,
    graph_ptr: NDArray[np.int64],
    nodes: slice | NDArray[np.int64],
    entries: slice | NDArray[np.int64],
    columns: NDArray[Any],
    indptr: NDArray[Any],
) -> GraphDatabase:
    matrix, n = database.adjacency, int(graph_ptr[-1])
    index = matrix.indices.dtype
    arrays = (matrix.data[entries].copy(), columns.astype(index), indptr.astype(index))
    labels, edge_labels = database.label_column, database.edge_label_column
    attributes = database.node_attributes
    return GraphDatabase._assemble(
        csr_array(arrays, shape=(n, n)),
        graph_ptr,
        None if labels is None else labels.take(nodes),
        None if attributes is None else attributes[nodes].copy(),
        None if edge_labels is None else edge_labels.take(entries),
    )
