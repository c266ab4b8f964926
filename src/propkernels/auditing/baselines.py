"""Baselines without structure: sizes, label counts, degree counts, and attribute means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import config_context

from propkernels.auditing.statistics import edges_of_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.selection.folds import Folds

Table = NDArray[np.float64]
MOST_COLUMNS = 50  # labels or degrees that are counted separately; the rarer ones are counted together
N_STEPS, MOST_STEPS = 9, 400  # of a column, and of all columns
PENALTIES = (0.3, 3.0, 30.0)


def baseline_predictions(graphs: GraphDatabase, columns: Table, folds: Folds) -> dict[str, list[Table]]:
    """Predict the test graphs of each fold from each simple table.

    Parameters
    ----------
    graphs : GraphDatabase
    columns : ndarray, (graphs, columns)
        What ridge regression predicts: 1 and -1 for classes, or numbers.
    folds : sequence of (train, test)

    Returns
    -------
    dict
        For each baseline, the predictions fold by fold.
    """
    return {
        title: [additive(table[train], columns[train], table[test]) for train, test in folds]
        for title, table in simple_tables(graphs).items()
    }


def simple_tables(graphs: GraphDatabase) -> dict[str, Table]:
    """Return tables with one row per graph: sizes, label counts, degree counts, and attribute means."""
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
    """Count each value in each graph; rare values share the last column.

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
    """Return mean and standard deviation of each attribute per graph; missing values count as 0."""
    known = np.nan_to_num(table)
    sizes = np.maximum(graphs.graph_sizes, 1)[:, None]

    def summed(values: Table) -> Table:
        return np.column_stack([np.bincount(graphs.graph_ids, v, len(graphs)) for v in values.T]) / sizes

    means = summed(known)
    spread = np.sqrt(np.maximum(summed(known**2) - means**2, 0.0))
    return np.column_stack([means, spread])


def additive(known: Table, columns: Table, new: Table) -> Table:
    """Predict new rows by ridge regression on steps at the quantiles of each column: one curve per column.

    The penalty is chosen on the known rows, by leave-one-out.
    """
    from sklearn.linear_model import RidgeCV

    steps = _steps(known, np.concatenate([known, new]))
    with config_context(skip_parameter_validation=True, assume_finite=True):
        model = RidgeCV(PENALTIES).fit(steps[: len(known)], columns)
        return np.asarray(model.predict(steps[len(known) :])).reshape(len(new), -1)


def _steps(known: Table, table: Table) -> Table:
    """Return standardized values, and for each value which quantiles of the known rows it exceeds."""
    n_steps = max(1, min(N_STEPS, MOST_STEPS // max(table.shape[1], 1)))
    quantiles = np.quantile(known, np.arange(1, n_steps + 1) / (n_steps + 1), axis=0)
    is_new = np.diff(quantiles, axis=0, prepend=-np.inf) > 0  # equal quantiles are one step
    exceeds = (table[:, None, :] > quantiles)[:, is_new]
    standardized = (table - known.mean(axis=0)) / (known.std(axis=0) + 1e-12)
    return np.concatenate([standardized, exceeds], axis=1)
