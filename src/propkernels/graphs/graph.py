"""Graph: one graph of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from propkernels.graphs.database import GraphDatabase


class Graph:
    """One graph, as taken from a GraphDatabase by ``db[i]`` or by iterating over it.

    Attributes
    ----------
    database : GraphDatabase
        A database that holds this graph alone.
    """

    def __init__(self, database: GraphDatabase) -> None:
        if len(database) != 1:
            raise ValueError(f"a Graph is made of a database with one graph, got {len(database)}")
        self.database = database

    @property
    def adjacency(self) -> csr_array:
        """Weighted adjacency matrix, (nodes, nodes)."""
        return self.database.adjacency

    @property
    def node_labels(self) -> NDArray[Any] | None:
        """One label a node, or None."""
        return self.database.node_labels

    @property
    def node_attributes(self) -> NDArray[np.float64] | None:
        """One row a node, or None."""
        return self.database.node_attributes

    @property
    def edge_labels(self) -> NDArray[Any] | None:
        """One label for each stored entry of ``adjacency``, or None."""
        return self.database.edge_labels

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.database.n_nodes

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self.database.n_edges

    def __eq__(self, other: object) -> bool:
        return self.database == other.database if isinstance(other, Graph) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from propkernels.graphs.summary import describe

        return f"Graph({describe(self.database)})"

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph``, or ``DiGraph`` where edges are directed."""
        from propkernels.graphs.networkx import graph_to_networkx

        return graph_to_networkx(self)
