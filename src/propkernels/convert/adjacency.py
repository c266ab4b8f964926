"""Converter of adjacency matrices: lists of scipy or dense matrices, and stacks of shape (n, m, m)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from propkernels._utils.checks import shown
from propkernels._utils.typing import Column, Rows
from propkernels.convert.build import Faults, listed
from propkernels.graphs.database import GraphDatabase, join
from propkernels.graphs.validation import (
    check_adjacency,
    check_attributes,
    check_node_labels,
    check_square,
    check_weights,
)


def from_adjacency(
    matrices: Iterable[Rows],
    *,
    node_labels: Sequence[object] | None = None,
    node_attributes: Sequence[object] | None = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert adjacency matrices to a GraphDatabase.

    Parameters
    ----------
    matrices : array of shape (n, m, m), or sequence of dense or scipy sparse square matrices
        Weights, finite and not negative; a non-symmetric matrix is a directed graph, with edges from row to
        column. Every matrix is taken as an adjacency matrix.
    node_labels : sequence, optional
        One sequence of node labels per graph; or an array of shape (n, m).
    node_attributes : sequence, optional
        One array of node attributes per graph; or an array of shape (n, m, d).
    ids : sequence, optional
        Ids of the graphs.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid graph, leave it out, or make it a graph without nodes (see
        ``graphs.skipped``).

    Returns
    -------
    GraphDatabase

    See Also
    --------
    GraphDatabase : From a block-diagonal matrix.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> stack = np.array([[[0, 1], [1, 0]], [[0, 2], [2, 0]]])
    >>> pk.from_adjacency(stack, node_labels=[["C", "O"], ["C", "N"]])
    GraphDatabase(2 graphs, 4 nodes, 2 weighted edges, 3 node labels)
    """
    if issparse(matrices) or (isinstance(matrices, np.ndarray) and matrices.ndim == 2):
        raise TypeError("from_adjacency takes several matrices; wrap the one matrix: [matrix]")
    several = listed(matrices, "matrices")
    faults = Faults(errors, len(several), ids)
    labels, attributes = (
        _one_for_each(values, len(several), name)
        for values, name in ((node_labels, "node_labels"), (node_attributes, "node_attributes"))
    )
    parts: list[GraphDatabase] = []
    width: int | None = None
    for i, matrix in enumerate(several):
        part = NOTHING
        with faults.reading(i):
            try:
                found = graph_of_matrix(matrix, labels[i], attributes[i])
                own = 0 if found.attribute_matrix is None else found.attribute_matrix.shape[1]
                width = own if width is None and found.n_nodes else width
                if found.n_nodes and own != width:
                    raise ValueError(f"has {own} node attributes, and graphs before it have {width}")
                part = found
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                faults.add(i, str(error).replace(" of graph 0", ""), kind)
        parts.append(part)
    graphs = join([part for part, is_there in zip(parts, faults.present, strict=True) if is_there], "graph")
    return faults.told(graphs.with_ids(faults.present_ids))


def _one_for_each(values: Any, n_graphs: int, name: str) -> Sequence[Any]:
    """Return one item for each graph, of any kind."""
    if values is None:
        return [None] * n_graphs
    if not hasattr(values, "__len__") or len(values) != n_graphs:
        found = len(values) if hasattr(values, "__len__") else shown(values)
        raise (ValueError if hasattr(values, "__len__") else TypeError)(
            f"{name} must hold one sequence for each of {n_graphs} graphs, got {found}"
        )
    return list(values)


def graph_of_matrix(adjacency: Any, node_labels: Any = None, node_attributes: Any = None) -> GraphDatabase:
    """Return the database of one adjacency matrix with labels and attributes of its nodes."""
    is_empty = isinstance(adjacency, (list, tuple)) and not adjacency  # a graph without nodes
    is_empty = is_empty or getattr(adjacency, "shape", None) == (0,)
    square = check_square(np.zeros((0, 0)) if is_empty else adjacency)
    graph_ptr = np.array([0, square.shape[0]], dtype=np.int64)
    matrix = check_adjacency(square)
    check_weights(matrix, graph_ptr)
    labels = check_node_labels(node_labels, graph_ptr)
    attributes = check_attributes(node_attributes, graph_ptr)
    return GraphDatabase._assemble(matrix, graph_ptr, labels, attributes, None)


NOTHING = graph_of_matrix(np.zeros((0, 0)))


def doubt(array: NDArray[Any]) -> str | None:
    """Return the reason why an array may not be an adjacency matrix; None if it certainly is.

    Certain are symmetric matrices, directed ones without loops, and matrices of zeros and ones; but a 2 x 2
    matrix may be a list of two edges.

    Examples
    --------
    >>> doubt(np.array([[0, 1], [1, 0]])) is None
    True
    >>> doubt(np.array([[0, 1], [1, 2]]))
    'it may be an adjacency matrix or a list of two edges'
    """
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not array.size:
        return None
    square = array.shape[0] == array.shape[1]
    if not np.isfinite(array).all() or (square and bool((array < 0).any())):
        return None  # later validation raises an error for such values
    whole = bool((array == np.round(array)).all() and (array >= 0).all())
    if not square:
        lists_edges = whole and array.shape[1] == 2
        return (
            "it is not square; it looks like a list of edges, two node numbers in each row"
            if lists_edges
            else None
        )
    symmetric, loops = bool((array == array.T).all()), bool(np.diagonal(array).any())
    binary = bool(((array == 0) | (array == 1)).all())
    if array.shape == (2, 2) and whole and (loops or not (symmetric or binary)):
        return "it may be an adjacency matrix or a list of two edges"
    if symmetric or not loops or binary:
        return None
    return "it may be the adjacency matrix of a directed graph with loops, or an image"
