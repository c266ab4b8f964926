"""What simple things reach: sizes, counts of labels and of degrees, means of attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.auditing.statistics import edges_of_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

Table = NDArray[np.float64]
MOST_COLUMNS = 50  # labels or degrees that are counted separately; the rarer ones are counted together
N_STEPS, MOST_STEPS = 9, 400  # of a column, and of all columns
PENALTIES = (0.3, 3.0, 30.0)


def baseline_predictions(
    graphs: GraphDatabase,
    columns: Table,
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> dict[str, Table]:
    """For each simple thing, columns of each graph predicted from the other folds.

    Parameters
    ----------
    graphs : GraphDatabase
    columns : ndarray, (graphs, columns)
        What ridge regression predicts: 1 and -1 for classes, or numbers.
    folds : sequence of pairs of int64
    """
    found = {}
    for title, table in simple_tables(graphs).items():
        found[title] = np.empty_like(columns)
        for train, test in folds:
            found[title][test] = additive(table, columns, train, test)
    return found


def simple_tables(graphs: GraphDatabase) -> dict[str, Table]:
    """One row per graph: sizes, counts of labels, of degrees, and means of attributes."""
    sizes, edges = graphs.graph_sizes, edges_of_graphs(graphs)
    tables = {
        "counting nodes and edges": np.column_stack([sizes, edges, edges / np.maximum(sizes, 1)]).astype(
            float
        )
    }
    column = graphs.label_column
    if isinstance(column, LabelColumn):
        tables["counting node labels"] = counts_by_graph(column.ids, graphs.graph_ids, len(graphs))
    edge_column = graphs.edge_label_column
    if edge_column is not None:
        rows = np.repeat(graphs.graph_ids, np.diff(graphs.adjacency.indptr))
        tables["counting edge labels"] = counts_by_graph(edge_column.ids, rows, len(graphs))
    degrees = np.diff(graphs.adjacency.indptr)
    tables["counting degrees"] = counts_by_graph(degrees, graphs.graph_ids, len(graphs))
    if graphs.node_attributes is not None:
        tables["averaging attributes"] = means_by_graph(graphs.node_attributes, graphs)
    return tables


def counts_by_graph(values: NDArray[Any], owners: NDArray[Any], n_graphs: int) -> Table:
    """How often each value occurs in each graph; rare values share the last column.

    Examples
    --------
    >>> counts_by_graph(np.array([7, 7, 9]), np.array([0, 1, 1]), 2)
    array([[1., 0.],
           [1., 1.]])
    """
    found, numbers = np.unique(values, return_inverse=True)
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.argsort(-np.bincount(numbers, minlength=len(found)), kind="stable")] = np.arange(len(found))
    places = np.minimum(rank[numbers], MOST_COLUMNS - 1)
    width = min(len(found), MOST_COLUMNS)
    table = csr_array((np.ones(len(values)), (owners, places)), shape=(n_graphs, width))
    return np.asarray(table.toarray())


def means_by_graph(table: Table, graphs: GraphDatabase) -> Table:
    """Mean and standard deviation of each attribute over a graph's nodes; missing values count as 0."""
    known = np.nan_to_num(table)
    sizes = np.maximum(graphs.graph_sizes, 1)[:, None]

    def summed(values: Table) -> Table:
        return np.column_stack([np.bincount(graphs.graph_ids, v, len(graphs)) for v in values.T]) / sizes

    means = summed(known)
    spread = np.sqrt(np.maximum(summed(known**2) - means**2, 0.0))
    return np.column_stack([means, spread])


def additive(table: Table, columns: Table, train: NDArray[np.int64], test: NDArray[np.int64]) -> Table:
    """Ridge regression on steps at the quantiles of each column: a sum of one curve per column.

    Everything is learned from the training part; the penalty is chosen there by leave-one-out in closed form.
    """
    known, new = _steps(table[train], table[train]), _steps(table[train], table[test])
    middle = known.mean(axis=0)
    center = columns[train].mean(axis=0)
    values, axes = np.linalg.eigh((known - middle).T @ (known - middle))
    scores, wanted = (known - middle) @ axes, columns[train] - center
    best = min(PENALTIES, key=lambda penalty: _left_out_error(scores, values, wanted, penalty))
    weights = (scores.T @ wanted) / (np.maximum(values, 0.0) + best)[:, None]
    return np.asarray((new - middle) @ axes @ weights + center)


def _left_out_error(scores: Table, values: Table, wanted: Table, penalty: float) -> float:
    """Mean squared error on each training graph of the machine without it (Allen's PRESS)."""
    shrunk = scores / (np.maximum(values, 0.0) + penalty)
    residuals = wanted - shrunk @ (scores.T @ wanted)
    leverage = np.einsum("ij,ij->i", shrunk, scores) + 1 / len(scores)
    return float(np.square(residuals / np.maximum(1 - leverage, 1e-9)[:, None]).mean())


def _steps(known: Table, table: Table) -> Table:
    """Which quantiles of the training part each value exceeds, and the standardized value itself."""
    n_steps = max(1, min(N_STEPS, MOST_STEPS // max(table.shape[1], 1)))
    parts = [(table - known.mean(axis=0)) / (known.std(axis=0) + 1e-12)]
    shares = np.arange(1, n_steps + 1) / (n_steps + 1)
    for column, values in zip(known.T, table.T, strict=True):
        parts.append((values[:, None] > np.unique(np.quantile(column, shares))).astype(np.float64))
    return np.column_stack(parts)
