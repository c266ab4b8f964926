"""Convert a GraphDatabase to arrays and tuples for files, and back with full validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels._utils.arrays import check_indices, check_offsets
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import Names


def pack(graphs: GraphDatabase) -> dict[str, Any]:
    """Return the parts of a database as arrays and tuples.

    Examples
    --------
    >>> pair = GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"])
    >>> unpack(pack(pair)) == pair
    True
    """
    adjacency, edges = graphs.adjacency, graphs.edge_label_column
    return {
        "data": adjacency.data,
        "indices": adjacency.indices,
        "indptr": adjacency.indptr,
        "graph_ptr": graphs.graph_ptr,
        "node_labels": _pack_labels(graphs.label_column),
        "node_attributes": _pack_attributes(graphs.attribute_matrix),
        "edge_labels": _pack_labels(edges),
        "edge_attributes": graphs.edge_attributes,
        "ids": graphs.ids,
        "edge_attribute_names": graphs.edge_attribute_names,
        "vertices": None if graphs.moments is None else _pack_labels(graphs.moments.vertices),
        "times": None if graphs.moments is None else graphs.moments.times,
        "names": graphs.names.to_pairs(),
        "descriptors": None if graphs.descriptors is None else graphs.descriptors.values,
        "descriptor_names": None if graphs.descriptors is None else graphs.descriptors.names,
    }


def _pack_attributes(attributes: Any) -> Any:
    """Return a dense array as it is, and a sparse matrix as its arrays and number of columns."""
    if not isinstance(attributes, csr_array):
        return attributes
    return attributes.data, attributes.indices, attributes.indptr, attributes.shape[1]


def _unpack_attributes(parts: Any) -> Any:
    if not isinstance(parts, tuple):
        return parts
    data, columns, indptr, width = parts
    rows, columns, n = _entries(indptr, columns, data, width, "the attributes")
    return coo_array((np.asarray(data, dtype=np.float64), (rows, columns)), shape=(n, width))


def _pack_labels(column: LabelColumn | LabelDistributions | None) -> tuple[Any, ...] | None:
    if column is None:
        return None
    if isinstance(column, LabelColumn):
        return column.ids, column.values
    rows = column.probabilities
    return rows.data, rows.indices, rows.indptr, column.values, column.known, column.observed


def unpack(parts: Mapping[str, Any]) -> GraphDatabase:
    """Return the database of untrusted parts, after validation.

    Raises
    ------
    Exception
        Of any type, if the parts do not form a valid database.
    """
    rows, columns, n = _entries(parts["indptr"], parts["indices"], parts["data"], None, "the adjacency")
    data = np.asarray(parts["data"], dtype=np.float64)
    database = GraphDatabase(
        coo_array((data, (rows, columns)), shape=(n, n)),
        parts["graph_ptr"],
        _unpack_labels(parts["node_labels"]),
        _unpack_attributes(parts["node_attributes"]),
        _unpack_labels(parts["edge_labels"]),
        parts["edge_attributes"],
        parts["ids"],
        parts["edge_attribute_names"],
    )
    # files of earlier versions lack the parts below
    if parts.get("vertices") is not None:
        database = database.with_moments(_unpack_labels(parts["vertices"]), parts["times"])
    if parts.get("descriptors") is not None:
        database = database.with_descriptors(parts["descriptors"], parts["descriptor_names"])
    database.names = Names.from_pairs(parts.get("names"))
    return database


def _entries(
    indptr: Any, indices: Any, data: Any, n_columns: int | None, name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return row and column of each entry of a CSR matrix, and the number of rows; None: square."""
    n_rows = max(len(indptr) - 1, 0)
    ptr = check_offsets(indptr, len(data), f"the offsets of {name}", piece="row")
    columns = check_indices(indices, n_rows if n_columns is None else n_columns, f"the columns of {name}")
    return np.repeat(np.arange(n_rows), np.diff(ptr)), columns, n_rows


def _unpack_labels(parts: Any) -> LabelColumn | LabelDistributions | None:
    if parts is None:
        return None
    if len(parts) == 2:
        values = tuple(parts[1])
        ids = check_indices(parts[0], len(values), "the numbers of labels", least=-1)
        if len(set(values)) != len(values):
            raise ValueError("a label is listed twice")
        return LabelColumn(ids.astype(np.int32), values)
    data, columns, indptr, values, known, observed = parts
    rows, columns, n = _entries(indptr, columns, data, len(values), "the label distributions")
    matrix = csr_array(coo_array((data, (rows, columns)), shape=(n, len(values))))
    return LabelDistributions(matrix, values, known, observed)
