"""Lists of edges: their converter, and the edges of a graph for other libraries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels._utils.typing import Column
from propkernels.convert.build import Fault, Faults, Part, build, flattened, listed, read_each
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase

NAMES = (str, bytes, int, np.integer)  # of nodes in lists of edges that are recognized as such
Edge: TypeAlias = Sequence[Hashable]  # source, target, and a weight or label
NodeLabels: TypeAlias = Mapping[Hashable, Hashable]
NUMBERS = (int, float, np.integer, np.floating)


def from_edges(
    graphs: Iterable[Iterable[Edge]] | Iterable[Edge],
    *,
    node_labels: Sequence[NodeLabels] | NodeLabels | None = None,
    directed: bool = False,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert lists of edges to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence of lists of edges, or one list of edges
        A list or array of pairs (source, target) for each graph. A third item is a weight if it is a number,
        else an edge label. Nodes are any hashable values, in order of appearance.
    node_labels : sequence of mappings, optional
        One mapping of nodes to labels for each graph; nodes without edges are in the graph, too. A single
        mapping for a single list of edges.
    directed : bool, default=False
        Whether edges are directed. An undirected edge may be listed once or in both directions; edges that
        are listed again with the same weight and label are one edge.
    ids : sequence, optional
        Ids of the graphs.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid graph, leave it out, or make it a graph without nodes (see
        ``graphs.skipped``).

    Returns
    -------
    GraphDatabase

    See Also
    --------
    from_pandas : From tables of edges and nodes.
    from_adjacency : From matrices.

    Examples
    --------
    >>> import propkernels as pk
    >>> pk.from_edges([[("a", "b"), ("b", "c")], [(0, 1, 0.5)]])
    GraphDatabase(2 graphs, 5 nodes, 3 weighted edges)
    >>> water = [("O", "H1", "single"), ("O", "H2", "single")]
    >>> pk.from_edges(water, node_labels={"O": "O", "H1": "H", "H2": "H"})
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels, 1 edge label)
    """
    is_table = isinstance(graphs, np.ndarray) and graphs.ndim == 2
    several = [graphs] if is_table else listed(graphs, "lists of edges")
    several = [several] if is_edge_list(several) else several
    if node_labels is not None:
        node_labels = [node_labels] if isinstance(node_labels, Mapping) else node_labels
        if len(node_labels) != len(several):
            raise ValueError(f"there are {len(node_labels)} node_labels for {len(several)} lists of edges")
    return convert(several, Faults(errors, len(several), ids), node_labels, directed)


def is_edge_list(thing: Any) -> bool:
    """Return whether this is a list of edges that can be nothing else.

    Examples
    --------
    >>> is_edge_list([(0, 1), ("a", "b", 2.5)]), is_edge_list([([[0]], ["C"])]), is_edge_list([])
    (True, False, False)
    """
    is_list = isinstance(thing, list) and len(thing) > 0
    return is_list and all(isinstance(edge, tuple) and _is_edge(edge) for edge in thing)


def _is_edge(items: tuple[Any, ...]) -> bool:
    return len(items) in (2, 3) and all(isinstance(end, NAMES) for end in items[:2])


def convert(
    graphs: list[Any],
    faults: Faults,
    node_labels: Sequence[NodeLabels] | None = None,
    directed: bool = False,
) -> GraphDatabase:
    """Return the database of lists of edges."""
    labels: Sequence[Any] = node_labels or [None] * len(graphs)
    pairs = list(zip(graphs, labels, strict=True))
    parts = read_each(pairs, lambda pair: _read(pair[0], pair[1], directed), faults, Part())
    return build(flattened(parts, faults, directed), faults)


def _read(edges: Any, node_labels: NodeLabels | None, directed: bool) -> Part:
    numbers: dict[Any, int] = {}
    ways: dict[tuple[int, int], dict[Any, float]] = {}  # weights of edges from u to v, by label
    for edge in edges.tolist() if isinstance(edges, np.ndarray) else edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) not in (2, 3):
            raise Fault(f"an edge is a pair of nodes, or three items, got {shown(edge)}", TypeError)
        what: Any = edge[2] if len(edge) == 3 else None
        is_weight = isinstance(what, NUMBERS) and not isinstance(what, bool)
        try:
            u, v = (numbers.setdefault(end, len(numbers)) for end in edge[:2])
            contents, weight = ways.setdefault((u, v), {}), float(what) if is_weight else 1.0
            before = contents.setdefault(None if is_weight else what, weight)
        except TypeError:
            raise Fault(f"nodes and labels must be hashable, got the edge {shown(edge)}", TypeError) from None
        if before != weight and weight == weight:
            raise Fault(
                f"the edge {shown(tuple(edge[:2]))} has the weights {before} and {weight}: add them up"
            )
    for (u, v), contents in ways.items():
        if not directed and ways.get((v, u), contents) != contents:
            one, other = (shown(list(numbers)[end]) for end in (u, v))
            raise Fault(
                f"the edge ({one}, {other}) is listed in both directions, which do not agree: pass "
                "pk.from_edges(graphs, directed=True) if directions matter, or list it once"
            )
    for node in node_labels or ():
        numbers.setdefault(node, len(numbers))
    once = {(u, v): of for (u, v), of in ways.items() if directed or u <= v or (v, u) not in ways}
    rows = [(u, v, weight, kind) for (u, v), of in once.items() for kind, weight in of.items()]
    source, target, weights, kinds = zip(*rows, strict=True) if rows else ((),) * 4
    has_kinds = any(kind is not None for kind in kinds)
    labels = None if node_labels is None else [node_labels.get(node) for node in numbers]
    return Part(len(numbers), source, target, weights, labels, None, kinds if has_kinds else None)


def is_node_link(thing: Any) -> bool:
    """Return whether this is a graph as ``networkx.node_link_data`` and D3 write it."""
    return isinstance(thing, Mapping) and "nodes" in thing and ("links" in thing or "edges" in thing)


@dataclass(frozen=True)
class Listing:
    """Edges of a graph.

    Attributes
    ----------
    directed : bool
        Whether the two directions of some edge differ in weight, label or attributes.
    source, target, weights : ndarray
    labels, attributes : ndarray or None
    """

    directed: bool
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weights: NDArray[np.float64]
    labels: NDArray[Any] | None
    attributes: NDArray[np.float64] | None


def list_edges(graph: Graph, *, both: bool = False) -> Listing:
    """Return the edges of a graph; with ``both``, undirected edges in both directions."""
    entries = graph.adjacency.tocoo()
    source, target = (axis.astype(np.int64) for axis in entries.coords)
    directed = is_one_way(graph.database)
    chosen = slice(None) if directed or both else source <= target
    labels, attributes = graph.edge_labels, graph.edge_attributes
    return Listing(
        directed,
        source[chosen],
        target[chosen],
        entries.data[chosen],
        None if labels is None else labels[chosen],
        None if attributes is None else attributes[chosen],
    )


def is_one_way(graphs: GraphDatabase) -> bool:
    """Return whether any edge lacks a reverse edge with the same weight, label and attributes.

    Entries are sorted by row and column, and parallel ones by their contents. If every entry has a reverse
    entry, sorting by column and row gives the same sequence of contents.
    """
    entries = graphs.adjacency.tocoo()
    rows, cols = entries.coords
    order = np.lexsort((rows, cols))
    if not (np.array_equal(rows, cols[order]) and np.array_equal(cols, rows[order])):
        return True
    column, attributes = graphs.edge_label_column, graphs.edge_attributes
    return not (
        np.array_equal(entries.data, entries.data[order])
        and (column is None or np.array_equal(column.ids, column.ids[order]))
        and (attributes is None or np.array_equal(attributes, attributes[order], equal_nan=True))
    )
