"""Baselines that ignore structure: sizes, label counts, degree counts and attribute means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import config_context

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import edges_of_graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.models.folds import Folds

Table = NDArray[np.float64]
MOST_COLUMNS = 50  # labels or degrees that are counted separately; rarer ones share a column
N_STEPS, MOST_STEPS = 9, 400  # quantile steps per column, and of all columns together
PENALTIES = (0.3, 3.0, 30.0)


def baseline_predictions(graphs: GraphDatabase, columns: Table, folds: Folds) -> dict[str, list[Table]]:
    """Return the predictions of each baseline for the test graphs of each fold.

    Parameters
    ----------
    graphs : GraphDatabase
    columns : ndarray of shape (graphs, columns)
        Targets of ridge regression: 1 and -1 for classes, or numbers.
    folds : sequence of (train, test)

    Returns
    -------
    dict
        Per baseline, one array of predictions per fold.
    """
    return {
        title: [additive(table[train], columns[train], table[test]) for train, test in folds]
        for title, table in simple_tables(graphs).items()
    }


def simple_tables(graphs: GraphDatabase) -> dict[str, Table]:
    """Return the tables of all baselines by name, with one row per graph."""
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
    """Return the count of each value per graph, most frequent values first; rare ones share the last column.

    Examples
    --------
    >>> counts_by_graph(np.array([7, 7, 9]), np.array([0, 1, 1]), 2)
    array([[1., 0.],
           [1., 1.]])
    """
    distinct, numbers = np.unique(values, return_inverse=True)
    frequencies = np.bincount(numbers, minlength=len(distinct))
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.argsort(-frequencies, kind="stable")] = np.arange(len(distinct))
    columns = np.minimum(rank[numbers], MOST_COLUMNS - 1)
    width = min(len(distinct), MOST_COLUMNS)
    table = csr_array((np.ones(len(values)), (owners, columns)), shape=(n_graphs, width))
    return np.asarray(table.toarray())


def means_by_graph(table: Table, graphs: GraphDatabase) -> Table:
    """Return mean and standard deviation of each attribute per graph; missing values count as 0."""
    filled = np.nan_to_num(table)
    sizes = np.maximum(graphs.graph_sizes, 1)[:, None]

    def mean(values: Table) -> Table:
        return np.column_stack([np.bincount(graphs.graph_ids, v, len(graphs)) for v in values.T]) / sizes

    means = mean(filled)
    deviations = np.sqrt(np.maximum(mean(filled**2) - means**2, 0.0))
    return np.column_stack([means, deviations])


def additive(train: Table, columns: Table, test: Table) -> Table:
    """Return predictions for test rows by ridge regression on quantile steps of each column.

    The penalty is chosen by leave-one-out on the training rows.
    """
    from sklearn.linear_model import RidgeCV

    steps = _steps(train, np.concatenate([train, test]))
    with config_context(skip_parameter_validation=True, assume_finite=True):
        model = RidgeCV(PENALTIES).fit(steps[: len(train)], columns)
        return np.asarray(model.predict(steps[len(train) :])).reshape(len(test), -1)


def _steps(train: Table, table: Table) -> Table:
    """Return standardized values, and indicators of the training quantiles that each value exceeds."""
    n_steps = max(1, min(N_STEPS, MOST_STEPS // max(table.shape[1], 1)))
    quantiles = np.quantile(train, np.arange(1, n_steps + 1) / (n_steps + 1), axis=0)
    is_new = np.diff(quantiles, axis=0, prepend=-np.inf) > 0  # equal quantiles give one step
    exceeds = (table[:, None, :] > quantiles)[:, is_new]
    standardized = (table - train.mean(axis=0)) / (train.std(axis=0) + 1e-12)
    return np.concatenate([standardized, exceeds], axis=1)
