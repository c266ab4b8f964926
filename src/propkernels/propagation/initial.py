"""Initial label distributions P_0, and 64-bit keys of node and edge labels."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, vstack

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_choice, shown
from propkernels._utils.randomness import label_keys, mix
from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import parallel_entries
from propkernels.graphs.label_distributions import LabelDistributions, concat_distributions, distinct_labels
from propkernels.graphs.labels import LabelColumn, number_of_entries

SMALLEST_SUM = 2.0**-1000  # of prior weights; its reciprocal is the largest
WITHOUT_DISTRIBUTIONS = (
    'give rare labels one name, or use a metric other than "hellinger" with a scheme of affine steps '
    "(diffusion, label propagation), which never form the distributions"
)
ENTRIES = "entries"  # value of the parameter labels: use the entries of tuple labels
UNKNOWN = ("propkernels", "unknown")  # stands for a missing label; no user's label equals it


@dataclass(frozen=True)
class InitialDistributions:
    """Label distributions P_0: each node refers to a row of a table.

    Attributes
    ----------
    rows : ndarray of int32, (N,)
        Row of ``table`` of each node.
    table : csr_array, (r, k)
        Initial distributions; observed labels are deltas.
    values : tuple of length k
        Label of each column.
    observed : ndarray of bool, (N,)
        Nodes with an observed label.
    """

    rows: NDArray[np.int32]
    table: csr_array
    values: tuple[Hashable, ...]
    observed: NDArray[np.bool_]

    def block(self, first: int, last: int) -> InitialDistributions:
        """Return P_0 of the nodes first..last-1."""
        part = slice(first, last)
        return InitialDistributions(self.rows[part], self.table, self.values, self.observed[part])

    def to_dense(self) -> NDArray[np.float64]:
        """Return P_0 as a dense matrix (N, k); raise an error if three of that size exceed the memory."""
        check_room(len(self.rows), len(self.values), 3, ways_out=WITHOUT_DISTRIBUTIONS)
        return np.asarray(self.table[self.rows].toarray(), dtype=np.float64)


@dataclass(frozen=True)
class Prior:
    """Initial distribution of unobserved nodes, learned in fit.

    Attributes
    ----------
    values : tuple
        The labels seen in fit.
    weights : ndarray
        Their probabilities.
    """

    values: tuple[Hashable, ...]
    weights: NDArray[np.float64]

    def _check_parts(self) -> None:
        """Raise an error unless values are distinct and each has a weight."""
        distinct = len(set(self.values)) == len(self.values)
        fits = distinct and len(self.values) == len(self.weights) and self.weights.ndim == 1
        require(fits, "every value needs one weight")


def learn_prior(column: LabelColumn | LabelDistributions, prior: Any) -> Prior:
    """Return the prior over the labels of the training graphs for the parameter ``prior``.

    If no label is observed, all nodes get the label ``UNKNOWN``, and only structure distinguishes them.
    """
    values = column.present
    if isinstance(prior, str):
        check_choice(prior, ("uniform", "frequency"), "prior")
        if not values:
            return Prior((UNKNOWN,), np.ones(1))
        weights = label_mass(column) if prior == "frequency" else np.ones(len(values))
        return _normalized_prior(values, weights)
    if isinstance(prior, Mapping):
        return _normalized_prior(distinct_labels(prior, "prior"), np.asarray(list(prior.values())))
    weights = np.asarray(prior)
    if weights.shape != (len(values),):
        raise ValueError(f"prior has shape {weights.shape} but the training graphs have {len(values)} labels")
    return _normalized_prior(values, weights)


def _normalized_prior(values: tuple[Hashable, ...], weights: NDArray[Any]) -> Prior:
    """Return the prior with weights divided by their sum."""
    if weights.dtype.kind not in "biuf" or not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(f"prior weights must be finite, nonnegative numbers; got {weights.tolist()}")
    if not weights.any():
        raise ValueError("prior weights are all zero")
    try:
        total = math.fsum(weights)
    except OverflowError:
        total = math.inf
    if not SMALLEST_SUM <= total <= 1 / SMALLEST_SUM:  # the sum and its reciprocal are normal numbers
        raise ValueError(f"prior weights add up to {total:g}: multiply them by a constant")
    return Prior(values, weights / total)


def label_frequencies(column: LabelColumn | LabelDistributions) -> NDArray[np.float64]:
    """Return the relative frequencies of the labels that occur."""
    mass = label_mass(column)
    return np.asarray(mass / math.fsum(mass))


def label_mass(column: LabelColumn | LabelDistributions) -> NDArray[np.float64]:
    """Return the number of nodes per occurring label; uncertain labels count by their probabilities."""
    if isinstance(column, LabelDistributions):
        ids, shares = column.probabilities.indices, column.probabilities.data
        order = np.lexsort((shares, ids))  # the rounding of sums does not depend on node order
        mass = np.bincount(ids[order], shares[order], len(column.values))
    else:
        mass = np.bincount(column.ids[column.observed], minlength=len(column.values)).astype(np.float64)
    return np.asarray(mass[mass > 0])


def initial_distributions(column: LabelColumn | LabelDistributions, prior: Prior) -> InitialDistributions:
    """Return P_0: deltas at observed labels, given distributions, and the prior for other nodes."""
    if isinstance(column, LabelDistributions):
        return _from_distributions(column, prior)
    observed = column.observed
    if observed.all():
        return InitialDistributions(column.ids, _identity(len(column.values)), column.values, observed)
    empty = LabelColumn(np.empty(0, dtype=np.int32), prior.values)
    merged = LabelColumn.concat([empty, column])
    table = vstack([_identity(len(merged.values)), _prior_row(prior, len(merged.values))])
    rows = np.where(observed, merged.ids, np.int32(len(merged.values)))
    return InitialDistributions(rows, csr_array(table), merged.values, observed)


def _from_distributions(column: LabelDistributions, prior: Prior) -> InitialDistributions:
    """Return P_0 of nodes with given distributions; the prior for nodes without."""
    empty = LabelDistributions(np.empty((0, len(prior.values))), values=prior.values)
    merged = concat_distributions([empty, column])
    n, k = merged.probabilities.shape
    table = csr_array(vstack([merged.probabilities, _prior_row(prior, k)]))
    rows = np.where(column.known, np.arange(n, dtype=np.int32), np.int32(n))
    return InitialDistributions(rows, table, merged.values, column.observed)


def _prior_row(prior: Prior, width: int) -> csr_array:
    """Return the prior as a sparse row; its labels are the first columns."""
    columns = np.flatnonzero(prior.weights)
    arrays = (prior.weights[columns], columns, np.array([0, len(columns)]))
    return csr_array(arrays, shape=(1, width))


def _identity(size: int) -> csr_array:
    return csr_array(eye_array(size, format="csr"))


def neighbor_counts(graphs: GraphDatabase) -> NDArray[np.int64]:
    """Return how many nodes each node's edges lead to, whatever the weights and the number of edges."""
    counts = np.diff(graphs.adjacency.indptr).astype(np.int64)
    if graphs.has_parallel_edges:
        again = np.flatnonzero(parallel_entries(graphs.adjacency))
        counts -= np.bincount(
            np.searchsorted(graphs.adjacency.indptr, again, side="right") - 1, minlength=len(counts)
        )
    return counts


def degree_column(graphs: GraphDatabase) -> LabelColumn:
    """Return the number of neighbors of each node as its label."""
    degrees, ids = np.unique(neighbor_counts(graphs), return_inverse=True)
    return LabelColumn(ids.astype(np.int32), tuple(degrees.tolist()))


def log_degree_column(graphs: GraphDatabase) -> LabelColumn:
    """Return the order of magnitude of each node's number of neighbors d as its label, ``floor(log2 d)``.

    Nodes without edges get the label "isolated".

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> star = np.zeros((6, 6))
    >>> star[0, 1:5] = star[1:5, 0] = 1
    >>> column = log_degree_column(pk.check_graphs([star]))
    >>> [column.values[i] for i in column.ids]
    [2, 0, 0, 0, 0, 'isolated']
    """
    exponents = np.frexp(neighbor_counts(graphs))[1] - 1  # d = m * 2^(e + 1), m in [0.5, 1); -1 for d = 0
    present, ids = np.unique(exponents, return_inverse=True)
    values = tuple("isolated" if value < 0 else int(value) for value in present)
    return LabelColumn(ids.astype(np.int32), values)


def constant_column(graphs: GraphDatabase) -> LabelColumn:
    """Return a column with the label 0 for all nodes."""
    return LabelColumn(np.zeros(graphs.n_nodes, dtype=np.int32), (0,))


def label_source(graphs: GraphDatabase, labels: Any) -> str | None:
    """Return the source for the parameter ``labels``; "auto" is node labels if present, else degrees."""
    if labels == "auto":
        return "degree" if graphs.label_column is None else "node"
    if labels == "node" and graphs.label_column is None:
        raise ValueError("labels='node' but the graphs have no node labels: use labels='degree' or None")
    return None if labels is None else str(labels)


def label_column(graphs: GraphDatabase, source: str | None) -> LabelColumn | LabelDistributions:
    """Return the node labels from the source that fit resolved."""
    if source is None:
        return constant_column(graphs)
    if source == "degree":
        return degree_column(graphs)
    if source == "log_degree":
        return log_degree_column(graphs)
    absent = LabelColumn(np.full(graphs.n_nodes, -1, dtype=np.int32), ())
    return absent if graphs.label_column is None else graphs.label_column


KNOWN_SOURCES = ("node", "degree", "log_degree", None)  # label sources after "auto" is resolved
LABEL_SOURCES = ("auto", *KNOWN_SOURCES)


def is_entry(labels: Any) -> bool:
    """Whether the parameter ``labels`` is the number of an entry of labels that are tuples."""
    return isinstance(labels, numbers.Integral) and not isinstance(labels, bool)


def entries_of(graphs: GraphDatabase, labels: Any) -> tuple[int, tuple[int, ...]]:
    """Return how many entries every node label has, and those that ``labels`` names: all, or one."""
    width = number_of_entries(plain_labels(graphs, "node"))
    if is_entry(labels) and not 0 <= labels < width:
        raise ValueError(f"labels={shown(labels)}: the node labels have entries 0 to {width - 1}")
    return width, (int(labels),) if is_entry(labels) else tuple(range(width))


def resolve_source(graphs: GraphDatabase, labels: str | None) -> str | None:
    """Return the label source; raise an error if node labels are distributions."""
    source = label_source(graphs, labels)
    if source == "node":
        _check_plain(graphs.label_column)
    return source


def plain_labels(graphs: GraphDatabase, source: str | None) -> LabelColumn:
    """Return one label per node from the source that fit resolved; raise an error for distributions."""
    return _check_plain(label_column(graphs, source))


def _check_plain(column: Any) -> LabelColumn:
    """Return a column of one label per node; raise an error for distributions."""
    if not isinstance(column, LabelColumn):
        raise ValueError(
            "node labels are distributions, but this kernel needs one label per node: use LabelImputer"
        )
    return column


def node_keys(graphs: GraphDatabase, source: str | None) -> NDArray[np.uint64]:
    """Return the key of each node's label; unobserved labels share one key."""
    return label_column_keys(plain_labels(graphs, source))


def edge_keys(graphs: GraphDatabase, labels: bool, weights: bool) -> NDArray[np.uint64] | None:
    """Return the key of each stored edge's label, weight, or both; None if neither is used."""
    keys = None
    if labels:
        column = graphs.edge_label_column
        absent = LabelColumn(np.full(graphs.adjacency.nnz, -1, dtype=np.int32), ())
        keys = label_column_keys(absent if column is None else column)
    if weights:
        bits = graphs.adjacency.data.astype(np.float64).view(np.uint64)
        keys = mix(0 if keys is None else keys, bits)
    return keys


def label_column_keys(column: LabelColumn) -> NDArray[np.uint64]:
    """Return the key of each id; -1 indexes the last key, that of ``UNKNOWN``."""
    return label_keys((*column.values, UNKNOWN))[column.ids]


def numbered_keys(column: LabelColumn) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct keys of labels, and the number of each node's key."""
    keys, numbers = np.unique(label_keys((*column.values, UNKNOWN)), return_inverse=True)
    return keys, numbers[column.ids]


def check_edge_labels(graphs: GraphDatabase, edge_labels: bool) -> None:
    """Raise an error if ``edge_labels`` is True and the graphs have none."""
    if edge_labels and graphs.edge_label_column is None:
        raise ValueError("edge_labels=True but the graphs have no edge labels")
