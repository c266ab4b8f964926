"""Fingerprints identify the graphs that a file was computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from propkernels._utils.randomness import label_keys
from propkernels.graphs import GraphDatabase, GridDatabase, LabelDistributions


def fingerprint(graphs: GraphDatabase | GridDatabase) -> str:
    """Return the SHA-256 of edges, weights, labels and attributes.

    It is the same in every process and on every machine.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(5, random_state=0).graphs
    >>> fingerprint(graphs) == fingerprint(graphs[:5]), fingerprint(graphs) == fingerprint(graphs[1:])
    (True, False)
    """
    digest = hashlib.sha256(type(graphs).__name__.encode())
    parts = _parts_of_grids(graphs) if isinstance(graphs, GridDatabase) else _parts_of_graphs(graphs)
    for name, value in parts:
        array = None if value is None else np.ascontiguousarray(value)
        shape = "none" if array is None else f"{array.dtype.newbyteorder('<').str} {array.shape}"
        digest.update(f"{name}: {shape};".encode())
        if array is not None:
            digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def _parts_of_graphs(graphs: GraphDatabase) -> Iterator[tuple[str, Any]]:
    adjacency = graphs.adjacency
    yield "graph_ptr", graphs.graph_ptr.astype(np.int64)
    yield "indptr", adjacency.indptr.astype(np.int64)
    yield "indices", adjacency.indices.astype(np.int64)
    yield "weights", adjacency.data.astype(np.float64)
    yield from _attributes(graphs.attribute_matrix)
    yield from _labels("node labels", graphs.label_column)
    yield from _labels("edge labels", graphs.edge_label_column)


def _attributes(attributes: Any) -> Iterator[tuple[str, Any]]:
    """Yield dense attributes, or the arrays of sparse ones."""
    if not isinstance(attributes, csr_array):
        yield "attributes", attributes
        return
    yield "attributes, shape", np.array(attributes.shape, dtype=np.int64)
    yield "attributes, indptr", attributes.indptr.astype(np.int64)
    yield "attributes, indices", attributes.indices.astype(np.int64)
    yield "attributes, values", attributes.data


def _parts_of_grids(grids: GridDatabase) -> Iterator[tuple[str, Any]]:
    yield "shapes", grids.shapes.astype(np.int64)
    yield "inside", grids.inside
    yield from _labels("node labels", grids.label_column)


def _labels(name: str, column: Any) -> Iterator[tuple[str, Any]]:
    """Yield labels as 64-bit keys, which do not depend on the numbering of labels."""
    if column is None:
        yield name, None
    elif isinstance(column, LabelDistributions):
        matrix = column.probabilities
        yield f"{name}, known", column.known
        yield f"{name}, observed", column.observed
        yield f"{name}, indptr", matrix.indptr.astype(np.int64)
        yield f"{name}, values", label_keys(column.values)[matrix.indices]
        yield f"{name}, probabilities", matrix.data
    else:
        yield name, label_keys((*column.values, ("unobserved",)))[column.ids]
