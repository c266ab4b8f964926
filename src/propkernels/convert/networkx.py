"""Converters from and to networkx."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Column
from propkernels.convert.build import (
    Fault,
    Faults,
    Part,
    build,
    check_name,
    comes_from,
    flattened,
    listed,
    numbers,
    read_each,
    read_targets,
    with_target,
)
from propkernels.convert.edges import list_edges
from propkernels.convert.table_columns import (
    AUTO,
    USUAL_WEIGHTS,
    find_usual,
    is_auto,
    kind_of_column,
    names_in,
    roles_of,
    tuples_of,
)
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs

Data = str | Sequence[str] | None
KEYS = ("name", "id")  # are not used if no two nodes of a graph share one: they tell which node it is
INTERNAL = ("_nx_", "_igraph_")  # what igraph adds when it converts graphs
ADVICE = "name it in pk.from_networkx(graphs, node_label=, node_attributes=, edge_label=, edge_attributes=)"


VECTOR = "attributes"  # usual name of vectors


class Names(NamedTuple):
    """Names of node labels, node attributes, edge labels, weights and edge attributes."""

    node_label: Data = AUTO
    node_attributes: Data = AUTO
    edge_label: Data = AUTO
    weight: str | None = AUTO
    edge_attributes: Sequence[str] | None = AUTO


def from_networkx(
    graphs: Iterable[Graph],
    *,
    node_label: str | Sequence[str] | None = "auto",
    node_attributes: str | Sequence[str] | None = "auto",
    edge_label: str | Sequence[str] | None = "auto",
    weight: str | None = "auto",
    edge_attributes: Sequence[str] | None = "auto",
    target: str | None = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase | Any:
    """Convert networkx graphs to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence of networkx graphs
        Directed graphs keep their directions. Parallel edges of multigraphs stay apart where their labels
        or attributes differ; otherwise their weights are added up.
    node_label, edge_label : str, sequence of str, or None, default="auto"
        Names of the node and edge data that hold labels; several make tuples. A node without the name is
        unobserved; if no node of any graph has it, the database has no labels. "auto": "label" or another
        usual name, else all texts. None: no labels.
    node_attributes : str, sequence of str, or None, default="auto"
        Name of the node data that holds a number or a vector, or several names of numbers, which then
        become the dimensions. "auto": "attributes", else all numbers that every node has. None: none.
    weight : str or None, default="auto"
        Name of the edge data that holds weights (absent: 1). "auto": "weight". None: every edge weighs 1.
    edge_attributes : sequence of str or None, default="auto"
        Names of edge data that hold numbers. "auto": all numbers that every edge has.
    target : str, optional
        Name of the graph data (``graph.graph``) that is the target.
    ids : sequence, optional
        Ids of the graphs, also used in errors.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid graph, leave it out, or make it a graph without nodes;
        ``graphs.skipped`` then contains the reasons, and with "skip" ``graphs.ids`` the kept graphs.

    Returns
    -------
    GraphDatabase, or (GraphDatabase, ndarray) with ``target``

    Warns
    -----
    UserWarning
        Of data of nodes and edges that "auto" does not use, such as "name" and "id" where no two nodes of a
        graph share one.

    See Also
    --------
    propkernels.convert.to_networkx : Back to networkx.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> water = nx.Graph([(0, 1), (0, 2)])
    >>> nx.set_node_attributes(water, {0: "O", 1: "H", 2: "H"}, "element")
    >>> pk.from_networkx([water])
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    """
    if is_networkx(graphs):
        raise TypeError("from_networkx takes a list of graphs; wrap the one graph: [graph]")
    several = listed(graphs, "graphs")
    faults = Faults(errors, len(several), ids)
    names = Names(node_label, node_attributes, edge_label, weight, edge_attributes)
    database = convert(several, faults, names)
    values = None if target is None else read_targets(several, lambda graph: graph.graph.get(target), faults)
    for name in names_in(node_label):
        check_name(several, "node_label", name, AUTO, _node_names)
    for name in names_in(edge_label):
        check_name(several, "edge_label", name, AUTO, _edge_names)
    check_name(several, "weight", weight, AUTO, _edge_names)
    check_name(several, "target", target, None, lambda graph: graph.graph)
    return database if values is None else with_target(database, values, faults)


def _node_names(graph: Any) -> Iterator[Any] | None:
    return chain.from_iterable(data for _, data in graph.nodes(data=True)) if len(graph) else None


def _edge_names(graph: Any) -> Iterator[Any] | None:
    edges = graph.edges(data=True)
    return chain.from_iterable(data for *_, data in edges) if len(edges) else None


def is_networkx(thing: Any) -> bool:
    """Return whether an object is a networkx graph, without importing networkx."""
    return comes_from(thing, "networkx.") and hasattr(thing, "adjacency")


def is_igraph(thing: Any) -> bool:
    """Return whether an object is an igraph graph, without importing igraph."""
    return comes_from(thing, "igraph") and hasattr(thing, "to_networkx")


def converted(read: Callable[[Any], Any]) -> Callable[[list[Any], Faults], GraphDatabase]:
    """Return the converter of objects that are read as networkx graphs."""
    return lambda graphs, faults: convert(read_each(graphs, read, faults, None), faults)


def of_node_link(content: Any) -> Any:
    """Return the networkx graph of a node-link dictionary, as networkx and D3 write it.

    Texts and numbers beside the nodes are data of the graph, like those under "graph".
    """
    nx = import_optional("networkx", extra="networkx", purpose="node-link dictionaries need")
    for option in ("directed", "multigraph"):
        if not isinstance(content.get(option, False), bool):
            raise ValueError(f'"{option}" must be true or false, got {shown(content[option])}')
    twin = (nx.MultiGraph if content.get("multigraph") else nx.Graph)()
    twin = twin.to_directed() if content.get("directed") else twin
    twin.graph |= {key: value for key, value in content.items() if not isinstance(value, (dict, list, bool))}
    twin.graph |= dict(content.get("graph", {}))
    for node in content["nodes"]:
        row = dict(node)
        if row["id"] in twin:
            raise ValueError(f"two nodes have the id {shown(row['id'])}")
        twin.add_node(row.pop("id"), **row)
    for link in [*content.get("links", ()), *content.get("edges", ())]:
        row = {key: value for key, value in link.items() if key != "key"}
        ends = row.pop("source"), row.pop("target")
        for end in ends:
            if end not in twin:
                raise ValueError(f"a link names node {shown(end)}, which is not in nodes")
        if not twin.is_multigraph() and twin.has_edge(*ends) and twin.edges[ends] != row:
            raise ValueError(
                f"two links join {shown(ends[0])} and {shown(ends[1])} and do not agree: list the edge "
                'once, or set "directed" or "multigraph" to true'
            )
        twin.add_edge(*ends, **row)
    return twin


class Listed(NamedTuple):
    """A graph as lists: nodes, entries of its adjacency in CSR order, and the data of both."""

    nodes: list[Any]
    node_data: list[Any]
    source: list[int]
    target: list[int]
    edge_data: list[Any]


def convert(graphs: list[Any], faults: Faults, names: Names | None = None) -> GraphDatabase:
    """Return the database of networkx graphs, without those that have faults; each is read once."""
    several = read_each(graphs, _listed, faults, Listed([], [], [], [], []))
    chosen = _chosen(several, names or Names())
    parts = read_each(several, lambda graph: _part(graph, chosen), faults, Part())
    flat = flattened(parts, faults)  # both directions of undirected edges are entries already
    flat.edge_attribute_names = chosen.edge_attributes
    return build(flat, faults)


def _listed(graph: Any) -> Listed:
    if not is_networkx(graph):
        raise Fault(f"is a {type(graph).__name__}, not a networkx graph", TypeError, " ")
    nodes = dict(graph.nodes(data=True))
    number = {node: i for i, node in enumerate(nodes)}
    entries = [(u, v, data) for u, around in graph.adjacency() for v, data in around.items()]
    if graph.is_multigraph():
        entries = [(u, v, one) for u, v, several in entries for one in several.values()]
    source, target = [number[u] for u, _, _ in entries], [number[v] for _, v, _ in entries]
    return Listed(list(nodes), list(nodes.values()), source, target, [data for *_, data in entries])


def _chosen(several: list[Listed], given: Names) -> Names:
    """Return the names that are used, where "auto" is decided by the data of all graphs."""
    nodes, edges = [graph.node_data for graph in several], [graph.edge_data for graph in several]
    there = dict.fromkeys(chain.from_iterable(chain.from_iterable(edges)))
    weight = find_usual(there, USUAL_WEIGHTS) if given.weight == AUTO else given.weight
    label, attributes = _roles(nodes, "nodes", given.node_label, given.node_attributes)
    there.pop(weight, None)
    edge_label, edge_attributes = _roles(edges, "edges", given.edge_label, given.edge_attributes, there)
    return Names(label, attributes, edge_label, weight, edge_attributes)


def _roles(
    graphs: list[list[Any]], kind: str, label: Any, attributes: Any, names: Any = None
) -> tuple[Any, Any]:
    """Return the names of labels and attributes of nodes or edges, given the data of those of each graph."""
    if not is_auto(label) and not is_auto(attributes):
        return label, attributes
    is_vector, rows = False, list(chain.from_iterable(graphs))
    kinds: dict[Any, str] = {}
    for name in dict.fromkeys(chain.from_iterable(rows)) if names is None else names:
        if name == VECTOR and kind == "nodes" and is_auto(attributes):
            is_vector = True
        elif name == "label" and is_auto(label):
            kinds[name] = "text"  # the first of the usual names is the label, whatever it holds
        elif not str(name).startswith(INTERNAL):
            values = [row[name] for row in rows if name in row]
            kinds[name] = "keys" if name in KEYS and _identifies(name, graphs) else kind_of_column(values)
            if kinds[name] == "numbers" and len(values) < len(rows):
                kinds[name] = "some numbers"
    if is_vector:
        kinds = {name: "some numbers" if of == "numbers" else of for name, of in kinds.items()}
    found = roles_of(kinds, kind, label, attributes, None, ADVICE)
    numbers = VECTOR if is_vector else found.attributes or None
    return (found.labels or None) if is_auto(label) else label, numbers if is_auto(attributes) else attributes


def _identifies(name: str, graphs: list[list[Any]]) -> bool:
    """Return whether values under a name differ within each graph; both directions of an edge are one."""
    for rows in graphs:
        values = [row[name] for row in {id(row): row for row in rows}.values() if name in row]
        with suppress(TypeError):  # of values that are not hashable
            if len(set(values)) == len(values):
                continue
        return False
    return True


def _part(graph: Listed, names: Names) -> Part:
    attributes = names.edge_attributes
    return Part(
        len(graph.nodes),
        graph.source,
        graph.target,
        None if names.weight is None else _weights(graph, names.weight),
        _labels(graph.node_data, names.node_label),
        _vectors(graph, names.node_attributes),
        _labels(graph.edge_data, names.edge_label),
        None if attributes is None else _numbers(graph.edge_data, attributes),
    )


def _labels(rows: list[Any], names: Data) -> list[Any] | None:
    """Return the labels under a name, or tuples of those under several; None if no row has the name."""
    several = names_in(names)
    if not any(name in row for row in rows for name in several):
        return None
    if len(several) == 1:
        return [row.get(several[0]) for row in rows]
    tuples: list[Any] = tuples_of(tuple(row.get(name) for name in several) for row in rows).tolist()
    return tuples


def _weights(graph: Listed, name: str) -> NDArray[np.float64]:
    values = [data.get(name, 1.0) for data in graph.edge_data]
    weights = numbers(values)
    if weights is not None and weights.ndim == 1 and ((weights >= 0) & (weights < np.inf)).all():
        return weights
    for source, target, value in zip(graph.source, graph.target, values, strict=True):
        number = numbers(value)
        if number is None or number.ndim or not 0 <= number < np.inf:
            edge = f"({shown(graph.nodes[source])}, {shown(graph.nodes[target])})"
            limits = "weights must be finite and not negative numbers"
            raise Fault(f"edge {edge} has weight {shown(value)}: {limits}")
    raise Fault("weights of edges cannot be read as numbers")


def _vectors(graph: Listed, names: Data) -> NDArray[np.float64] | None:
    """Return one row per node; a graph none of whose nodes has a single name has no attributes."""
    several, rows = names_in(names), graph.node_data
    if not several:
        return None
    without = [i for i, row in enumerate(rows) if not all(name in row for name in several)]
    if isinstance(names, str) and len(without) == len(rows):
        return None
    if without:
        raise Fault(f"node {shown(graph.nodes[without[0]])} has no {' or '.join(map(repr, several))}")
    tables: list[Any] = [numbers([row[name] for row in rows]) for name in several]
    if any(table is None or table.ndim not in (1, 2) for table in tables):
        raise Fault("node attributes are not vectors of numbers, all of one length")
    return np.column_stack(tables)


def _numbers(rows: list[Any], names: Sequence[str]) -> NDArray[np.float64]:
    """Return a column of numbers for each name; NaN where a row lacks it."""
    columns = []
    for name in names:
        values = [row.get(name, np.nan) for row in rows]
        column = numbers(values)
        if column is None or column.ndim != 1:
            wrong = next(value for value in values if np.ndim(value) or numbers(value) is None)
            raise Fault(f"an edge has {name} {shown(wrong)}, not a number")
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))


def to_networkx(graphs: Graphs) -> list[Graph]:
    """Convert graphs to networkx.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs

    Returns
    -------
    list
        A ``Graph`` each, a ``DiGraph`` where the directions of some edge differ, a multigraph where edges are
        parallel. Node data "label" and "attributes"; edge data "weight", "label", and "attributes" or, by
        name, each attribute; graph data "id".

    See Also
    --------
    from_networkx : From networkx.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"])
    >>> pk.convert.to_networkx(pair)[0].nodes(data="label")
    NodeDataView({0: 'C', 1: 'O'}, data='label')
    """
    from propkernels.convert.check import check_graphs

    return [graph_to_networkx(graph) for graph in check_graphs(graphs)]


def graph_to_networkx(graph: Graph) -> Any:
    """Return a graph as a networkx graph."""
    nx = import_optional("networkx", extra="networkx", purpose="to_networkx needs")
    edges = list_edges(graph)
    several = graph.database.has_parallel_edges
    kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph}
    kinds |= {(False, True): nx.MultiGraph, (True, True): nx.MultiDiGraph}
    twin = kinds[edges.directed, several]()
    if graph.id is not None:
        twin.graph["id"] = graph.id
    twin.add_nodes_from(range(graph.n_nodes))
    for name, values in (("label", graph.node_labels), ("attributes", graph.node_attributes)):
        if values is not None:
            nx.set_node_attributes(twin, dict(enumerate(values.tolist())), name)
    columns: dict[str, list[Any]] = {"weight": edges.weights.tolist()}
    columns |= {} if edges.labels is None else {"label": edges.labels.tolist()}
    names = graph.database.edge_attribute_names
    if edges.attributes is not None and names is not None:
        columns |= dict(zip(names, edges.attributes.T.tolist(), strict=True))
    elif edges.attributes is not None:
        columns["attributes"] = edges.attributes.tolist()
    ends = zip(edges.source.tolist(), edges.target.tolist(), strict=True)
    rows = zip(*columns.values(), strict=True)
    twin.add_edges_from(
        (u, v, dict(zip(columns, row, strict=True))) for (u, v), row in zip(ends, rows, strict=True)
    )
    return twin
