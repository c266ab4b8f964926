"""FileGraph: a graph as it stands in a file, with data of nodes and edges by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class FileGraph:
    """A graph read from a file.

    Attributes
    ----------
    directed : bool
    name : str or int or None
    data : dict
        Data of the graph, such as its target.
    nodes : dict
        Data of each node by its key, in order of appearance.
    edges : list of (source, target, data)
    """

    directed: bool = False
    name: Any = None
    data: dict[str, Any] = field(default_factory=dict)
    nodes: dict[Any, dict[str, Any]] = field(default_factory=dict)
    edges: list[tuple[Any, Any, dict[str, Any]]] = field(default_factory=list)

    def add_node(self, key: Any, data: dict[str, Any] | None = None) -> None:
        """Add a node, or data to a node."""
        self.nodes.setdefault(key, {}).update(data or {})

    def add_edge(self, source: Any, target: Any, data: dict[str, Any]) -> None:
        """Add an edge, and its ends if they are new."""
        self.add_node(source)
        self.add_node(target)
        self.edges.append((source, target, data))
