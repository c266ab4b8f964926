"""Graphs as GraKeL takes them."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np


def to_grakel(graphs: Any, attributes: bool = False) -> list[Any]:
    """Return (adjacency, node labels or attributes, edge labels) of each graph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import grakel
    found = []
    for graph in graphs:
        names = graph.node_attributes if attributes else graph.node_labels
        labels = {i: tuple(x) if attributes else int(x) for i, x in enumerate(names)}
        coo = graph.adjacency.tocsr().tocoo()
        edge = graph.database.edge_labels
        edge = np.zeros(coo.nnz, dtype=int) if edge is None else edge
        ends = zip(*(axis.tolist() for axis in coo.coords), strict=True)
        edges = dict(zip(ends, edge.tolist(), strict=True))
        found.append(grakel.Graph(graph.adjacency.toarray(), labels, edges, "adjacency"))
    return found


def some_of(graphs: Any, number: int) -> Any:
    """The first graphs, since GraKeL takes its time; with PROPKERNELS_SLOW set, all of them."""
    return graphs if os.environ.get("PROPKERNELS_SLOW") else graphs[:number]
