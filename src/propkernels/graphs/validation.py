"""Checks at the door of GraphDatabase: each failure is one sentence that names the graph and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from propkernels.graphs.labels import LabelColumn


def check_adjacency(adjacency: Any, edge_labels: Any) -> tuple[csr_array, LabelColumn | None]:
    """Bring an adjacency matrix to sorted float64 CSR without zeros, its edge labels along with it."""
    matrix = adjacency if issparse(adjacency) else _dense(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"adjacency must be a square matrix, got shape {matrix.shape}")
    if np.dtype(matrix.dtype).kind not in "biuf":
        raise TypeError(f"adjacency must hold real numbers, got dtype {matrix.dtype}")
    if edge_labels is not None:
        return _with_edge_labels(coo_array(matrix), edge_labels)
    csr = csr_array(matrix, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy() if issparse(adjacency) else csr
        csr.sum_duplicates()
    if np.count_nonzero(csr.data) != csr.nnz:
        csr = csr.copy()
        csr.eliminate_zeros()
    return _smallest_index(csr), None


def _dense(adjacency: Any) -> NDArray[Any]:
    array = np.asarray(adjacency)
    if array.dtype == object:
        raise TypeError("adjacency must be a matrix of numbers, dense or scipy sparse")
    return array


def _with_edge_labels(coo: coo_array, edge_labels: Any) -> tuple[csr_array, LabelColumn]:
    column = check_labels(edge_labels, coo.nnz, "edge_labels", "stored entries of adjacency")
    assert column is not None
    row, col = coo.coords
    order = np.lexsort((col, row))
    order = order[coo.data[order] != 0]
    row, col = row[order], col[order]
    repeated = np.flatnonzero((np.diff(row) == 0) & (np.diff(col) == 0))
    if repeated.size:
        i, j = int(row[repeated[0]]), int(col[repeated[0]])
        raise ValueError(f"edge ({i}, {j}) is listed twice, so its edge label is ambiguous")
    data = coo.data[order].astype(np.float64)
    csr = csr_array((data, (row, col)), shape=coo.shape)
    return _smallest_index(csr), column.take(order)


def _smallest_index(csr: csr_array) -> csr_array:
    """Use 32-bit indices wherever they suffice: half the bytes to move in every propagation step."""
    if max(csr.nnz, csr.shape[0]) < 2**31 and csr.indices.dtype != np.int32:
        arrays = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        return csr_array(arrays, shape=csr.shape)
    return csr


def check_graph_ptr(graph_ptr: Any, n_nodes: int) -> NDArray[np.int64]:
    """Return offsets that start at 0, never fall, and end at the number of nodes."""
    array = np.asarray(graph_ptr)
    if array.ndim != 1 or array.size < 1 or array.dtype.kind not in "iu":
        raise ValueError("graph_ptr must be a list of whole numbers: 0, and then each graph's end")
    array = array.astype(np.int64)
    if array[0] != 0:
        raise ValueError(f"graph_ptr must start at 0, got {array[0]}")
    falling = np.flatnonzero(np.diff(array) < 0)
    if falling.size:
        i = int(falling[0])
        raise ValueError(f"graph_ptr falls from {array[i]} to {array[i + 1]} at graph {i}")
    if array[-1] != n_nodes:
        raise ValueError(f"graph_ptr ends at {array[-1]} but the adjacency has {n_nodes} nodes")
    return array


def check_labels(labels: Any, n: int, name: str, things: str) -> LabelColumn | None:
    """Encode labels and compare their number with the number of nodes or edges."""
    if labels is None:
        return None
    column = LabelColumn.from_values(labels)
    if len(column) != n:
        raise ValueError(f"{name} has {len(column)} values for {n} {things}")
    return column


def check_attributes(attributes: Any, n: int, graph_ptr: Any) -> NDArray[np.float64] | None:
    """Return an (N, D) float64 array: finite or NaN (not observed)."""
    if attributes is None:
        return None
    try:
        array = np.array(attributes.toarray() if issparse(attributes) else attributes, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("node_attributes must be an array of numbers, one row a node") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise ValueError(f"node_attributes must be of shape (nodes, dimensions), got {array.shape}")
    if len(array) != n:
        raise ValueError(f"node_attributes has {len(array)} rows for {n} nodes")
    infinite = np.isinf(array)
    if infinite.any():
        node, dimension = (int(i) for i in np.argwhere(infinite)[0])
        place = name_node(node, graph_ptr)
        raise ValueError(
            f"{place} has an infinite attribute in dimension {dimension}: {array[node, dimension]}"
        )
    return np.ascontiguousarray(array)


def name_node(node: int, graph_ptr: Any) -> str:
    """Say which node of which graph a global node number is."""
    graph = int(np.searchsorted(graph_ptr, node, side="right")) - 1
    return f"node {node - int(graph_ptr[graph])} of graph {graph}"


def check_edges_stay_inside(adjacency: csr_array, graph_ptr: NDArray[np.int64]) -> None:
    """Refuse an edge between two graphs; with sorted columns the first and last of a row decide."""
    sizes = np.diff(graph_ptr)
    rows = np.flatnonzero(np.diff(adjacency.indptr))
    first = adjacency.indices[adjacency.indptr[rows]]
    last = adjacency.indices[adjacency.indptr[rows + 1] - 1]
    outside_left = first < np.repeat(graph_ptr[:-1], sizes)[rows]
    outside = outside_left | (last >= np.repeat(graph_ptr[1:], sizes)[rows])
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        column = int(first[at] if outside_left[at] else last[at])
        source, target = name_node(int(rows[at]), graph_ptr), name_node(column, graph_ptr)
        raise ValueError(f"an edge leads from {source} to {target}: edges must stay inside one graph")


def check_weights(adjacency: csr_array, graph_ptr: NDArray[np.int64]) -> None:
    """Refuse negative, NaN and infinite weights, naming the edge."""
    with np.errstate(invalid="ignore"):
        wrong = ~((adjacency.data >= 0) & (adjacency.data < np.inf))
    if wrong.any():
        entry = int(np.flatnonzero(wrong)[0])
        row = int(np.searchsorted(adjacency.indptr, entry, side="right")) - 1
        graph = int(np.searchsorted(graph_ptr, row, side="right")) - 1
        start = int(graph_ptr[graph])
        i, j, weight = row - start, int(adjacency.indices[entry]) - start, adjacency.data[entry]
        edge = f"edge ({i}, {j}) of graph {graph}"
        raise ValueError(f"{edge} has weight {weight}: weights must be finite and not negative")
