"""What simple things reach: the majority, sizes, counts of labels and degrees, without any propagation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.auditing.statistics import edges_of_graphs
from propkernels.auditing.targets import Target
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

Table = NDArray[np.float64]
MOST_COLUMNS = 50  # labels or degrees that are counted separately; the rarer ones are counted together
N_TREES = 60
LEAVES = (1, 8)  # smallest leaves that are tried


def baseline_predictions(
    graphs: GraphDatabase,
    target: Target,
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    seed: int,
    n_jobs: int | None,
) -> dict[str, NDArray[Any]]:
    """For each simple thing, a prediction for each graph from the other folds."""
    name = "majority class" if target.is_classes else "mean"
    found = {name: _filled(target, folds, lambda train, test: _constant(target, train, len(test)))}
    for title, table in simple_tables(graphs).items():
        found[title] = _filled(
            target,
            folds,
            lambda train, test, table=table: _by_forest(table, target, train, test, seed, n_jobs),
        )
    return found


def _filled(target: Target, folds: Any, predict: Any) -> NDArray[Any]:
    guesses = np.empty(len(target.values), dtype=target.values.dtype)
    for train, test in folds:
        guesses[test] = predict(train, test)
    return guesses


def _constant(target: Target, train: NDArray[np.int64], number: int) -> NDArray[Any]:
    known = target.values[train]
    return np.full(number, np.bincount(known).argmax() if target.is_classes else known.mean())


def simple_tables(graphs: GraphDatabase) -> dict[str, Table]:
    """One row per graph: sizes, counts of labels, of degrees, and means of attributes."""
    sizes, edges = graphs.graph_sizes, edges_of_graphs(graphs)
    tables = {
        "numbers of nodes and edges": np.column_stack([sizes, edges, edges / np.maximum(sizes, 1)]).astype(float)
    }
    column = graphs.label_column
    if isinstance(column, LabelColumn):
        tables["counts of node labels"] = counts_by_graph(column.ids, graphs.graph_ids, len(graphs))
    edge_column = graphs.edge_label_column
    if edge_column is not None:
        rows = np.repeat(graphs.graph_ids, np.diff(graphs.adjacency.indptr))
        tables["counts of edge labels"] = counts_by_graph(edge_column.ids, rows, len(graphs))
    degrees = np.diff(graphs.adjacency.indptr)
    tables["counts of degrees"] = counts_by_graph(degrees, graphs.graph_ids, len(graphs))
    if graphs.node_attributes is not None:
        tables["means of node attributes"] = means_by_graph(graphs.node_attributes, graphs)
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


def _by_forest(
    table: Table,
    target: Target,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    seed: int,
    n_jobs: int | None,
) -> NDArray[Any]:
    """A random forest, its smallest leaf chosen by its out-of-bag score on the training part."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind: Any = RandomForestClassifier if target.is_classes else RandomForestRegressor
    common = {"n_estimators": N_TREES, "oob_score": True, "random_state": seed, "n_jobs": n_jobs}
    known = target.values[train]
    if len(np.unique(known)) < 2:
        return _constant(target, train, len(test))
    forests = [kind(min_samples_leaf=leaf, **common).fit(table[train], known) for leaf in LEAVES]
    best = max(forests, key=lambda forest: forest.oob_score_)
    return np.asarray(best.predict(table[test]), dtype=target.values.dtype)
