"""To and from networkx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.validation import naming_graph
from propkernels.utils.optional import import_optional

if TYPE_CHECKING:
    from propkernels.graphs.database import Graph


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
        Directed graphs keep their directions. Parallel edges of multigraphs add their weights, and since
        they cannot share a label, a graph that has some has no edge labels.
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

    See Also
    --------
    GraphDatabase : From arrays.
    check_graphs : From lists of networkx graphs with the default names.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> water = nx.Graph([(0, 1), (0, 2)])
    >>> nx.set_node_attributes(water, {0: "O", 1: "H", 2: "H"}, "element")
    >>> pk.from_networkx([water], node_label="element")
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    """
    from propkernels.graphs.database import join

    if is_networkx(graphs):
        raise TypeError("from_networkx takes a list of graphs; wrap the one graph: [graph]")
    names = (node_label, node_attributes, edge_label, weight)
    return join((one_from_networkx(graph, i, *names) for i, graph in enumerate(graphs)), "graph")


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
    with naming_graph(position):
        matrix, labels = _edges(graph, edge_label, weight)
        return GraphDatabase(
            matrix,
            [0, len(graph)],
            node_labels=_node_values(graph, node_label),
            node_attributes=_attribute_rows(graph, node_attributes),
            edge_labels=labels,
        )


def _node_values(graph: Any, name: str | None) -> list[Any] | None:
    if name is None or not any(name in data for _, data in graph.nodes(data=True)):
        return None
    return [data.get(name) for _, data in graph.nodes(data=True)]


def _attribute_rows(graph: Any, names: str | Sequence[str] | None) -> Any:
    several = [names] if isinstance(names, str) else list(names or ())
    present = [all(name in data for name in several) for _, data in graph.nodes(data=True)]
    if not several or not present or (isinstance(names, str) and not any(present)):
        return None
    if not all(present):
        node = list(graph)[present.index(False)]
        raise ValueError(f"node {node!r} has no {' or '.join(map(repr, several))}")
    rows = [[np.atleast_1d(data[name]) for name in several] for _, data in graph.nodes(data=True)]
    try:
        return np.array([np.concatenate(row) for row in rows], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("node attributes are not vectors of numbers, all of one length") from None


def _edges(graph: Any, edge_label: str | None, weight: str | None) -> tuple[Any, Any]:
    """Adjacency, each undirected edge in both directions, and the labels of its entries, if any."""
    number = {node: i for i, node in enumerate(graph)}
    ends, weights, labels, labelled = [], [], [], False
    for u, v, data in graph.edges(data=True):
        ends.append((number[u], number[v]))
        weights.append(_weight(data, weight, u, v))
        labels.append(None if edge_label is None else data.get(edge_label))
        labelled = labelled or (edge_label is not None and edge_label in data)
    rows, cols = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    values = np.array(weights, dtype=np.float64)
    if not graph.is_directed():
        back = rows != cols
        rows, cols = np.concatenate([rows, cols[back]]), np.concatenate([cols, rows[back]])
        values = np.concatenate([values, values[back]])
        labels += [label for label, again in zip(labels, back, strict=True) if again]
    coo = coo_array((values, (rows, cols)), shape=(len(number), len(number)))
    parallel = graph.is_multigraph() and len(set(ends)) < len(ends)
    return coo, labels if labelled and not parallel else None


def _weight(data: dict[str, Any], name: str | None, u: Any, v: Any) -> float:
    value = 1.0 if name is None else data.get(name, 1.0)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"edge ({u!r}, {v!r}) has weight {value!r}, not a number") from None
    if not 0 <= number < np.inf:
        raise ValueError(f"edge ({u!r}, {v!r}) has weight {value!r}: weights must be finite and not negative")
    return number


def graph_to_networkx(graph: Graph) -> Any:
    """Build the networkx twin of one graph: node data "label", "attributes", edge data "weight", "label"."""
    nx = import_optional("networkx", extra="networkx", purpose="to_networkx needs")
    twin = nx.DiGraph() if graph.database.is_directed or _one_way_labels(graph) else nx.Graph()
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


def _one_way_labels(graph: Graph) -> bool:
    """Whether the two directions of some edge carry different labels; the adjacency is symmetric."""
    column = graph.database.edge_label_column
    if column is None:
        return False
    rows, cols = graph.adjacency.tocoo().coords
    return not np.array_equal(column.ids, column.ids[np.lexsort((rows, cols))])
