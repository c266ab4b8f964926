"""Descriptors: numbers that describe a whole graph, such as the mass of a molecule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from propkernels._utils.arrays import freeze
from propkernels._utils.checks import shown
from propkernels.graphs.edges import edges_of_graphs

if TYPE_CHECKING:
    from propkernels.graphs.database import GraphDatabase

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Descriptors:
    """Descriptors of all graphs of a database.

    Attributes
    ----------
    values : ndarray of float64, (graphs, descriptors)
        NaN where a descriptor is unknown.
    names : tuple of str
    """

    values: Values
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        freeze(self.values)

    def take(self, positions: NDArray[np.int64] | slice) -> Descriptors:
        """Return the descriptors of some graphs."""
        return Descriptors(self.values[positions].copy(), self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Descriptors):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]


def check_descriptors(values: Any, names: Sequence[str] | None, n_graphs: int) -> Descriptors:
    """Return validated descriptors, one row per graph; by default they are named by their number."""
    table = np.array(values, dtype=np.float64)
    if table.ndim != 2 or len(table) != n_graphs or not table.shape[1]:
        raise ValueError(f"descriptors must be one row for each of {n_graphs} graphs, got {table.shape}")
    if np.isinf(table).any():
        raise ValueError("descriptors must be finite, or NaN where they are unknown")
    known = tuple(map(str, range(table.shape[1]))) if names is None else tuple(names)
    if len(known) != table.shape[1] or not all(isinstance(name, str) for name in known):
        raise ValueError(f"names must be {table.shape[1]} texts, got {shown(names)}")
    if len(set(known)) != len(known):
        raise ValueError("two descriptors have the same name")
    return Descriptors(table, known)


def join_descriptors(databases: Sequence[GraphDatabase], names: Sequence[str]) -> Descriptors | None:
    """Return the descriptors of all databases, or None if none has any; raise if they differ in kind."""
    inhabited = [(name, d.descriptors) for name, d in zip(names, databases, strict=True) if len(d)]
    given = [(name, some) for name, some in inhabited if some is not None]
    if not given:
        return databases[0].descriptors if databases and not inhabited else None
    first = given[0][1]
    for name, some in inhabited:
        if some is None or some.names != first.names:
            raise ValueError(f"{name} has other descriptors than {given[0][0]}: compute the same for all")
    return Descriptors(np.concatenate([some.values for _, some in given]), first.names)


def descriptors_of(graphs: GraphDatabase) -> Descriptors:
    """Return the descriptors of graphs; without any, the numbers of nodes, edges, parts and cycles.

    Examples
    --------
    >>> import propkernels as pk
    >>> triangle = pk.GraphDatabase([[0, 1, 1], [1, 0, 1], [1, 1, 0]], [0, 3])
    >>> descriptors_of(triangle).values
    array([[3., 3., 1., 1.]])
    """
    stored = graphs.descriptors
    if stored is not None:
        return stored
    _, part = connected_components(graphs.adjacency, directed=False)
    first = np.unique(part, return_index=True)[1]
    parts = np.bincount(graphs.graph_ids[first], minlength=len(graphs)) if len(first) else 0
    nodes, edges = graphs.graph_sizes, edges_of_graphs(graphs)
    columns = np.broadcast_arrays(nodes, edges, parts, edges - nodes + parts)
    return Descriptors(np.stack(columns, axis=1).astype(np.float64), ("nodes", "edges", "parts", "cycles"))
