"""A GraphDatabase as plain arrays and tuples, for files; everything is checked on the way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn


def pack(graphs: GraphDatabase) -> dict[str, Any]:
    """Return what a database is made of.

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
        "node_attributes": graphs.node_attributes,
        "edge_labels": _pack_labels(edges),
        "edge_attributes": graphs.edge_attributes,
        "ids": graphs.ids,
        "edge_attribute_names": graphs.edge_attribute_names,
    }


def _pack_labels(column: LabelColumn | LabelDistributions | None) -> tuple[Any, ...] | None:
    if column is None:
        return None
    if isinstance(column, LabelColumn):
        return column.ids, column.values
    rows = column.probabilities
    return rows.data, rows.indices, rows.indptr, column.values, column.known, column.observed


def unpack(parts: Mapping[str, Any]) -> GraphDatabase:
    """Put a database together from parts of unknown origin.

    Raises
    ------
    Exception
        Of any kind, where the parts are not those of a database.
    """
    indptr = _whole(parts["indptr"])
    n = len(indptr) - 1
    if indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of the adjacency are out of order")
    rows = np.repeat(np.arange(n), np.diff(indptr))
    data, columns = np.asarray(parts["data"], dtype=np.float64), _whole(parts["indices"])
    return GraphDatabase(
        coo_array((data, (rows, columns)), shape=(n, n)),
        parts["graph_ptr"],
        _unpack_labels(parts["node_labels"]),
        parts["node_attributes"],
        _unpack_labels(parts["edge_labels"]),
        parts["edge_attributes"],
        parts["ids"],
        parts["edge_attribute_names"],
    )


def _whole(array: Any) -> Any:
    values = np.asarray(array)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError("expected a list of whole numbers")
    return values.astype(np.int64)


def _unpack_labels(parts: Any) -> LabelColumn | LabelDistributions | None:
    if parts is None:
        return None
    if len(parts) == 2:
        ids, values = _whole(parts[0]), tuple(parts[1])
        if ids.size and (ids.min() < -1 or ids.max() >= len(values)):
            raise ValueError("a label has a number that is out of range")
        if len(set(values)) != len(values):
            raise ValueError("a label is listed twice")
        return LabelColumn(ids.astype(np.int32), values)
    data, columns, indptr, values, known, observed = parts
    indptr, columns = _whole(indptr), _whole(columns)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    shape = (len(indptr) - 1, len(values))
    matrix = csr_array(coo_array((data, (rows, columns)), shape=shape))
    return LabelDistributions(matrix, values, known, observed)
