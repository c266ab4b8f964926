"""Labels, attributes and weights of edges; parallel edges; ids of graphs.

The stored entries of the adjacency are the edges. Entries of the same two nodes with equal labels and
attributes are merged into an edge, and their weights are added up. Entries with different labels or
attributes are parallel edges: adjacent in the CSR arrays, sorted by column, then by the key of the label,
then by the attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels._utils.cells import id_array
from propkernels._utils.checks import shown
from propkernels.graphs.labels import LabelColumn

_NO_LABEL = ("no label",)


def edges_of_graphs(graphs: Any) -> NDArray[np.int64]:
    """Return the number of edges of each graph; an undirected edge counts once."""
    adjacency = graphs.adjacency
    stored = np.diff(adjacency.indptr[graphs.graph_ptr].astype(np.int64))
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(adjacency.indptr))
    loops = np.bincount(graphs.graph_ids[rows[rows == adjacency.indices]], minlength=len(graphs))
    return np.where(graphs.directed_graphs, stored, (stored + loops) // 2)


def check_names(names: Any, n_columns: int, what: str) -> tuple[str, ...] | None:
    """Return distinct names of the columns, or None."""
    if names is None:
        return None
    texts = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
    if len(texts) != n_columns or len(set(texts)) != n_columns:
        raise ValueError(f"{what} must hold {n_columns} different names, got {list(texts)}")
    return texts


def sorted_edges(
    coo: coo_array, labels: LabelColumn | None, attributes: NDArray[np.float64] | None
) -> tuple[csr_array, LabelColumn | None, NDArray[np.float64] | None]:
    """Return entries with labels and attributes in CSR order; equal entries are merged.

    Parameters
    ----------
    coo : coo_array of shape (N, N)
        Entries in any order; zeros are dropped.
    labels : LabelColumn or None
        One label per entry.
    attributes : ndarray of shape (entries, D) or None

    Returns
    -------
    csr_array, LabelColumn or None, ndarray or None
        Parallel edges are consecutive entries with the same column.
    """
    row, col = (axis.astype(np.int64, copy=False) for axis in coo.coords)
    n = coo.shape[0]
    key = row * n + col
    if bool((key[1:] > key[:-1]).all()) and bool(coo.data.all()):  # sorted already, as most CSR matrices are
        matrix = _matrix(coo.data.astype(np.float64), row, col, n)
        return matrix, labels, None if attributes is None else attributes.copy()
    order = np.arange(len(key)) if bool((key[1:] >= key[:-1]).all()) else np.argsort(key, kind="stable")
    order = order[coo.data[order] != 0]
    if bool((np.diff(key[order]) == 0).any()):
        order = order[np.lexsort((*_contents(labels, attributes, order), key[order]))]
    starts = _starts(key[order], labels, attributes, order)
    weights = coo.data[order].astype(np.float64)
    data = weights if len(starts) == len(order) else np.add.reduceat(weights, starts)
    order = order[starts]
    return (
        _matrix(data, row[order], col[order], n),
        None if labels is None else labels.take(order),
        None if attributes is None else attributes[order],
    )


def _matrix(data: NDArray[np.float64], row: NDArray[np.int64], col: NDArray[np.int64], n: int) -> csr_array:
    """Return the CSR matrix of entries in CSR order."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    index = np.int32 if max(len(row), n) < 2**31 else np.int64
    return csr_array((data, col.astype(index), indptr.astype(index)), shape=(n, n))


def _contents(
    labels: LabelColumn | None, attributes: NDArray[np.float64] | None, order: NDArray[np.int64]
) -> list[NDArray[Any]]:
    """Return the sort keys of entries, least significant first: attributes, then keys of labels."""
    from propkernels._utils.randomness import label_keys  # imports scikit-learn

    columns: list[NDArray[Any]] = []
    if attributes is not None:
        columns += list(attributes[order].T[::-1])
    if labels is not None:
        columns.append(label_keys((*labels.values, _NO_LABEL))[labels.ids][order])
    return columns


def _starts(
    key: NDArray[np.int64],
    labels: LabelColumn | None,
    attributes: NDArray[np.float64] | None,
    order: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return a mask of the sorted entries that begin a new edge."""
    differs = np.ones(len(order), dtype=bool)
    if len(order):
        differs[1:] = key[1:] != key[:-1]
        if labels is not None:
            ids = labels.ids[order]
            differs[1:] |= ids[1:] != ids[:-1]
        if attributes is not None:
            a, b = attributes[order[:-1]], attributes[order[1:]]
            differs[1:] |= ((a != b) & ~((a != a) & (b != b))).any(axis=1)  # NaN equals NaN here
    return np.flatnonzero(differs)


def parallel_entries(adjacency: csr_array) -> NDArray[np.bool_]:
    """Return a mask of the stored entries whose previous entry joins the same two nodes."""
    same = np.zeros(adjacency.nnz, dtype=bool)
    if adjacency.nnz:
        same[1:] = adjacency.indices[1:] == adjacency.indices[:-1]
        firsts = adjacency.indptr[:-1]
        same[firsts[firsts < adjacency.nnz]] = False
    return same


def choose_column(
    attributes: NDArray[np.float64] | None, names: Sequence[str] | None, which: Any
) -> NDArray[np.float64]:
    """Return a column of the edge attributes, by its name or number."""
    if attributes is None:
        raise ValueError("the graphs have no edge attributes")
    if isinstance(which, str):
        if which not in (names or ()):
            choices = f"their names are {list(names)}" if names else "they have no names, only numbers from 0"
            raise ValueError(f"the edge attribute {which!r} does not exist: {choices}")
        which = list(names or ()).index(which)
    if not 0 <= which < attributes.shape[1]:
        raise ValueError(f"the edge attribute {which} does not exist: they are {attributes.shape[1]}, from 0")
    return attributes[:, which]


def check_ids(ids: Any, n_graphs: int) -> NDArray[Any] | None:
    """Return one id per graph: integers, or objects such as strings."""
    if ids is None:
        return None
    values = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"ids must list one id per graph, got {shown(ids)}")
    values = list(values)
    if len(values) != n_graphs:
        raise ValueError(f"ids has {len(values)} values for {n_graphs} graphs")
    strange = next((value for value in values if type(value).__hash__ is None), None)
    if strange is not None:
        raise TypeError(f"ids must be hashable, as texts and numbers are, got {shown(strange)}")
    return id_array(values)
