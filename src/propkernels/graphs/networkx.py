"""To and from networkx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from propkernels.graphs.database import GraphDatabase

if TYPE_CHECKING:
    from propkernels.graphs.graph import Graph


def from_networkx(
    graphs: Any,
    *,
    node_label: str | None = "label",
    node_attributes: str | Sequence[str] | None = "attributes",
    edge_label: str | None = "label",
    weight: str | None = "weight",
) -> GraphDatabase:
    """Convert networkx graphs to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence of networkx graphs
        Directed graphs keep their directions; parallel edges of multigraphs add their weights.
    node_label, edge_label : str or None
        Names of the node and edge data that hold labels. A node without the name is unobserved; if no
        node of any graph has it, the database has no labels. None: no labels.
    node_attributes : str, sequence of str, or None
        Name of the node data that holds a number or a vector, or several names of numbers, which then
        become the dimensions. None: no attributes.
    weight : str or None
        Name of the edge data that holds weights (absent: 1). None: every edge weighs 1.

    Returns
    -------
    GraphDatabase

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> water = nx.Graph([(0, 1), (0, 2)])
    >>> nx.set_node_attributes(water, {0: "O", 1: "H", 2: "H"}, "element")
    >>> pk.from_networkx([water], node_label="element")
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    """
    from propkernels.graphs.check import join_graphs

    if is_networkx(graphs):
        raise TypeError("from_networkx takes a list of graphs; wrap the one graph: [graph]")
    names = (node_label, node_attributes, edge_label, weight)
    return join_graphs([one_from_networkx(graph, i, *names) for i, graph in enumerate(graphs)])


def is_networkx(thing: Any) -> bool:
    """Tell a networkx graph without importing networkx."""
    return any(base.__module__.startswith("networkx.") for base in type(thing).__mro__) and hasattr(
        thing, "adjacency"
    )


def one_from_networkx(
    graph: Any,
    position: int,
    node_label: str | None = "label",
    node_attributes: str | Sequence[str] | None = "attributes",
    edge_label: str | None = "label",
    weight: str | None = "weight",
) -> GraphDatabase:
    """Convert the graph at ``position`` of a list into a database of one graph."""
    if not is_networkx(graph):
        raise TypeError(f"graph {position} is a {type(graph).__name__}, not a networkx graph")
    matrix, labels = _edges(graph, position, edge_label, weight)
    return GraphDatabase(
        matrix,
        [0, len(graph)],
        node_labels=_node_values(graph, node_label),
        node_attributes=_attribute_rows(graph, position, node_attributes),
        edge_labels=labels,
    )


def _node_values(graph: Any, name: str | None) -> list[Any] | None:
    values = [data.get(name) for _, data in graph.nodes(data=True)]
    return None if name is None or all(value is None for value in values) else values


def _attribute_rows(graph: Any, position: int, names: str | Sequence[str] | None) -> Any:
    if names is None:
        return None
    several = [names] if isinstance(names, str) else list(names)
    present = [all(name in data for name in several) for _, data in graph.nodes(data=True)]
    if not any(present) and isinstance(names, str):
        return None
    if not all(present):
        node = list(graph)[present.index(False)]
        raise ValueError(f"node {node!r} of graph {position} has no {' or '.join(map(repr, several))}")
    rows = [[np.atleast_1d(data[name]) for name in several] for _, data in graph.nodes(data=True)]
    try:
        return np.array([np.concatenate(row) for row in rows], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"node attributes of graph {position} are not vectors of one length") from None


def _edges(graph: Any, position: int, edge_label: str | None, weight: str | None) -> tuple[Any, Any]:
    """Adjacency and edge labels; labels only where no parallel edges make them ambiguous."""
    number = {node: i for i, node in enumerate(graph)}
    n, both = len(number), not graph.is_directed()
    rows, cols, weights, labels = [], [], [], []
    for u, v, data in graph.edges(data=True):
        i, j = number[u], number[v]
        value = _weight(data, weight, position, u, v)
        for a, b in ((i, j), (j, i)) if both and i != j else ((i, j),):
            rows.append(a)
            cols.append(b)
            weights.append(value)
            labels.append(None if edge_label is None else data.get(edge_label))
    coo = coo_array((np.array(weights, dtype=np.float64), (rows, cols)), shape=(n, n))
    if graph.is_multigraph() or all(label is None for label in labels):
        return csr_array(coo), None
    return coo, labels


def _weight(data: dict[str, Any], name: str | None, position: int, u: Any, v: Any) -> float:
    value = 1.0 if name is None else data.get(name, 1.0)
    try:
        return float(value)
    except (TypeError, ValueError):
        message = f"edge ({u!r}, {v!r}) of graph {position} has weight {value!r}, not a number"
        raise ValueError(message) from None


def graph_to_networkx(graph: Graph) -> Any:
    """Build the networkx twin of one graph: node data "label", "attributes", edge data "weight", "label"."""
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install 'propkernels[networkx]'") from None
    twin = nx.DiGraph() if graph.database.is_directed else nx.Graph()
    twin.add_nodes_from(range(graph.n_nodes))
    for name, values in (("label", graph.node_labels), ("attributes", graph.node_attributes)):
        if values is not None:
            nx.set_node_attributes(twin, dict(enumerate(values.tolist())), name)
    coo = graph.adjacency.tocoo()
    rows, cols = (axis.tolist() for axis in coo.coords)
    twin.add_weighted_edges_from(zip(rows, cols, coo.data.tolist(), strict=True))
    if graph.edge_labels is not None:
        labels = dict(zip(zip(rows, cols, strict=True), graph.edge_labels.tolist(), strict=True))
        nx.set_edge_attributes(twin, labels, "label")
    return twin
