"""Labels of nodes and edges as 64-bit keys, for kernels that compare labels as they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.initial import UNKNOWN, label_column, label_source
from propkernels.utils.randomness import label_keys, mix

LABEL_SOURCES = ("auto", "node", "degree", "log_degree", None)


def resolve_source(graphs: GraphDatabase, labels: str | None) -> str | None:
    """Resolve ``labels="auto"`` at fit, and refuse labels that are not one a node."""
    source = label_source(graphs, labels)
    if source == "node":
        plain_labels(graphs, source)
    return source


def plain_labels(graphs: GraphDatabase, source: str | None) -> LabelColumn:
    """One label per node, from the source that was resolved at fit."""
    column = label_column(graphs, source)
    if not isinstance(column, LabelColumn):
        raise ValueError(
            "node labels are distributions, this kernel needs one label per node: use LabelImputer"
        )
    return column


def node_keys(graphs: GraphDatabase, source: str | None) -> NDArray[np.uint64]:
    """Key of each node's label; unobserved labels are one further label."""
    return _keys(plain_labels(graphs, source))


def edge_keys(graphs: GraphDatabase, labels: bool, weights: bool) -> NDArray[np.uint64] | None:
    """Key of each stored edge's label, weight, or both; None where neither tells edges apart."""
    keys = None
    if labels:
        column = graphs.edge_label_column
        absent = LabelColumn(np.full(graphs.adjacency.nnz, -1, dtype=np.int32), ())
        keys = _keys(absent if column is None else column)
    if weights:
        bits = graphs.adjacency.data.astype(np.float64).view(np.uint64)
        keys = mix(0 if keys is None else keys, bits)
    return keys


def _keys(column: LabelColumn) -> NDArray[np.uint64]:
    """Keys of the values, and for -1 the last one: that of a label no user has."""
    return label_keys((*column.values, UNKNOWN))[column.ids]


def check_edge_labels(graphs: GraphDatabase, edge_labels: bool) -> None:
    """Refuse to compare edge labels where there are none."""
    if edge_labels and graphs.edge_label_column is None:
        raise ValueError("edge_labels=True but the graphs have no edge labels")
