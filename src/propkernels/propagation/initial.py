"""P_0: what the nodes know before anything spreads."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, vstack

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, canonical_label


@dataclass(frozen=True)
class InitialDistributions:
    """The label distributions P_0, one row of a small table for each node.

    Attributes
    ----------
    rows : ndarray of int32, (N,)
        The row of ``table`` with which each node starts.
    table : csr_array, (r, k)
        The distinct starting distributions; observed labels are deltas.
    values : tuple of length k
        The label of each column.
    observed : ndarray of bool, (N,)
        Which nodes' labels were observed.
    """

    rows: NDArray[np.int32]
    table: csr_array
    values: tuple[Hashable, ...]
    observed: NDArray[np.bool_]

    def block(self, first: int, last: int) -> InitialDistributions:
        """P_0 of the nodes first..last-1."""
        part = slice(first, last)
        return InitialDistributions(self.rows[part], self.table, self.values, self.observed[part])

    def to_dense(self) -> NDArray[np.float64]:
        """Return P_0 itself, (N, k)."""
        return np.asarray(self.table.toarray()[self.rows], dtype=np.float64)


def from_column(column: LabelColumn, known: tuple[Hashable, ...]) -> InitialDistributions:
    """Deltas at observed labels; unobserved nodes uniform over the labels known at fit.

    With no known label at all, an unobserved node starts at one label of its own kind, the same for
    all: only structure is left to tell nodes apart.
    """
    observed = column.observed
    if observed.all():
        return InitialDistributions(column.ids, _identity(len(column.values)), column.values, observed)
    merged = LabelColumn.concat([LabelColumn(np.empty(0, dtype=np.int32), known), column])
    values = merged.values if known else (*merged.values, ("propkernels", "unknown"))
    prior = np.zeros(len(values))
    prior[: len(known)] = 1.0 / max(len(known), 1)
    prior[len(merged.values) :] = 1.0
    table = csr_array(vstack([_identity(len(values)), csr_array(prior[None, :])]))
    rows = np.where(observed, merged.ids, np.int32(len(values)))
    return InitialDistributions(rows, table, values, observed)


def _identity(size: int) -> csr_array:
    return csr_array(eye_array(size, format="csr"))


def degree_column(graphs: GraphDatabase) -> LabelColumn:
    """Return the weighted degree of each node as its label, ``l(v) = sum_j A_ij``."""
    degrees, ids = np.unique(graphs.degrees, return_inverse=True)
    values = tuple(canonical_label(float(degree)) for degree in degrees)
    return LabelColumn(ids.astype(np.int32), values)


def constant_column(graphs: GraphDatabase) -> LabelColumn:
    """One label for all nodes."""
    return LabelColumn(np.zeros(graphs.n_nodes, dtype=np.int32), (0,))


def unobserved_column(graphs: GraphDatabase) -> LabelColumn:
    """No node's label is known."""
    return LabelColumn(np.full(graphs.n_nodes, -1, dtype=np.int32), ())


def label_source(graphs: GraphDatabase, labels: Any) -> str | None:
    """Resolve ``labels="auto"``: node labels where present, else degrees."""
    if labels == "auto":
        return "degree" if graphs.label_column is None else "node"
    if labels == "node" and graphs.label_column is None:
        raise ValueError("labels='node' but the graphs have no node labels: use labels='degree' or None")
    return None if labels is None else str(labels)


def label_column(graphs: GraphDatabase, source: str | None) -> LabelColumn:
    """Labels of the nodes from the source that was resolved at fit."""
    if source is None:
        return constant_column(graphs)
    if source == "degree":
        return degree_column(graphs)
    return unobserved_column(graphs) if graphs.label_column is None else graphs.label_column
