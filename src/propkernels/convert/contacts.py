"""Converter of tables of contacts to graphs in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels.convert.build import each_number
from propkernels.convert.pandas import check_columns, from_pandas, numbered_keys
from propkernels.convert.table_columns import warn_unused
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.moments import CONTACT, EARLIER, LATER, RECEIVED, SENT

if TYPE_CHECKING:
    from pandas import DataFrame

Numbers = NDArray[np.int64]
Times = NDArray[np.float64]
GRAPH = "graph"  # column of graphs in the tables that are made


def from_contacts(
    contacts: DataFrame,
    graphs: DataFrame | None = None,
    *,
    graph: str | None = "graph",
    source: str = "source",
    target: str = "target",
    time: str = "time",
    node_labels: DataFrame | None = None,
    directed: bool = False,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert a table of contacts to graphs in time.

    A vertex becomes one node per time at which something happens to it: a contact, or a change of its label.
    Edges join nodes that are in contact (relation "contact"; "received" and "sent" for directed contacts),
    and each node to the same vertex before and after ("earlier", "later"). Kernels with ``time="forward"``
    pass information along contacts and forwards in time only.

    Parameters
    ----------
    contacts : DataFrame
        One row per contact, such as ``networkx.to_pandas_edgelist(graph)`` makes. The order of the two ends
        counts only if contacts are directed.
    graphs : DataFrame, optional
        One row per graph, with the column ``graph``; adds graphs without contacts, and the order.
    graph, source, target, time : str
        Columns of ``contacts``: graph, the two vertices, and the time, a number or a date (then seconds
        since 1970). ``graph=None``: all contacts belong to one graph.
    node_labels : DataFrame, optional
        Labels of vertices over time: the columns ``graph`` (as above), "node", ``time`` (as above) and
        "label". A label holds until the next one of its vertex, and the first one also before its time.
        Vertices without contacts may occur here.
    directed : bool, default=False
        Whether information crosses from source to target only.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid graph, leave it out, or make it a graph without nodes (see
        ``graphs.skipped``).

    Returns
    -------
    GraphDatabase
        Its ``moments`` hold the vertex and the time of each node.

    See Also
    --------
    PropagationKernel : The parameter ``time``.
    from_pandas : From tables of edges without times.

    Examples
    --------
    >>> import pandas as pd, propkernels as pk
    >>> met = {"graph": 0, "source": ["ann", "bob"], "target": ["bob", "cy"], "time": [1, 2]}
    >>> contacts = pd.DataFrame(met)
    >>> graphs = pk.from_contacts(contacts)
    >>> graphs
    GraphDatabase(1 graph, 4 nodes, 3 edges, 3 edge labels, in time)
    >>> graphs.moments.times
    array([1., 1., 2., 2.])
    """
    pd = import_optional("pandas", extra="pandas", purpose="from_contacts needs")
    table: Any = contacts
    states: Any = node_labels
    used = (graph, source, target, time)
    check_columns(table, "contacts", used)
    if states is not None:
        check_columns(states, "node_labels", [graph, "node", time, "label"])
    if unused := [name for name in table if name not in used]:
        warn_unused(unused, "contacts", "contacts have two ends and a time", stacklevel=3)
    if graph is None:
        graph, table = GRAPH, table.assign(**{GRAPH: 0})
        states = None if states is None else states.assign(**{GRAPH: 0})
    elif graphs is not None:
        check_columns(graphs, "graphs", [graph])
        graphs = graphs[[graph]].set_axis([GRAPH], axis=1)
    vertices = _Vertices.of(pd, table, states, graph, source, target)
    history = None
    if states is not None:
        seen = _labels(states["label"], "node_labels")
        history = pd.DataFrame({"vertex": vertices.labeled, "time": _times(states, time, "node_labels")})
        history = history.assign(label=seen.ids).sort_values(["vertex", "time"], kind="stable")
    nodes = _Nodes.of(pd, vertices, _times(table, time, "contacts"), history)
    owner = vertices.graph[nodes.vertex]  # as a column of its type: texts of any characters are not encoded
    columns = {GRAPH: pd.Series(owner, dtype=owner.dtype), "node": np.arange(len(owner))}
    columns |= {"vertex": nodes.vertex, "time": nodes.time}
    if history is not None:
        values = object_array([*seen.values, None])
        columns["label"] = pd.Series(values[_labels_at(pd, nodes, history)], dtype=object)
    found: Any = from_pandas(
        _edges(pd, nodes, owner, directed),
        pd.DataFrame(columns),
        graphs,
        graph=GRAPH,
        label=None if history is None else "label",
        attributes=("vertex", "time"),
        weight=None,
        edge_label="relation",
        edge_attributes=(),
        directed=True,
        errors=errors,
    )
    vertex, times = (np.empty(0),) * 2 if found.node_attributes is None else found.node_attributes.T
    database = found.with_attributes(None)
    if database.edge_label_column is None:
        database = database.with_edge_labels(np.empty(0, dtype=object))
    names = LabelColumn.from_values(vertices.name[vertex.astype(np.int64)], name="vertices")
    database = database.with_moments(names, times)
    database.skipped = found.skipped
    return database


class _Vertices(NamedTuple):
    """Vertices of all graphs: graph and name of each, and the numbers of both ends of all contacts."""

    graph: NDArray[Any]
    name: NDArray[Any]
    first: Numbers
    second: Numbers
    labeled: Numbers  # the vertex of each row of node_labels

    @classmethod
    def of(cls, pd: Any, contacts: Any, labels: Any, graph: str, source: str, target: str) -> _Vertices:
        tables = [("contacts", contacts[graph], contacts[end]) for end in (source, target)]
        if labels is not None:
            tables.insert(0, ("node_labels", labels[graph], labels["node"]))
        owner, graph_keys = numbered_keys(pd, [(table, keys) for table, keys, _ in tables], "graph")
        name, name_keys = numbered_keys(pd, [(table, ends) for table, _, ends in tables], "vertex")
        number, distinct = pd.factorize(np.concatenate(owner) * max(len(name_keys), 1) + np.concatenate(name))
        parts = np.split(number.astype(np.int64), np.cumsum([len(keys) for _, keys, _ in tables])[:-1])
        graph_of, name_of = np.divmod(np.asarray(distinct, dtype=np.int64), max(len(name_keys), 1))
        labeled = parts.pop(0) if labels is not None else np.empty(0, np.int64)
        names = np.asarray(name_keys)[name_of] if len(distinct) else np.empty(0, dtype=object)
        owners = np.asarray(graph_keys)[graph_of] if len(distinct) else np.empty(0, dtype=object)
        return cls(owners, names, parts[0], parts[1], labeled)


def _labels(column: Any, name: str) -> LabelColumn:
    """Return a column of labels; the place of a label that is not hashable is its row."""
    return LabelColumn.from_values(
        column.to_numpy(dtype=object), name=name, place=f"row {{}} of {name}".format
    )


def _times(table: Any, column: str, name: str) -> Times:
    """Return a column of times as numbers: dates are seconds since 1970, durations are seconds.

    Different times that are the same number to 53 bits are refused.
    """
    values = table[column]
    if values.dtype.kind in "mM":
        array = _seconds_of(values)
    elif values.dtype.kind in "iufb" and isinstance(values.dtype, np.dtype):
        array = values.to_numpy(dtype=np.float64)
    else:
        array = each_number(values.tolist())
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        value = shown(values.iloc[row])
        hint = ": pd.to_datetime reads dates" if values.dtype.kind == "O" else ""
        raise ValueError(
            f"row {row} of {name} needs a finite number or a date as {column!r}, got {value}{hint}"
        )
    exact, order = values.to_numpy(), np.argsort(array, kind="stable")
    same = np.flatnonzero(array[order][1:] == array[order][:-1])
    merged = same[np.asarray(exact[order[same]] != exact[order[same + 1]], dtype=bool)]
    if len(merged):
        first, second = sorted(order[[merged[0], merged[0] + 1]].tolist())
        raise ValueError(
            f"rows {first} and {second} of {name} have the times {exact[first]} and {exact[second]} as "
            f"{column!r}, which are one number to 53 bits: subtract the earliest time from all"
        )
    return np.asarray(array, dtype=np.float64)


def _seconds_of(values: Any) -> Times:
    """Return dates as seconds since 1970, and durations as seconds; NaN if missing.

    Dates of any unit are divided as they are: in nanoseconds, years beyond 2262 would wrap.
    """
    pd = import_optional("pandas", extra="pandas", purpose="dates need")
    is_date = values.dtype.kind == "M"
    plain = (pd.to_datetime(values, utc=True).dt.tz_convert(None) if is_date else values).to_numpy()
    unit: Any = np.datetime_data(plain.dtype)[0]
    in_second = np.timedelta64(1, "s") / np.timedelta64(1, unit)
    return np.where(np.isnat(plain), np.nan, plain.astype(np.int64) / in_second)


class _Nodes(NamedTuple):
    """Nodes: each vertex at each of its times, ordered by vertex and time; ends of contacts as nodes."""

    vertex: Numbers
    time: Times
    first: Numbers
    second: Numbers

    @classmethod
    def of(cls, pd: Any, vertices: _Vertices, times: Times, history: Any) -> _Nodes:
        """Return nodes for both ends of contacts and for changes of labels; one of a vertex without any."""
        ends = [pd.DataFrame({"vertex": end, "time": times}) for end in (vertices.first, vertices.second)]
        contacts = pd.concat(ends, ignore_index=True)
        several, every = [contacts], np.arange(len(vertices.graph))
        begin = pd.Series(0.0, index=every)
        if history is not None:
            before = history.shift()
            is_change = (history["vertex"] == before["vertex"]) & (history["label"] != before["label"])
            several.append(history.loc[is_change, ["vertex", "time"]])
            begin.update(history.groupby("vertex")["time"].first())
        alone = np.setdiff1d(every, pd.concat(several)["vertex"])
        several.append(pd.DataFrame({"vertex": alone, "time": begin[alone].to_numpy()}))
        nodes = pd.concat(several).drop_duplicates().sort_values(["vertex", "time"], ignore_index=True)
        number = pd.MultiIndex.from_frame(nodes).get_indexer(pd.MultiIndex.from_frame(contacts))
        first, second = np.split(number.astype(np.int64), 2)
        vertex, time = (nodes[name].to_numpy() for name in ("vertex", "time"))
        return cls(vertex.astype(np.int64), time.astype(np.float64), first, second)


def _labels_at(pd: Any, nodes: _Nodes, history: Any) -> Numbers:
    """Return the number of the label of each node: the last one up to its time, else the first; -1: none."""
    asked = pd.DataFrame({"vertex": nodes.vertex, "time": nodes.time})
    order = asked.sort_values("time", kind="stable").index
    latest = history.sort_values("time", kind="stable")
    found = pd.merge_asof(asked.loc[order], latest, on="time", by="vertex")["label"].set_axis(order)
    first = asked["vertex"].map(history.groupby("vertex")["label"].first())
    labels: Numbers = found.reindex(asked.index).fillna(first).fillna(-1).to_numpy(dtype=np.int64)
    return labels


def _edges(pd: Any, nodes: _Nodes, owner: NDArray[Any], directed: bool) -> Any:
    """Return the table of edges: an edge leads from the node that receives to the node that it hears."""
    later = np.flatnonzero(np.diff(nodes.vertex) == 0) + 1
    kinds = (  # receiving nodes, heard nodes, relation
        (nodes.second, nodes.first, RECEIVED if directed else CONTACT),
        (nodes.first, nodes.second, SENT if directed else CONTACT),
        (later, later - 1, EARLIER),
        (later - 1, later, LATER),
    )
    parts = [pd.DataFrame({"source": u, "target": v, "relation": kind}) for u, v, kind in kinds]
    table = pd.concat(parts, ignore_index=True).drop_duplicates(ignore_index=True)
    table[GRAPH] = pd.Series(owner[table["source"].to_numpy()], dtype=owner.dtype)
    return table
