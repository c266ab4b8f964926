"""Converter of adjacency matrices: lists of scipy or dense matrices, and stacks of shape (n, m, m)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from propkernels._utils.typing import Column, Rows
from propkernels.convert.build import Fault, Faults, as_fault, check_widths, listed, read_each
from propkernels.graphs.database import GraphDatabase, join
from propkernels.graphs.validation import check_square


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
    return convert(list(zip(several, labels, attributes, strict=True)), faults)


def _one_for_each(values: Any, n_graphs: int, name: str) -> Sequence[Any]:
    """Return one item for each graph, of any kind."""
    if values is None:
        return [None] * n_graphs
    several = listed(values, name)
    if len(several) != n_graphs:
        raise ValueError(f"{name} must hold one sequence for each of {n_graphs} graphs, got {len(several)}")
    return several


def is_adjacency(thing: Any) -> bool:
    """Return whether this is a matrix, rows of a matrix, or a tuple that begins with one."""
    is_rows = isinstance(thing, list) and len(thing) > 0 and all(isinstance(row, list) for row in thing)
    return is_rows or issparse(thing) or isinstance(thing, (tuple, np.ndarray))


def convert(graphs: list[Any], faults: Faults) -> GraphDatabase:
    """Return the database of matrices and of tuples (adjacency, node_labels, node_attributes)."""
    nothing = GraphDatabase(np.zeros((0, 0)), [0, 0])
    parts = read_each(graphs, _read, faults, nothing)
    sizes = np.array([part.n_nodes for part in parts])
    check_widths([part.attribute_matrix for part in parts], sizes, faults, "node attributes")
    kept = [part if keep else nothing for part, keep in zip(parts, faults.kept.tolist(), strict=True)]
    found = join([part for part, there in zip(kept, faults.present.tolist(), strict=True) if there])
    return faults.told(found.with_ids(faults.present_ids))


def _read(graph: Any) -> GraphDatabase:
    if not isinstance(graph, tuple):
        _refuse_doubt(graph)
        graph = (graph,)
    if not 1 <= len(graph) <= 3:
        raise Fault(f"is a tuple of {len(graph)} items, not (adjacency, labels, attributes)", TypeError, " ")
    if hasattr(graph[0], "adjacency"):
        raise Fault("pass networkx graphs directly, not in tuples; labels are read from node data", TypeError)
    matrix, labels, attributes = (*graph, None, None)[:3]
    is_empty = isinstance(matrix, (list, tuple)) and not matrix  # a graph without nodes
    is_empty = is_empty or getattr(matrix, "shape", None) == (0,)
    with as_fault():
        square = check_square(np.zeros((0, 0)) if is_empty else matrix)
        return GraphDatabase(square, [0, square.shape[0]], labels, attributes)


def _refuse_doubt(graph: Any) -> None:
    """Raise a fault for an array that may not be an adjacency matrix."""
    is_even = isinstance(graph, list) and len({len(row) for row in graph}) == 1
    matrix = np.asarray(graph) if is_even else graph
    reason = doubt(matrix) if isinstance(matrix, np.ndarray) else None
    if reason is not None:
        raise Fault(
            f"is an array of shape {matrix.shape}, and {reason}: pass pk.from_adjacency(arrays) if they are "
            "adjacency matrices, pk.from_edges(arrays) if they are lists of edges, "
            "pk.images.GrayLevels().fit_transform(images) for images",
            link=" ",
        )


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
    if array.ndim == 3 and array.shape[2] in (3, 4):
        return "it may be a color image"
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not array.size:
        return None
    square = array.shape[0] == array.shape[1]
    if not np.isfinite(array).all() or (square and bool((array < 0).any())):
        return None  # later validation raises an error for such values
    whole = bool((array == np.round(array)).all() and (array >= 0).all())
    if not square:
        lists_edges = whole and array.shape[1] == 2
        what = "; it looks like a list of edges, two node numbers in each row" if lists_edges else ""
        return f"it is not square{what}"
    symmetric, loops = bool((array == array.T).all()), bool(np.diagonal(array).any())
    binary = bool(((array == 0) | (array == 1)).all())
    if array.shape == (2, 2) and whole and (loops or not (symmetric or binary)):
        return "it may be an adjacency matrix or a list of two edges"
    if symmetric or not loops or binary:
        return None
    return "it may be the adjacency matrix of a directed graph with loops, or an image"
