"""Converters from and to igraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Column
from propkernels.convert.build import (
    NAMES,
    Faults,
    FlatGraphs,
    Names,
    build,
    check_names,
    chosen,
    convert_list,
    guarded,
    integers,
    listed,
    numbers,
)
from propkernels.convert.listing import edge_columns, list_edges, node_columns
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase


def from_igraph(
    graphs: Iterable[Graph],
    *,
    node_label: str | None = "label",
    node_attributes: str | Sequence[str] | None = "attributes",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    edge_attributes: Sequence[str] | None = None,
    target: str | None = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase | Any:
    """Convert igraph graphs to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence of igraph.Graph
        Directed graphs keep their directions, and parallel edges stay apart where labels or attributes
        differ.
    node_label, edge_label : str or None
        Names of the vertex and edge attributes that hold labels; a graph without the name is unobserved.
    node_attributes : str, sequence of str, or None
        Vertex attribute that holds a number or a vector, or several that hold numbers.
    weight : str or None
        Edge attribute that holds weights (absent, or None for an edge: 1).
    edge_attributes : sequence of str, optional
        Edge attributes that hold numbers.
    target : str, optional
        Graph attribute that is the target.
    ids : sequence, optional
        Ids of the graphs.
    errors : {"raise", "skip"}, default="raise"
        Raise an error for an invalid graph, or leave it out (see ``graphs.skipped``).

    Returns
    -------
    GraphDatabase, or (GraphDatabase, ndarray) with ``target``

    See Also
    --------
    propkernels.convert.to_igraph : Back to igraph.

    Examples
    --------
    >>> import igraph, propkernels as pk
    >>> water = igraph.Graph([(0, 1), (0, 2)])
    >>> water.vs["label"] = ["O", "H", "H"]
    >>> pk.from_igraph([water])
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    """
    names = (node_label, node_attributes, edge_label, weight, edge_attributes)
    convert_these = partial(convert, names=names)
    read_target = None if target is None else lambda graph: _graph_value(graph, target)
    several: Any = graphs if is_igraph(graphs) else listed(graphs, "graphs")
    found = convert_list(several, "igraph", is_igraph, convert_these, read_target, ids, errors)
    wanted = (
        (
            "node_label",
            chosen(node_label, "label"),
            lambda graph: graph.vs.attributes() if graph.vcount() else None,
        ),
        ("edge_label", chosen(edge_label, "label"), _edge_names),
        ("weight", chosen(weight, "weight"), _edge_names),
        ("target", target, lambda graph: graph.attributes()),
    )
    check_names(several, wanted)
    return found


def _edge_names(graph: Any) -> list[str] | None:
    return list(graph.es.attributes()) if graph.ecount() else None


def _graph_value(graph: Any, name: str) -> Any:
    """Return a graph attribute; None if the graph does not have it."""
    return graph[name] if name in graph.attributes() else None


def is_igraph(thing: Any) -> bool:
    """Return whether an object is an igraph graph, without importing igraph."""
    return any(base.__module__.startswith("igraph") for base in type(thing).__mro__) and hasattr(
        thing, "vcount"
    )


@guarded
def convert(graphs: list[Any], faults: Faults, names: Names = NAMES) -> GraphDatabase:
    """Return the database of a list of igraph graphs, without those that have faults already."""
    node_label, node_attributes, edge_label, weight, edge_attributes = names
    kept = faults.kept
    usable = [(i, graph) for i, graph in enumerate(graphs) if kept[i]]
    sizes, counts, directed = np.zeros((3, len(graphs)), dtype=np.int64)
    for i, graph in usable:
        sizes[i], counts[i], directed[i] = graph.vcount(), graph.ecount(), graph.is_directed()
    ends = list(chain.from_iterable(chain.from_iterable(graph.get_edgelist() for _, graph in usable)))
    source, target = integers(ends).reshape(-1, 2).T
    several = [node_attributes] if isinstance(node_attributes, str) else list(node_attributes or ())
    node_rows = [_numbers(usable, name, "vs", sizes, faults) for name in several]
    edge_rows = [_numbers(usable, name, "es", counts, faults) for name in edge_attributes or ()]
    weights = None if weight is None else _numbers(usable, weight, "es", counts, faults, 1.0)
    flat = FlatGraphs(
        sizes,
        counts,
        source,
        target,
        directed.astype(bool),
        None if weights is None else weights[:, 0],
        _labels(usable, node_label, "vs", sizes),
        _side_by_side(node_rows),
        _labels(usable, edge_label, "es", counts),
        _side_by_side(edge_rows),
        [name for name, rows in zip(edge_attributes or (), edge_rows, strict=True) if rows is not None]
        or None,
    )
    return build(flat, faults)


def _side_by_side(columns: list[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    present = [column for column in columns if column is not None]
    return np.concatenate(present, axis=1) if present else None


def _labels(usable: list[Any], name: str | None, where: str, counts: NDArray[np.int64]) -> list[Any] | None:
    """Return an attribute of all vertices or edges; None if no graph has it."""
    known = {i for i, graph in usable if name in getattr(graph, where).attributes()}
    if not known:
        return None
    parts = (getattr(graph, where)[name] if i in known else [None] * int(counts[i]) for i, graph in usable)
    return list(chain.from_iterable(parts))


def _numbers(
    usable: list[Any],
    name: str,
    where: str,
    counts: NDArray[np.int64],
    faults: Faults,
    default: float | None = None,
) -> NDArray[np.float64] | None:
    """Return the numbers or vectors of an attribute as rows; None if no graph has it."""
    known = {i for i, graph in usable if name in getattr(graph, where).attributes() and counts[i]}
    if not known:
        return None
    noun = "node" if where == "vs" else "edge"
    rows: list[Any] = []
    width = 0
    for i, graph in usable:
        if counts[i] == 0:
            continue
        if i not in known and default is None:
            faults.add(i, f"its {noun}s have no {name!r}")
        values = getattr(graph, where)[name] if i in known else [default] * int(counts[i])
        gap = np.nan if default is None else default
        table = numbers([gap if value is None else value for value in values])
        own = None if table is None else table.reshape(len(values), -1)
        width = width or (0 if own is None else own.shape[1])
        if own is None or own.shape[1] != width:
            faults.add(i, f"the {noun} attribute {name!r} does not hold numbers, or vectors of one length")
            own = np.full((len(values), 1), np.nan)
        rows.append(own)
    width = width or 1
    return np.concatenate(
        [own if own.shape[1] == width else np.full((len(own), width), np.nan) for own in rows]
    )


def to_igraph(graphs: Graphs) -> list[Graph]:
    """Convert graphs to igraph.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs

    Returns
    -------
    list of igraph.Graph
        Directed where the directions of some edge differ. Vertex attributes "label" and "attributes"; edge
        attributes "weight", "label", and "attributes" or, by name, each attribute; graph attribute "id".

    See Also
    --------
    from_igraph : From igraph.

    Examples
    --------
    >>> import propkernels as pk
    >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"])
    >>> pk.convert.to_igraph(pair)[0].vs["label"]
    ['C', 'O']
    """
    from propkernels.convert.check import check_graphs

    igraph = import_optional("igraph", extra="igraph", purpose="to_igraph needs")
    return [_to_igraph(igraph, graph) for graph in check_graphs(graphs)]


def _to_igraph(igraph: Any, graph: Graph) -> Any:
    edges = list_edges(graph)
    ends = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    twin = igraph.Graph(graph.n_nodes, ends, directed=edges.directed)
    if graph.id is not None:
        twin["id"] = graph.id
    for name, values in node_columns(graph).items():
        twin.vs[name] = values
    for name, values in edge_columns(graph, edges).items():
        twin.es[name] = values
    return twin
