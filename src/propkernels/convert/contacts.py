"""Converter of tables of contacts to graphs in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels.convert.pandas import check_columns, from_pandas, numbered_keys
from propkernels.convert.table_columns import warn_unused
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.moments import CONTACT, EARLIER, LATER, RECEIVED, RELATIONS, SENT

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
    duration: str | None = None,
    delay: str | None = None,
    label: str | None = None,
    node_labels: DataFrame | None = None,
    directed: bool = False,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert a table of contacts to graphs in time.

    A vertex becomes one node per time at which something happens to it: a contact begins, ends or arrives, or
    its label changes. Edges join nodes that are in contact (relation "contact"; "received" and "sent" for
    directed or delayed contacts), and each node to the same vertex before and after ("earlier", "later").
    Kernels with ``time="forward"`` pass information along contacts and forwards in time only.

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
    duration : str, optional
        Column with the duration of contacts: information may cross at the beginning and at the end.
    delay : str, optional
        Column with the time that information needs to cross.
    label : str, optional
        Column with labels of contacts.
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
    check_columns(table, "contacts", [graph, source, target, time, duration, delay, label])
    if states is not None:
        check_columns(states, "node_labels", [graph, "node", time, "label"])
    used = (graph, source, target, time, duration, delay, label)
    if unused := [name for name in table if name not in used]:
        warn_unused(unused, "contacts", "name a column as label to use it", stacklevel=3)
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
    parts = _Parts.of(table, vertices, time, duration, delay, label, directed)
    nodes = _Nodes.of(pd, parts, history, len(vertices.graph))
    owner = vertices.graph[nodes.vertex]  # as a column of its type: texts of any characters are not encoded
    columns = {GRAPH: pd.Series(owner, dtype=owner.dtype), "node": np.arange(len(owner))}
    columns |= {"vertex": nodes.vertex, "time": nodes.time}
    if history is not None:
        values = object_array([*seen.values, None])
        columns["label"] = pd.Series(values[_labels_at(pd, nodes, history)], dtype=object)
    found: Any = from_pandas(
        _edges(pd, parts, nodes, owner),
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


def _number(value: Any) -> float:
    """Return a cell of a table as a number; NaN for anything else."""
    try:
        return float(value) if np.ndim(value) == 0 and not isinstance(value, (str, bytes)) else np.nan
    except Exception:  # cells may raise any error
        return np.nan


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
        array = np.array([_number(value) for value in values.tolist()], dtype=np.float64)
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


class _Parts(NamedTuple):
    """Moments at which information crosses: the sender with its time, the receiver with its time."""

    sender: Numbers
    sent: Times
    receiver: Numbers
    received: Times
    mutual: NDArray[np.bool_]  # whether both ends receive at the same time
    row: Numbers  # the row of the contact
    labels: LabelColumn | None

    @classmethod
    def of(
        cls,
        contacts: Any,
        vertices: _Vertices,
        time: str,
        duration: str | None,
        delay: str | None,
        label: str | None,
        directed: bool,
    ) -> _Parts:
        begin, rows = _times(contacts, time, "contacts"), np.arange(len(contacts))
        length = np.zeros(len(contacts)) if duration is None else _times(contacts, duration, "contacts")
        late = np.zeros(len(contacts)) if delay is None else _times(contacts, delay, "contacts")
        for column, values in ((duration, length), (delay, late)):
            with np.errstate(over="ignore"):
                ends = begin + values
            is_lost = (values > 0) & ((ends == begin) | np.isinf(ends))
            for is_wrong, what in ((values < 0, "negative"), (is_lost, "lost beside the time")):
                if is_wrong.any():
                    wrong = int(np.flatnonzero(is_wrong)[0])
                    raise ValueError(f"the column {column!r} of contacts is {what} in row {wrong}")
        lasting = length > 0
        row = np.concatenate([rows, rows[lasting]])
        sent = np.concatenate([begin, (begin + length)[lasting]])
        first, second, late = vertices.first[row], vertices.second[row], late[row]
        labels = None if label is None else _labels(contacts[label], "contacts")
        if not directed:
            first, second = np.concatenate([first, second]), np.concatenate([second, first])
            sent, late, row = np.tile(sent, 2), np.tile(late, 2), np.tile(row, 2)
        mutual = (late == 0) & (not directed)
        return cls(first, sent, second, sent + late, mutual, row, labels)


class _Nodes(NamedTuple):
    """Nodes: each vertex at each of its times, ordered by vertex and time; ends of crossings as nodes."""

    vertex: Numbers
    time: Times
    sender: Numbers
    receiver: Numbers

    @classmethod
    def of(cls, pd: Any, parts: _Parts, history: Any, n_vertices: int) -> _Nodes:
        """Return nodes for both ends of crossings and for changes of labels; one of a vertex without any."""
        ends = [(parts.sender, parts.sent), (parts.receiver, parts.received)]
        several = [pd.DataFrame({"vertex": vertex, "time": time}) for vertex, time in ends]
        crossings = pd.concat(several, ignore_index=True)
        begin = pd.Series(0.0, index=np.arange(n_vertices))
        if history is not None:
            before = history.shift()
            is_change = (history["vertex"] == before["vertex"]) & (history["label"] != before["label"])
            several.append(history.loc[is_change, ["vertex", "time"]])
            begin.update(history.groupby("vertex")["time"].first())
        alone = np.setdiff1d(np.arange(n_vertices), pd.concat(several)["vertex"])
        several.append(pd.DataFrame({"vertex": alone, "time": begin[alone].to_numpy()}))
        nodes = pd.concat(several).drop_duplicates().sort_values(["vertex", "time"], ignore_index=True)
        number = pd.MultiIndex.from_frame(nodes).get_indexer(pd.MultiIndex.from_frame(crossings))
        sender, receiver = np.split(number.astype(np.int64), 2)
        vertex, time = (nodes[name].to_numpy() for name in ("vertex", "time"))
        return cls(vertex.astype(np.int64), time.astype(np.float64), sender, receiver)


def _labels_at(pd: Any, nodes: _Nodes, history: Any) -> Numbers:
    """Return the number of the label of each node: the last one up to its time, else the first; -1: none."""
    asked = pd.DataFrame({"vertex": nodes.vertex, "time": nodes.time})
    order = asked.sort_values("time", kind="stable").index
    latest = history.sort_values("time", kind="stable")
    found = pd.merge_asof(asked.loc[order], latest, on="time", by="vertex")["label"].set_axis(order)
    first = asked["vertex"].map(history.groupby("vertex")["label"].first())
    labels: Numbers = found.reindex(asked.index).fillna(first).fillna(-1).to_numpy(dtype=np.int64)
    return labels


def _edges(pd: Any, parts: _Parts, nodes: _Nodes, owner: NDArray[Any]) -> Any:
    """Return the table of edges: an edge leads from the node that receives to the node that it hears."""
    one_way, later = np.flatnonzero(~parts.mutual), np.flatnonzero(np.diff(nodes.vertex) == 0) + 1
    none = np.full(len(later), -1)  # the row of no contact
    number = {name: i for i, name in enumerate(RELATIONS)}
    kinds = (  # receiving nodes, heard nodes, relation, row of the contact
        (nodes.receiver, nodes.sender, np.where(parts.mutual, number[CONTACT], number[RECEIVED]), parts.row),
        (nodes.sender[one_way], nodes.receiver[one_way], one_way * 0 + number[SENT], parts.row[one_way]),
        (later, later - 1, later * 0 + number[EARLIER], none),
        (later - 1, later, later * 0 + number[LATER], none),
    )
    source, target, relation, row = (np.concatenate(columns) for columns in zip(*kinds, strict=True))
    label = np.full(len(row), -1)
    if parts.labels is not None:
        label = np.where(row >= 0, np.append(parts.labels.ids, -1)[row], -1)
    table = pd.DataFrame({"source": source, "target": target, "relation": relation, "label": label})
    table = table.drop_duplicates(ignore_index=True)
    relations = pd.Categorical.from_codes(table["relation"], categories=list(RELATIONS))
    if parts.labels is not None:  # a contact with a label has (relation, label)
        pairs = zip(relations, table["label"].tolist(), strict=True)
        labeled = [kind if at < 0 else (kind, parts.labels.values[at]) for kind, at in pairs]
        relations = pd.Series(object_array(labeled), dtype=object)
    table["relation"] = relations
    table[GRAPH] = pd.Series(owner[table["source"].to_numpy()], dtype=owner.dtype)
    return table.drop(columns="label")
