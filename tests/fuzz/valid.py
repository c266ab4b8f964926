"""What a database that was accepted must satisfy: each array looked through in Python's own integers."""

from itertools import pairwise

import numpy as np

import propkernels as pk
from tests.fuzz.cases import Wrong

MOST_NODES = 2_000_000  # of a case: inputs are small, so that larger databases come out of thin air


def check_partition(ptr, total, what):
    """Offsets start at 0, never fall, and end at the number of things."""
    values = [int(value) for value in np.asarray(ptr).tolist()]
    rises = all(a <= b for a, b in pairwise(values))
    if not values or values[0] != 0 or values[-1] != total or not rises:
        raise Wrong(f"{what}: {values[:8]} do not cut {total} things into runs")


def check_indices(indices, below, what, least=0):
    """Every index points at something."""
    array = np.asarray(indices)
    if array.size and not least <= int(array.min()) <= int(array.max()) < below:
        raise Wrong(f"{what}: {array.min()} to {array.max()} point outside of {below} things")


def check_sparse(matrix, what):
    """A CSR matrix whose arrays fit its shape."""
    check_partition(matrix.indptr, len(matrix.data), f"rows of {what}")
    check_indices(matrix.indices, matrix.shape[1], f"columns of {what}")
    if len(matrix.indptr) != matrix.shape[0] + 1 or len(matrix.indices) != len(matrix.data):
        raise Wrong(f"{what}: arrays of other lengths than its shape {matrix.shape}")
    if not np.isfinite(matrix.data).all():
        raise Wrong(f"{what} is not finite")


def check_database(graphs, most=MOST_NODES):
    """All arrays of a database fit together, and it can be used."""
    n = int(graphs.adjacency.shape[0])
    check_partition(graphs.graph_ptr, n, "graph_ptr")
    if n > most:
        raise Wrong(f"{n:,} nodes come out of a small input")
    check_sparse(graphs.adjacency, "adjacency")
    for column, length in ((graphs.label_column, n), (graphs.edge_label_column, graphs.adjacency.nnz)):
        if isinstance(column, pk.LabelDistributions):
            check_sparse(column.probabilities, "label distributions")
        elif column is not None:
            check_indices(column.ids, len(column.values), "labels", -1)
        if column is not None and len(column) != length:
            raise Wrong(f"{len(column)} labels for {length} things")
    for rows, length in ((graphs.node_attributes, n), (graphs.edge_attributes, graphs.adjacency.nnz)):
        if rows is not None and (len(rows) != length or np.isinf(rows).any()):
            raise Wrong(f"attributes of shape {rows.shape} for {length} things, or infinite ones")
    repr(graphs)
    if len(graphs):
        len(graphs[:1]), len(graphs[[len(graphs) - 1]])
