"""Graphs as flat arrays, small enough for a page: sizes, edges as steps to the other end, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

Arrays = dict[str, NDArray[Any]]


def graph_arrays(graphs: GraphDatabase) -> tuple[bool, Arrays]:
    """Return whether edges are listed in both directions, and the arrays that ``data.js`` reads.

    Edges that are the same both ways, with the same label, are listed once, from the smaller node on.
    """
    matrix, column = graphs.adjacency, graphs.edge_label_column
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(matrix.indptr))
    kinds = None if column is None else column.ids
    directed = not _is_symmetric(rows, matrix.indices, kinds)
    kept = np.ones(len(rows), dtype=bool) if directed else rows <= matrix.indices
    arrays: Arrays = {
        "sizes": graphs.graph_sizes,
        "degrees": np.bincount(rows[kept], minlength=graphs.n_nodes),
        "steps": (matrix.indices[kept] - rows[kept]).astype(np.int64),
    }
    if kinds is not None:
        arrays["kinds"] = kinds[kept]
    if isinstance(graphs.label_column, LabelColumn):
        arrays["labels"] = graphs.label_column.ids
    return directed, arrays


def _is_symmetric(rows: NDArray[Any], columns: NDArray[Any], kinds: NDArray[Any] | None) -> bool:
    """Whether every edge leads back, with the same label."""
    labels = np.zeros(len(rows), dtype=np.int64) if kinds is None else kinds
    there, back = np.lexsort((labels, columns, rows)), np.lexsort((labels, rows, columns))
    return bool(
        np.array_equal(rows[there], columns[back])
        and np.array_equal(columns[there], rows[back])
        and np.array_equal(labels[there], labels[back])
    )
