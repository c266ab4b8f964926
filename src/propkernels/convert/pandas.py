"""Converters from and to pandas tables of edges, nodes and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import kind_of, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Target
from propkernels.convert.build import (
    EDGE_PARTS,
    Faults,
    FlatGraphs,
    build,
    each_number,
    encoded,
    owners,
    why_no_label,
    with_target,
)
from propkernels.convert.edges import list_edges
from propkernels.convert.table_columns import (
    USUAL_WEIGHTS,
    Roles,
    column_roles,
    find_usual,
    is_auto,
    joined_labels,
    warn_of_numbers,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import LabelColumn

if TYPE_CHECKING:
    from pandas import DataFrame

Codes = NDArray[np.int64]
_GRAPH = "graph of all edges"  # key of tables of one graph


def from_pandas(
    edges: DataFrame,
    nodes: DataFrame | None = None,
    graphs: DataFrame | None = None,
    *,
    graph: str | None = "graph",
    source: str = "source",
    target: str = "target",
    node: str = "node",
    label: str | Sequence[str] | None = "auto",
    attributes: str | Sequence[str] = "auto",
    weight: str | None = "auto",
    edge_label: str | Sequence[str] | None = "auto",
    edge_attributes: str | Sequence[str] = "auto",
    graph_target: str | None = None,
    directed: bool = False,
    errors: str = "raise",
) -> GraphDatabase | Any:
    """Convert pandas tables to a GraphDatabase.

    Graphs and nodes are in order of first appearance: in ``graphs``, if given, then in ``nodes``, then in
    ``edges``. The ids of the database are the keys of the graphs.

    All readers of tables use columns by one rule: a column with a usual name ("label", "type", "kind",
    "element", "symbol"; "relation" of edges) is the label, or else the columns of text are, of which several
    make tuples; "weight" holds weights; columns of numbers are attributes. A warning names columns that are
    not used, such as texts that are nearly all different.

    Parameters
    ----------
    edges : DataFrame
        One row per edge.
    nodes : DataFrame, optional
        One row per node, for all nodes of edges. Without this table, the nodes are those of ``edges``.
    graphs : DataFrame, optional
        One row per graph, with the column ``graph``; adds graphs without nodes, the order, and the target.
    graph, source, target, node : str
        Columns of keys: the graph in all tables (None: the tables are of one graph), the ends of an edge, and
        the node in ``nodes``. Graph and key identify a node, so that each graph may number its nodes from 0.
    label, attributes : "auto", str, sequence of str or None
        Columns of ``nodes``; "auto": by the rule above.
    weight, edge_label, edge_attributes : "auto", str, sequence of str or None
        Columns of ``edges``.
    graph_target : str, optional
        Column of ``graphs`` that is the target. Missing values stay missing: NaN among numbers, None among
        strings.
    directed : bool, default=False
        Whether edges are directed from source to target. An undirected edge may be listed once, or in both
        directions with equal values.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid graph, leave it out, or make it a graph without nodes (see
        ``graphs.skipped``).

    Returns
    -------
    GraphDatabase, or (GraphDatabase, ndarray) with ``graph_target``

    See Also
    --------
    propkernels.convert.to_pandas : Back to tables.

    Examples
    --------
    >>> import pandas as pd, propkernels as pk
    >>> edges = pd.DataFrame({"graph": ["a", "a", "b"], "source": [0, 0, 7], "target": [1, 2, 8]})
    >>> nodes = pd.DataFrame({"graph": list("bbaaa"), "node": [7, 8, 0, 1, 2], "element": list("COOHH")})
    >>> found = pk.from_pandas(edges, nodes, label="element")
    >>> found, found.ids.tolist()
    (GraphDatabase(2 graphs, 5 nodes, 3 edges, 3 node labels), ['b', 'a'])
    """
    check_columns(edges, "edges", [graph, source, target, *_named(weight, edge_label, edge_attributes)])
    if nodes is not None:
        check_columns(nodes, "nodes", [graph, node, *_named(label, attributes)])
    elif _named(label, attributes):
        raise ValueError("label and attributes are columns of nodes, which is not given")
    if graph_target is not None and graphs is None:
        raise ValueError("graph_target is a column of graphs, which is not given")
    if graphs is not None:
        check_columns(graphs, "graphs", [graph, graph_target])
    if graph is None:
        graph = _GRAPH
        tables = (None if table is None else table.assign(**{graph: 0}) for table in (edges, nodes, graphs))
        edges, nodes, graphs = tables
    of_edges = column_roles(edges, "edges", (graph, source, target), edge_label, edge_attributes, weight)
    of_nodes = Roles([], [])
    if nodes is not None:
        of_nodes = column_roles(nodes, "nodes", (graph, node), label, attributes)
    keys = _Keys(edges, nodes, graphs, graph, source, target, node)
    faults = Faults(errors, len(keys.ids), keys.ids)
    keys.check(faults)
    edge_order = keys.order["edges"]
    weights = [] if of_edges.weight is None else [of_edges.weight]
    weight_rows = _numbers(edges, weights, "edges", keys, faults)
    flat = FlatGraphs(
        keys.sizes,
        keys.edge_counts,
        keys.ends[0][edge_order],
        keys.ends[1][edge_order],
        directed,
        None if weight_rows is None else weight_rows[:, 0],
        _labels(nodes, of_nodes, "nodes", keys, faults),
        _numbers(nodes, of_nodes.attributes, "nodes", keys, faults),
        _labels(edges, of_edges, "edges", keys, faults),
        _numbers(edges, of_edges.attributes, "edges", keys, faults),
        tuple(map(str, of_edges.attributes)) or None,
    )
    if not directed:
        _list_edges_once(flat, edge_order, faults)
    database = build(flat, faults)
    if graph_target is None or graphs is None:
        return database
    values = graphs[graph_target].to_numpy()
    missing = len(keys.ids) - len(values)
    if missing:
        raise ValueError(
            f"graphs has no row for {missing} of {len(keys.ids)} graphs, such as {keys.ids[-1]!r}"
        )
    return with_target(database, values.tolist(), faults)


def one_graph(edges: DataFrame, nodes: DataFrame | None = None) -> tuple[GraphDatabase, list[Any]]:
    """Return one graph of a table of edges, and of nodes in the order of their table; and the keys of nodes.

    Other columns are used as in :func:`from_pandas`, but models of nodes use no attributes of edges.

    Parameters
    ----------
    edges : DataFrame
        Columns "source" and "target", "head" and "tail", or else the first two, hold the ends.
    nodes : DataFrame, optional
        The column "node", or else the first one, holds the keys of all nodes of ``edges``: leave a target
        out. Without this table, nodes are in order of appearance, row by row.

    Examples
    --------
    >>> import pandas as pd
    >>> one_graph(pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}))
    (GraphDatabase(1 graph, 3 nodes, 2 edges), ['a', 'b', 'c'])
    """
    if len(edges.columns) < 2:
        raise ValueError("a table of edges needs two columns: the nodes at both ends")
    if len(edges.columns) > 2 and edges.columns.equals(edges.index):
        raise ValueError(
            "a table whose rows and columns have the same names is no table of edges: pass "
            "pk.from_adjacency([table]) if it is an adjacency matrix"
        )
    usual = (("source", "target"), ("head", "tail"))
    source, target = next((ends for ends in usual if set(ends) <= set(edges.columns)), edges.columns[:2])
    key = "node" if nodes is None or "node" in nodes.columns else nodes.columns[0]
    warn_of_numbers(edges, (source, target, find_usual(edges.columns, USUAL_WEIGHTS)))
    graph = from_pandas(edges, nodes, graph=None, source=source, target=target, node=key, edge_attributes=())
    if nodes is not None:
        return graph, nodes[key].tolist()
    pairs = zip(edges[source].tolist(), edges[target].tolist(), strict=True)
    return graph, list(dict.fromkeys(end for pair in pairs for end in pair))


def _named(*columns: str | Sequence[str] | None) -> list[str]:
    """Return the columns that a caller names."""
    several = [[] if one is None or is_auto(one) else one for one in columns]
    return [name for some in several for name in ([some] if isinstance(some, str) else some)]


def check_columns(table: Any, name: str, columns: Sequence[str | None]) -> None:
    """Raise an error unless this is a DataFrame that has each of the columns once."""
    if not hasattr(table, "columns"):
        raise TypeError(f"{name} must be a pandas DataFrame, got {kind_of(table)}")
    if table.columns.nlevels > 1:
        raise ValueError(f"{name} has columns of {table.columns.nlevels} levels: give each column one name")
    for column in columns:
        if column is not None and column not in table.columns:
            raise ValueError(f"{name} has no column {column!r}; its columns are {shown(list(table.columns))}")
    if not table.columns.is_unique:
        column = table.columns[table.columns.duplicated()][0]
        raise ValueError(f"{name} has several columns {column!r}: rename all but one")


class _Keys:
    """Numbers of graphs and nodes: graph and node of each row."""

    def __init__(
        self, edges: Any, nodes: Any, graphs: Any, graph: str, source: str, target: str, node: str
    ) -> None:
        pd = import_optional("pandas", extra="pandas", purpose="from_pandas needs")
        tables = {"graphs": graphs, "nodes": nodes, "edges": edges}
        given = [(name, table[graph]) for name, table in tables.items() if table is not None]
        codes, ids = numbered_keys(pd, given, "graph")
        self.ids = ids.tolist()
        if graphs is not None and (again := np.flatnonzero(pd.Series(codes[0]).duplicated())).size:
            graph_id = shown(self.ids[codes[0][again[0]]])
            raise ValueError(f"row {again[0]} of graphs lists the graph {graph_id} again")
        self.owner = {name: code for (name, _), code in zip(given, codes, strict=True)}
        self.columns = [("edges", edges[source]), ("edges", edges[target])]
        if nodes is not None:
            self.columns.append(("nodes", nodes[node]))
        codes, _ = numbered_keys(pd, self.columns, "node")
        width = max(int(code.max(initial=-1)) for code in codes) + 2
        ends = [self.owner["edges"] * width + code for code in codes[:2]]
        if nodes is None:  # nodes in order of appearance, row by row
            self.keys = pd.unique(np.column_stack(ends).ravel())
            self.owner["nodes"] = self.keys // width
        else:
            self.keys = self.owner["nodes"] * width + codes[2]
        self.order = {name: np.argsort(self.owner[name], kind="stable") for name in ("nodes", "edges")}
        self.sizes, self.edge_counts = (
            np.bincount(self.owner[name], minlength=len(self.ids)) for name in ("nodes", "edges")
        )
        ordered = self.keys[self.order["nodes"]]
        self.repeated = np.flatnonzero(pd.Series(self.keys).duplicated().to_numpy())
        first = np.flatnonzero(~pd.Series(ordered).duplicated().to_numpy())
        starts = (np.cumsum(self.sizes) - self.sizes)[self.owner["edges"]]
        self.ends = []  # number of each end among the nodes of its graph; -1 for a missing node
        for keys in ends:
            at = pd.Index(ordered[first]).get_indexer(keys)
            self.ends.append(np.where(at >= 0, np.append(first, 0)[at] - starts, -1))

    def check(self, faults: Faults) -> None:
        """Add faults for nodes that are listed twice and for edges to missing nodes."""
        for row in self.repeated.tolist():
            key = shown(_plain(self.columns[2][1].iloc[row]))
            first = int(np.flatnonzero(self.keys == self.keys[row])[0])
            reason = f"row {row} of nodes lists node {key} again, which is in row {first}"
            faults.add(int(self.owner["nodes"][row]), reason)
        for ends, (_, column) in zip(self.ends, self.columns, strict=False):
            for row in np.flatnonzero(ends < 0).tolist():
                key = shown(_plain(column.iloc[row]))
                reason = f"row {row} of edges names node {key}, which is not in nodes"
                faults.add(int(self.owner["edges"][row]), reason)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def numbered_keys(pd: Any, columns: list[tuple[str, Any]], what: str) -> tuple[list[Codes], Any]:
    """Return numbers of the keys of columns in order of appearance, and the keys; none may be missing."""
    joined = pd.concat([column for _, column in columns], ignore_index=True)
    bounds = np.cumsum([len(column) for _, column in columns])

    def place(position: int) -> str:
        at = int(np.searchsorted(bounds, position, side="right"))
        return f"row {position - int(bounds[at]) + len(columns[at][1])} of {columns[at][0]}"

    try:
        codes, keys = pd.factorize(joined)
    except Exception:  # keys may raise any error when hashed or compared
        wrong = [i for i, key in enumerate(joined.tolist()) if why_no_label(key) is not None]
        row = place(wrong[0]) if wrong else "a row"
        raise TypeError(f"{row} names a {what} by a value that is not hashable") from None
    missing = np.flatnonzero(codes < 0)
    if missing.size:
        raise ValueError(f"{place(int(missing[0]))} names no {what}: the value is missing")
    return np.split(codes.astype(np.int64), bounds[:-1]), keys


def _labels(table: Any, roles: Roles, name: str, keys: _Keys, faults: Faults) -> LabelColumn | None:
    """Return labels in the order of the graphs; faults name rows of labels that are not hashable."""
    if not roles.labels:
        return None
    what = ", ".join(map(str, roles.labels))
    column = encoded(
        joined_labels(table, roles.labels),
        keys.owner[name],
        faults,
        lambda row, label: f"row {row} of {name} has {what} {label}, which",
    )
    return column.take(keys.order[name])


def _numbers(
    table: Any, names: Sequence[str], name: str, keys: _Keys, faults: Faults
) -> NDArray[np.float64] | None:
    """Return numeric columns in the order of the graphs; faults name rows of other values."""
    columns = []
    for column in names:
        values = _as_floats(table[column])
        for row in np.flatnonzero(np.isnan(values) & table[column].notna().to_numpy()).tolist():
            value = shown(_plain(table[column].iloc[row]))
            reason = f"row {row} of {name} has {column} {value}, which is not a number"
            faults.add(int(keys.owner[name][row]), reason)
        columns.append(values[keys.order[name]])
    return np.stack(columns, axis=1) if columns else None


def _as_floats(column: Any) -> NDArray[np.float64]:
    """Return values as floats; NaN for other values."""
    pd = import_optional("pandas", extra="pandas", purpose="from_pandas needs")
    if getattr(column.dtype, "kind", "O") in "cmM":  # complex numbers, durations and dates
        return np.full(len(column), np.nan)
    try:
        found = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(found, dtype=np.float64)
    except Exception:  # values may raise any error in the conversion to a number
        return each_number(column.tolist())


def _list_edges_once(flat: FlatGraphs, rows: Codes, faults: Faults) -> None:
    """List undirected edges once; add faults for the two directions of an edge that differ."""
    pd = import_optional("pandas", extra="pandas", purpose="from_pandas needs")
    graph, width = owners(flat.edge_counts), int(flat.sizes.max(initial=0)) + 1
    low, high = np.minimum(flat.source, flat.target), np.maximum(flat.source, flat.target)
    turned, pair = flat.source > flat.target, (graph * width + low) * width + high
    forward, backward = (low >= 0) & ~turned, (low >= 0) & turned
    both = (low >= 0) & np.isin(pair, np.intersect1d(pair[forward], pair[backward]))
    if not both.any():
        return
    contents: list[NDArray[Any]] = [] if flat.edge_labels is None else [flat.edge_labels.ids]
    contents += [] if flat.weights is None else [flat.weights]
    contents += [] if flat.edge_attributes is None else list(flat.edge_attributes.T)
    table = pd.DataFrame(dict(enumerate([pair, *contents])))[both]
    # equal edges of one direction are numbered, so that each has one equal edge of the other direction
    table["number"] = table.assign(turned=turned[both]).groupby([*table, "turned"], dropna=False).cumcount()
    alone = np.flatnonzero(both)[~table.duplicated(keep=False).to_numpy()]
    for at in alone[np.unique(graph[alone], return_index=True)[1]].tolist():
        there, back = (np.flatnonzero(some & (pair == pair[at]))[0] for some in (forward, backward))
        faults.add(
            int(graph[at]),
            f"rows {int(rows[there])} and {int(rows[back])} of edges list the same edge in both directions "
            "and do not agree: pass directed=True if directions matter, or list it once",
        )
    once = np.flatnonzero(~(both & turned))
    flat.edge_counts = np.bincount(graph[once], minlength=len(flat.sizes))
    flat.keep(EDGE_PARTS, once)


class Tables(NamedTuple):
    """Tables of graphs, returned by :func:`to_pandas` and accepted by :func:`from_pandas`."""

    edges: Any
    nodes: Any
    graphs: Any


def to_pandas(graphs: Graphs, target: Target | None = None) -> Tables:
    """Convert graphs to three tables.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
    target : sequence, optional
        One value per graph.

    Returns
    -------
    Tables
        ``edges`` (graph, source, target, weight, label and attributes), ``nodes`` (graph, node, label and
        attributes) and ``graphs`` (graph and target). Nodes are numbered from 0 in each graph. Undirected
        edges are listed once where no graph is directed, otherwise in both directions: pass
        ``directed=tables.edges.attrs["directed"]`` to :func:`from_pandas`. Attributes are named a0, a1, ...
        where they have no names.

    See Also
    --------
    from_pandas : From tables.

    Examples
    --------
    >>> import propkernels as pk
    >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"], ids=["x"])
    >>> tables = pk.convert.to_pandas(pair)
    >>> tables.edges.to_dict("records")
    [{'graph': 'x', 'source': 0, 'target': 1, 'weight': 1.0}]
    """
    from propkernels.convert.check import check_graphs
    from propkernels.convert.edges import is_one_way
    from propkernels.graphs.container import Graph

    pd = import_optional("pandas", extra="pandas", purpose="to_pandas needs")
    database = check_graphs(graphs)
    ids = np.arange(len(database)) if database.ids is None else database.ids
    if len(set(ids.tolist())) < len(ids):
        raise ValueError("two graphs have the same id: give them others by with_ids")
    directed = is_one_way(database)
    whole = GraphDatabase._assemble(
        *(database._parts() | {"graph_ptr": database.graph_ptr[[0, -1]], "ids": None}).values()
    )
    listing = list_edges(Graph(whole), both=directed)
    starts, owner = database.graph_ptr[:-1], database.graph_ids[listing.source]
    local = np.arange(database.n_nodes) - np.repeat(starts, database.graph_sizes)
    edges = {"graph": ids[owner], "source": local[listing.source], "target": local[listing.target]}
    edges |= {"weight": listing.weights}
    edges |= {} if listing.labels is None else {"label": listing.labels}
    edges |= _columns(listing.attributes, database.edge_attribute_names)
    nodes: dict[str, Any] = {"graph": ids[database.graph_ids], "node": local}
    if database.node_labels is not None:
        nodes["label"] = list(database.node_labels) if database.node_labels.ndim > 1 else database.node_labels
    nodes |= _columns(database.node_attributes, None)
    table = {"graph": ids} | ({} if target is None else {"target": np.asarray(target)})
    frames = Tables(pd.DataFrame(edges), pd.DataFrame(nodes), pd.DataFrame(table))
    frames.edges.attrs["directed"] = directed
    return frames


def _columns(rows: NDArray[np.float64] | None, names: Sequence[str] | None) -> dict[str, Any]:
    if rows is None:
        return {}
    return dict(zip(names or [f"a{i}" for i in range(rows.shape[1])], rows.T, strict=True))
