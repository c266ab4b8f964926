"""Types of graphs that functions and estimators take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from propkernels._utils.typing import Array
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase

# Everything that ``check_graphs`` takes: databases, and lists of graphs of networkx, igraph, RDKit, ...
Graphs: TypeAlias = GraphDatabase | GridDatabase | Iterable[Any]
Database: TypeAlias = GraphDatabase | GridDatabase
OneGraph: TypeAlias = Graph | Grid | GraphDatabase | GridDatabase | Any  # or a graph of another library


class GraphsWithTargets(Protocol):
    """Graphs with one target each, such as a :class:`~propkernels.datasets.Dataset`."""

    @property
    def graphs(self) -> Database:
        """The graphs."""

    @property
    def target(self) -> Array:
        """One class, number or row of targets per graph."""
