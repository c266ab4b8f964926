"""Joining databases end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.distributions import LabelDistributions, concat_labels
from propkernels.graphs.graph import Graph
from propkernels.graphs.labels import UNOBSERVED, LabelColumn


def join(items: Iterable[GraphDatabase | Graph], noun: str = "item") -> GraphDatabase:
    """Concatenate databases; see ``GraphDatabase.concat``. Errors speak of the items by the noun."""
    databases = [_as_database(item, f"{noun} {i}") for i, item in enumerate(items)]
    if len(databases) == 1:
        return databases[0]
    if not databases:
        return GraphDatabase(np.zeros((0, 0)), [0])
    return GraphDatabase._assemble(
        _block_diagonal([database.adjacency for database in databases]),
        _stack_offsets([database.graph_ptr for database in databases]),
        _join_labels(databases, lambda d: d.label_column, lambda d: d.n_nodes),
        _join_attributes(databases, noun),
        _join_labels(databases, lambda d: d.edge_label_column, lambda d: d.adjacency.nnz),
    )


def _as_database(item: Any, name: str) -> GraphDatabase:
    if isinstance(item, Graph):
        return item.database
    if not isinstance(item, GraphDatabase):
        raise TypeError(f"{name} is a {type(item).__name__}, not a GraphDatabase")
    return item


def _stack_offsets(offsets: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Join offset arrays, each continuing where the one before it ended."""
    starts = np.cumsum([0, *(int(o[-1]) for o in offsets)])
    return np.concatenate([[0], *(o[1:] + s for o, s in zip(offsets, starts, strict=False))]).astype(np.int64)


def _block_diagonal(blocks: Sequence[csr_array]) -> csr_array:
    starts = np.cumsum([0, *(block.shape[0] for block in blocks)])
    n, entries = int(starts[-1]), sum(block.nnz for block in blocks)
    index = np.int32 if max(n, entries) < 2**31 else np.int64
    indices = np.concatenate(
        [b.indices.astype(index) + index(s) for b, s in zip(blocks, starts, strict=False)]
    )
    indptr = _stack_offsets([block.indptr for block in blocks]).astype(index)
    data = np.concatenate([block.data for block in blocks])
    return csr_array((data, indices, indptr), shape=(n, n))


def _join_labels(
    databases: Sequence[GraphDatabase],
    column_of: Callable[[GraphDatabase], LabelColumn | LabelDistributions | None],
    length_of: Callable[[GraphDatabase], int],
) -> LabelColumn | LabelDistributions | None:
    """Join label columns; a database with none contributes unobserved labels, unless none has any."""
    columns = [column_of(database) for database in databases]
    if all(column is None for column in columns):
        return None
    return concat_labels(
        [
            LabelColumn(np.full(length_of(d), UNOBSERVED, dtype=np.int32), ()) if c is None else c
            for c, d in zip(columns, databases, strict=True)
        ]
    )


def _join_attributes(databases: Sequence[GraphDatabase], noun: str) -> NDArray[np.float64] | None:
    """Stack attributes; a database without nodes agrees with any dimension."""
    inhabited = [(i, d.node_attributes) for i, d in enumerate(databases) if d.n_nodes]
    given = [(i, a) for i, a in inhabited if a is not None]
    if not given:
        return databases[0].node_attributes if not inhabited else None
    if len(given) < len(inhabited):
        without = next(i for i, a in inhabited if a is None)
        raise ValueError(f"{noun} {without} has no node attributes but {noun} {given[0][0]} has some")
    first, dimension = given[0][0], given[0][1].shape[1]
    for i, attributes in given:
        if attributes.shape[1] != dimension:
            found = f"{attributes.shape[1]} attribute dimensions"
            raise ValueError(f"{noun} {i} has {found} but {noun} {first} has {dimension}")
    return np.concatenate([attributes for _, attributes in given])
