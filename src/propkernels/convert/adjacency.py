"""Converter of adjacency matrices: lists of scipy or dense matrices, and stacks of shape (n, m, m)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from propkernels._utils.arrays import check_sparse
from propkernels._utils.checks import shown
from propkernels._utils.typing import Column, Rows
from propkernels.convert.build import Faults, FlatGraphs, build, integers, joined, listed, numbers
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn


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
    flat = _flat(several, faults)
    flat.node_labels = _per_node(node_labels, flat.sizes, faults)
    flat.node_attributes = _rows(node_attributes, flat.sizes, faults)
    return build(flat, faults)


def _flat(matrices: list[Any], faults: Faults) -> FlatGraphs:
    """Return the concatenated entries of matrices, converted to CSR."""
    parts = [_NOTHING] * len(matrices)
    for i, matrix in enumerate(matrices):
        with faults.reading(i):
            parts[i] = _csr_arrays(matrix, i, faults)
    sizes = integers([len(indptr) - 1 for _, _, indptr in parts])
    counts = integers([len(indices) for _, indices, _ in parts])
    ptr = joined([indptr for _, _, indptr in parts], integers([]))
    lengths = np.delete(np.diff(ptr), (np.cumsum(sizes + 1) - 1)[:-1]) if len(parts) else integers([])
    local = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return FlatGraphs(
        sizes,
        counts,
        np.repeat(local, lengths),
        joined([indices for _, indices, _ in parts], integers([])).astype(np.int64),
        True,
        joined([data for data, _, _ in parts], np.empty(0)).astype(np.float64),
    )


_NOTHING: tuple[Any, Any, Any] = (np.empty(0), np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))


def _csr_arrays(matrix: Any, position: int, faults: Faults) -> tuple[Any, Any, Any]:
    if not issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError:
            faults.add(position, "rows of the adjacency matrix are of different lengths")
            return _NOTHING
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        faults.add(position, f"an adjacency matrix must be square, got shape {shape}")
        return _NOTHING
    if np.dtype(matrix.dtype).kind not in "biuf":
        faults.add(
            position, f"an adjacency matrix must hold real numbers, got dtype {matrix.dtype}", TypeError
        )
        return _NOTHING
    if not issparse(matrix):
        rows, cols = np.nonzero(matrix)
        indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
        return matrix[rows, cols], cols, indptr
    try:
        checked = check_sparse(matrix, "the adjacency matrix")
    except ValueError as error:
        faults.add(position, str(error))
        return _NOTHING
    csr = checked if checked.format == "csr" else checked.astype(np.float64).tocsr()  # small integers wrap
    n_entries = int(csr.indptr[-1])
    return csr.data[:n_entries], csr.indices[:n_entries], csr.indptr


def _per_node(labels: Any, sizes: NDArray[np.int64], faults: Faults) -> Any:
    """Return one label per node, from one sequence per graph."""
    if labels is None:
        return None
    _check_number(labels, len(sizes), "node_labels")
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and (sizes == labels.shape[1]).all():
        return LabelColumn.from_values(labels.ravel())
    parts: list[Any] = []
    for i, own in enumerate(labels):
        values: list[Any] = []
        with faults.reading(i):
            values = own.tolist() if getattr(own, "ndim", 0) == 1 else listed(own, "node labels")
        if i in faults.found:
            values = [None] * int(sizes[i])
        if len(values) != sizes[i]:
            faults.add(i, f"has {len(values)} node labels for {sizes[i]} nodes", link=" ")
            values = [None] * int(sizes[i])
        parts.append(values)
    return list(chain.from_iterable(parts))


def _rows(attributes: Any, sizes: NDArray[np.int64], faults: Faults) -> Any:
    if attributes is None:
        return None
    _check_number(attributes, len(sizes), "node_attributes")
    parts, width = [], None
    for i, own in enumerate(attributes):
        rows = None
        with faults.reading(i):
            rows = numbers(own)
            if rows is None or rows.ndim not in (1, 2):
                faults.add(i, "node attributes are not vectors of numbers, all of one length")
        rows = np.empty((0, width or 1)) if rows is None or rows.ndim not in (1, 2) else rows
        rows = rows[:, None] if rows.ndim == 1 else rows
        if sizes[i] == 0:
            continue
        width = rows.shape[1] if width is None else width
        if rows.shape != (sizes[i], width):
            expected = (int(sizes[i]), width)
            faults.add(i, f"node attributes must be of shape {expected}, got {rows.shape}")
            rows = np.full(expected, np.nan)
        parts.append(rows)
    return joined(parts, np.empty((0, width or 1)))


def _check_number(values: Sequence[Any], n_graphs: int, name: str) -> None:
    if not hasattr(values, "__len__"):
        raise TypeError(f"{name} must hold one sequence for each of {n_graphs} graphs, got {shown(values)}")
    if len(values) != n_graphs:
        raise ValueError(f"{name} must hold one sequence for each of {n_graphs} graphs, got {len(values)}")


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
