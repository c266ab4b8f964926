"""Converters from and to networkx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Column
from propkernels.convert.build import (
    Faults,
    FlatGraphs,
    build,
    check_name,
    guarded,
    integers,
    listed,
    numbers,
    owners,
    read_targets,
    with_target,
)
from propkernels.convert.edges import list_edges
from propkernels.convert.table_columns import (
    AUTO,
    USUAL_LABELS,
    USUAL_WEIGHTS,
    find_usual,
    is_auto,
    kind_of_column,
    tuples_of,
    warn_unused,
)
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs

Data = str | Sequence[str] | None
KEYS = ("name", "id")  # identify a node, and say nothing of what it is
ADVICE = "name it in pk.from_networkx(graphs, node_label=, node_attributes=, edge_label=, edge_attributes=)"


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
        Of data of nodes and edges that "auto" does not use; "name" and "id" are names of nodes.

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
    for i, graph in enumerate(several):
        if not is_networkx(graph):
            faults.add(i, f"is a {type(graph).__name__}, not a networkx graph", TypeError, " ")
    names = Names(node_label, node_attributes, edge_label, weight, edge_attributes)
    database = convert(several, faults, names)
    values = None if target is None else read_targets(several, lambda graph: graph.graph.get(target), faults)
    for name in _several(node_label):
        check_name(several, "node_label", name, AUTO, _node_names)
    for name in _several(edge_label):
        check_name(several, "edge_label", name, AUTO, _edge_names)
    check_name(several, "weight", weight, AUTO, _edge_names)
    check_name(several, "target", target, None, lambda graph: graph.graph)
    return database if values is None else with_target(database, values, faults)


def _several(names: Data) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _node_names(graph: Any) -> Iterator[Any] | None:
    return chain.from_iterable(data for _, data in graph.nodes(data=True)) if len(graph) else None


def _edge_names(graph: Any) -> Iterator[Any] | None:
    edges = graph.edges(data=True)
    return chain.from_iterable(data for *_, data in edges) if len(edges) else None


def is_networkx(thing: Any) -> bool:
    """Return whether an object is a networkx graph, without importing networkx."""
    return any(base.__module__.startswith("networkx.") for base in type(thing).__mro__) and hasattr(
        thing, "adjacency"
    )


def is_igraph(thing: Any) -> bool:
    """Return whether an object is an igraph graph, without importing igraph."""
    return any(base.__module__.startswith("igraph") for base in type(thing).__mro__) and hasattr(
        thing, "to_networkx"
    )


@guarded
def convert_igraph(graphs: list[Any], faults: Faults) -> GraphDatabase:
    """Return the database of a list of igraph graphs."""
    twins = [graph.to_networkx() if kept else None for graph, kept in zip(graphs, faults.kept, strict=True)]
    return convert(twins, faults)


def convert_node_link(graphs: list[Any], faults: Faults) -> GraphDatabase:
    """Return the database of node-link dictionaries."""
    nx = import_optional("networkx", extra="networkx", purpose="node-link dictionaries need")
    twins = [nx.Graph() for _ in graphs]
    for i, content in enumerate(graphs):
        with faults.reading(i):
            twins[i] = of_node_link(content)
    return convert(twins, faults)


def of_node_link(content: Any) -> Any:
    """Return the networkx graph of a node-link dictionary, as networkx and D3 write it.

    Texts and numbers beside the nodes are data of the graph, like those under "graph".
    """
    nx = import_optional("networkx", extra="networkx", purpose="node-link dictionaries need")
    twin = (nx.MultiGraph if content.get("multigraph", False) else nx.Graph)()
    twin = twin.to_directed() if content.get("directed", False) is True else twin
    twin.graph |= {key: value for key, value in content.items() if not isinstance(value, (dict, list, bool))}
    twin.graph |= dict(content.get("graph", {}))
    for node in content["nodes"]:
        row = dict(node)
        twin.add_node(row.pop("id"), **row)
    for link in content["links"] if "links" in content else content["edges"]:
        row = {key: value for key, value in link.items() if key != "key"}
        twin.add_edge(row.pop("source"), row.pop("target"), **row)
    return twin


@guarded
def convert(graphs: list[Any], faults: Faults, names: Names | None = None) -> GraphDatabase:
    """Return the database of networkx graphs, without those that have faults; each is read once."""
    kept = faults.kept.tolist()
    sizes = integers([len(graph) if is_kept else 0 for graph, is_kept in zip(graphs, kept, strict=True)])
    usable = [(i, graph) for i, graph in enumerate(graphs) if kept[i]]
    counts, source, target, data = _entries(usable, sizes)
    nodes = [own for _, graph in usable for _, own in graph.nodes(data=True)]
    given = names or Names()
    weight = given.weight
    if weight == AUTO:
        weight = find_usual(dict.fromkeys(chain.from_iterable(data)), USUAL_WEIGHTS)
    node_label, node_attributes = _roles(
        nodes, "nodes", given.node_label, given.node_attributes, "attributes", None
    )
    edge_label, edge_attributes = _roles(data, "edges", given.edge_label, given.edge_attributes, None, weight)
    flat = FlatGraphs(
        sizes,
        counts,
        source,
        target,
        True,  # both directions of undirected edges are entries already
        None if weight is None else _weights(usable, data, weight, faults),
        _labels(nodes, node_label),
        _attribute_rows(usable, sizes, node_attributes, faults),
        _labels(data, edge_label),
        None if edge_attributes is None else _edge_rows(data, counts, edge_attributes, faults),
        edge_attributes,
    )
    return build(flat, faults)


def _entries(
    usable: list[tuple[int, Any]], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Return entries of all adjacencies in CSR order: number per graph, rows, columns, and data."""
    counts, lengths, columns, data = np.zeros_like(sizes), [], [], []
    for i, graph in usable:
        around = [nbrs for _, nbrs in graph.adjacency()]
        number = dict(zip(graph, range(len(graph)), strict=True)) if around else {}
        numbers = [number[node] for nbrs in around for node in nbrs]
        entries = [entry for nbrs in around for entry in nbrs.values()]
        if graph.is_multigraph():
            lengths += [sum(map(len, nbrs.values())) for nbrs in around]
            numbers = np.repeat(numbers, [len(keyed) for keyed in entries]).astype(int).tolist()
            entries = [entry for keyed in entries for entry in keyed.values()]
        else:
            lengths += [len(nbrs) for nbrs in around]
        columns.append(np.array(numbers, dtype=np.int64))
        data += entries
        counts[i] = len(numbers)
    local = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return counts, np.repeat(local, integers(lengths)), np.concatenate([*columns, integers([])]), data


def _roles(
    rows: list[Any], kind: str, label: Any, attributes: Any, vector: str | None, weight: str | None
) -> tuple[Any, Any]:
    """Return the names of labels and attributes of nodes or edges."""
    chosen = {"numbers": is_auto(attributes), "text": is_auto(label)}
    if not any(chosen.values()):
        return label, attributes
    there = dict.fromkeys(chain.from_iterable(rows))
    free = [name for name in there if not str(name).startswith("_") and name not in (*KEYS, weight)]
    kinds: dict[Any, str] = {}
    if not set(free) <= {"label", vector}:
        kinds = {name: kind_of_column([row.get(name) for row in rows]) for name in free}
    if is_auto(label):
        usual = find_usual(free, USUAL_LABELS[kind])
        texts = [name for name in free if kinds.get(name) == "text"]
        label = texts or None if usual is None else usual
    if is_auto(attributes):
        some = [name for name in free if kinds.get(name) == "numbers" and name not in _several(label)]
        whole = [name for name in some if all(name in row for row in rows)]
        attributes = vector if vector in there else whole or None
    used = {*_several(label), *_several(attributes)}
    unused = [name for name in free if name not in used]
    unused = [name for name in unused if chosen.get(kinds.get(name, ""), chosen["text"])]
    if unused:
        warn_unused(unused, kind, ADVICE)
    return label, attributes


def _labels(rows: list[Any], name: Any) -> list[Any] | None:
    """Return the labels of nodes or edges under a name, or tuples of those under several; else None."""
    if name is None:
        return None
    if isinstance(name, str) or len(name) == 1:
        one = name if isinstance(name, str) else name[0]
        values = [row.get(one) for row in rows]
        has_name = any(value is not None for value in values) or any(one in row for row in rows)
        return values if has_name else None
    tuples: list[Any] = tuples_of(tuple(row.get(one) for one in name) for row in rows).tolist()
    return tuples


def _weights(
    usable: list[tuple[int, Any]], data: list[Any], name: str, faults: Faults
) -> NDArray[np.float64]:
    values = [entry.get(name, 1.0) for entry in data]
    weights = numbers(values)
    if weights is not None and weights.ndim == 1 and bool(((weights >= 0) & (weights < np.inf)).all()):
        return weights
    for i, graph in usable:
        faulty = ((u, v, _fault(d.get(name, 1.0))) for u, v, d in graph.edges(data=True))
        for u, v, fault in faulty:
            if fault is not None:
                faults.add(i, f"edge ({shown(u)}, {shown(v)}) {fault}")
                break
    return np.array([1.0 if _fault(value) else float(value) for value in values])


def _fault(weight: Any) -> str | None:
    """Return the fault of a weight; None if it is valid."""
    try:
        number = float(weight)
    except OverflowError:
        number = np.inf
    except Exception:  # objects may raise any error in the conversion to a number
        return f"has weight {shown(weight)}, not a number"
    if not 0 <= number < np.inf:
        return f"has weight {shown(weight)}: weights must be finite and not negative"
    return None


def _attribute_rows(
    usable: list[tuple[int, Any]],
    sizes: NDArray[np.int64],
    names: str | Sequence[str] | None,
    faults: Faults,
) -> NDArray[np.float64] | None:
    """Return one row per node; a graph without nodes is compatible with any dimension."""
    several = [names] if isinstance(names, str) else list(names or ())
    rows: list[tuple[int, Any]] = []
    width: int | None = None
    first = ""
    for i, graph in usable if several else ():
        own = _rows_of(graph, several, isinstance(names, str), i, faults) if sizes[i] else None
        if own is not None and width is None:
            width, first = own.shape[1], faults.name(i)
        elif own is not None and own.shape[1] != width:
            reason = f"has {own.shape[1]} attribute dimensions but {first} has {width}"
            if own.shape[1] == 0:
                reason = f"has no node attributes but {first} has some"
            elif width == 0:
                reason = f"has node attributes but {first} has none"
            faults.add(i, reason, link=" ")
            own = None
        rows.append((sizes[i], own))
    filled = [np.full((n, width or 0), np.nan) if own is None else own for n, own in rows]
    return np.concatenate(filled) if width else None


def _rows_of(
    graph: Any, names: list[str], optional: bool, position: int, faults: Faults
) -> NDArray[np.float64] | None:
    data = [values for _, values in graph.nodes(data=True)]
    present = [all(name in values for name in names) for values in data]
    if optional and not any(present):
        return np.empty((len(data), 0))
    if not all(present):
        node = list(graph)[present.index(False)]
        faults.add(position, f"node {shown(node)} has no {' or '.join(map(repr, names))}")
        return None
    rows = _matrix(data, names)
    if rows is not None and rows.ndim == 2:
        return rows
    faults.add(position, "node attributes are not vectors of numbers, all of one length")
    return None


def _matrix(data: list[Any], names: list[str]) -> NDArray[np.float64] | None:
    """Return attributes of nodes as columns; None if they are not numbers."""
    try:
        if len(names) == 1 and np.ndim(data[0][names[0]]) == 1:
            return numbers([values[names[0]] for values in data])
        return numbers([np.concatenate([np.atleast_1d(values[name]) for name in names]) for values in data])
    except (TypeError, ValueError):
        return None


def _edge_rows(
    data: list[Any], counts: NDArray[np.int64], names: Sequence[str], faults: Faults
) -> NDArray[np.float64]:
    columns = []
    for name in names:
        values = [entry.get(name, np.nan) for entry in data]
        column = numbers(values)
        if column is None or column.ndim != 1:
            graph_of = owners(counts)
            column = np.full(len(values), np.nan)
            for i, value in enumerate(values):
                number = numbers(value)
                if number is None or number.ndim:
                    faults.add(int(graph_of[i]), f"an edge has {name} {shown(value)}, not a number")
                else:
                    column[i] = number
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.empty((len(data), 0))


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
