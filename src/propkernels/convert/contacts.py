"""Converters of graphs in time: tables of contacts, snapshots, networkx graphs with times, TemporalData."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import kind_of, shown
from propkernels._utils.optional import import_optional
from propkernels.convert.pandas import check_columns, from_pandas, numbered_keys
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.moments import CONTACT, EARLIER, LATER, RECEIVED, RELATIONS, SENT

if TYPE_CHECKING:
    import networkx as nx
    from pandas import DataFrame

Numbers = NDArray[np.int64]
Times = NDArray[np.float64]


def from_contacts(
    contacts: DataFrame | nx.Graph | Sequence[nx.Graph],
    graphs: DataFrame | None = None,
    *,
    graph: str | None = "graph",
    source: str = "source",
    target: str = "target",
    time: str = "time",
    duration: str | None = None,
    delay: str | None = None,
    label: str | None = None,
    node_labels: DataFrame | str | None = None,
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
    contacts : DataFrame, networkx graph, TemporalData, or a list of these
        One row per contact. The order of the two ends counts only if contacts are directed. Or one or several
        networkx (multi)graphs whose edges have the attribute ``time``, or PyG's ``TemporalData``, with their
        positions as graphs; directed networkx graphs have directed contacts.
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
    node_labels : DataFrame or str, optional
        Labels of vertices over time: the columns ``graph`` (as above), "node", ``time`` (as above) and
        "label". A label holds until the next one of its vertex, and the first one also before its time.
        Vertices without contacts may occur here. For networkx graphs: the name of a node attribute, which
        holds a label, or a list of pairs (time, label).
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
    propkernels.convert.from_snapshots : From one graph per time.

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
    if not hasattr(contacts, "columns"):
        names = [time, duration, delay, label]
        table, states, directed = _listed(pd, contacts, names, node_labels, directed)
        graph, source, target = "graph", "source", "target"
    check_columns(table, "contacts", [graph, source, target, time, duration, delay, label])
    if states is not None:
        check_columns(states, "node_labels", [graph, "node", time, "label"])
    if graph is None:
        graph, table = "graph", table.assign(graph=0)
        states = None if states is None else states.assign(graph=0)
    vertices = _Vertices.of(pd, table, states, graph, source, target)
    history = None if states is None else _History.of(states, vertices, time)
    parts = _Parts.of(table, vertices, time, duration, delay, label, directed)
    nodes = _Nodes.of(parts, history, len(vertices.graph))
    found: Any = from_pandas(
        _edges(pd, parts, nodes, vertices, graph),
        _node_table(pd, nodes, vertices, history, graph),
        graphs,
        graph=graph,
        label=None if history is None else "label",
        attributes=("vertex", "time"),
        weight=None,
        edge_label="relation",
        edge_attributes=(),
        directed=True,
        errors=errors,
    )
    return _in_time(found, vertices.name)


def _node_table(pd: Any, nodes: _Nodes, vertices: _Vertices, history: _History | None, graph: str) -> Any:
    """Return the table of nodes: graph, number, vertex, time and label."""
    keys = _keys(pd, vertices.graph[nodes.vertex])
    table = pd.DataFrame({graph: keys, "node": np.arange(len(nodes.vertex))})
    table["vertex"], table["time"] = nodes.vertex, nodes.time
    if history is not None:
        table["label"] = pd.Series(history.labels_at(nodes), dtype=object)
    return table


def _keys(pd: Any, keys: NDArray[Any]) -> Any:
    """Return names of graphs as a column of their type: texts of any characters are not encoded."""
    return pd.Series(keys, dtype=keys.dtype)


def from_snapshots(
    snapshots: Sequence[nx.Graph],
    times: Sequence[float] | None = None,
    *,
    node_label: str | None = None,
    directed: bool = False,
) -> GraphDatabase:
    """Convert snapshots of one graph, whose vertices keep their names, to a graph in time.

    Parameters
    ----------
    snapshots : list of networkx graphs
        An edge of a snapshot is a contact at its time.
    times : sequence of float, optional
        Time of each snapshot, by default 0, 1, 2, ...
    node_label : str, optional
        Node attribute with the label of a vertex at the time of the snapshot.
    directed : bool, default=False
        Whether information crosses from source to target only.

    Returns
    -------
    GraphDatabase
        One graph in time.

    See Also
    --------
    from_contacts : From a table of contacts, for many graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> from propkernels.convert import from_snapshots
    >>> from_snapshots([nx.path_graph(3), nx.path_graph(2)])
    GraphDatabase(1 graph, 5 nodes, 5 edges, 3 edge labels, in time)
    """
    pd = import_optional("pandas", extra="pandas", purpose="from_snapshots needs")
    several = _snapshots(snapshots)
    moments = range(len(several)) if times is None else _listed_times(times)
    if len(moments) != len(several):
        raise ValueError(f"times must hold one time for each of {len(several)} snapshots, got {len(moments)}")
    edges = [(u, v, t) for t, one in zip(moments, several, strict=True) for u, v in one.edges()]
    contacts = _table(pd, edges, ("source", "target", "time"))
    seen = [
        (v, t, None if node_label is None else values.get(node_label))
        for t, one in zip(moments, several, strict=True)
        for v, values in one.nodes(data=True)
    ]
    labels = _table(pd, seen, ("node", "time", "label"))
    database = from_contacts(contacts, graph=None, node_labels=labels, directed=directed)
    return database if node_label is not None else database.with_labels(None)


def _snapshots(snapshots: Any) -> list[Any]:
    """Return snapshots as a list; raise an error if one is no networkx graph, or if there is none."""
    if hasattr(snapshots, "nodes") or not isinstance(snapshots, Iterable):
        raise TypeError(f"snapshots must be a list of networkx graphs, got {kind_of(snapshots)}")
    several = list(snapshots)
    for number, one in enumerate(several):
        if not (hasattr(one, "edges") and hasattr(one, "nodes")):
            raise TypeError(f"snapshot {number} must be a networkx graph, got {kind_of(one)}")
    if not several:
        raise ValueError("snapshots must hold at least one graph")
    return several


def _listed_times(times: Any) -> list[float]:
    """Return the times of snapshots as numbers."""
    several = list(times) if isinstance(times, Iterable) else [np.nan]
    numbers = [_number(time) for time in several]
    if not np.isfinite(numbers).all():
        raise ValueError(f"times must hold one finite number for each snapshot, got {shown(times)}")
    return numbers


def _table(pd: Any, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> Any:
    """Return rows as a DataFrame whose keys may be of any type."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return pd.DataFrame(
        {
            name: pd.Series(column, dtype=float if name == "time" else object)
            for name, column in zip(names, columns, strict=True)
        }
    )


def _listed(
    pd: Any, contacts: Any, names: Sequence[str | None], node_labels: Any, directed: bool
) -> tuple[Any, Any, bool]:
    """Return tables of contacts and labels of networkx graphs or TemporalData; and whether directed."""
    several = list(contacts) if isinstance(contacts, (list, tuple)) else [contacts]
    rows: list[tuple[Any, ...]] = []
    labels: list[tuple[Any, ...]] = []
    for number, one in enumerate(several):
        if hasattr(one, "edges") and hasattr(one, "is_directed"):
            directed = directed or bool(one.is_directed())
            rows += _networkx_contacts(one, number, names)
            labels += _networkx_labels(one, number, node_labels)
        elif all(hasattr(one, name) for name in ("src", "dst", "t")):
            ends = [np.asarray(values).ravel().tolist() for values in (one.src, one.dst, one.t)]
            if len(set(map(len, ends))) > 1:
                sizes = ", ".join(str(len(values)) for values in ends)
                raise ValueError(f"src, dst and t of graph {number} must have one length, got {sizes}")
            rows += [(number, u, v, t, *[None] * (len(names) - 1)) for u, v, t in zip(*ends, strict=True)]
        else:
            raise TypeError(
                "contacts must be a DataFrame, networkx graphs or PyG's TemporalData, "
                f"got {kind_of(one)} at position {number}"
            )
    columns = ["graph", "source", "target", *(name or f"none {i}" for i, name in enumerate(names))]
    table = pd.DataFrame(rows, columns=columns)
    if not isinstance(node_labels, str):
        return table, node_labels, directed
    return table, pd.DataFrame(labels, columns=["graph", "node", names[0], "label"]), directed


def _networkx_contacts(one: Any, number: int, names: Sequence[str | None]) -> list[tuple[Any, ...]]:
    """Return (graph, source, target, time, duration, delay, label) of each edge."""
    rows = []
    for u, v, values in one.edges(data=True):
        missing = [name for name in names if name is not None and name not in values]
        if missing:
            raise ValueError(
                f"the edge {shown(u)} - {shown(v)} of graph {number} has no attribute {missing[0]!r}; "
                f"it has {sorted(map(str, values))}"
            )
        rows.append((number, u, v, *(None if name is None else values[name] for name in names)))
    return rows


def _networkx_labels(one: Any, number: int, attribute: Any) -> list[tuple[Any, ...]]:
    """Return (graph, node, time, label) of each label of each node."""
    if not isinstance(attribute, str):
        return []
    rows = []
    for node, values in one.nodes(data=True):
        value = values.get(attribute)
        pairs = value if isinstance(value, list) else [(0.0, value)]
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(
                    f"labels of node {shown(node)} of graph {number} must be pairs (time, label), "
                    f"got {shown(pair)}"
                )
        rows += [(number, node, when, label) for when, label in pairs]
    return rows


def _in_time(database: GraphDatabase, names: NDArray[Any]) -> GraphDatabase:
    """Return a database whose attributes are vertex and time as graphs in time."""
    attributes = database.node_attributes
    vertex, times = (np.empty(0), np.empty(0)) if attributes is None else attributes.T
    column = LabelColumn.from_values(names[vertex.astype(np.int64)], name="vertices")
    skipped = database.skipped
    graphs = database.with_attributes(None)
    if graphs.edge_label_column is None:
        graphs = graphs.with_edge_labels(np.empty(0, dtype=object))
    graphs = graphs.with_moments(column, times)
    graphs.skipped = skipped
    return graphs


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
        key = owner.astype(np.int64) * max(len(name_keys), 1) + name
        number, distinct = pd.factorize(key)
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
    """Return a column of times as numbers: dates are seconds since 1970, durations are seconds."""
    values = table[column]
    if values.dtype.kind in "mM":
        array = seconds_of(values)
    elif values.dtype.kind in "iufb" and isinstance(values.dtype, np.dtype):
        array = values.to_numpy(dtype=np.float64)
    else:
        array = np.array([_number(value) for value in values.tolist()], dtype=np.float64)
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        value = shown(values.iloc[row])
        raise ValueError(f"row {row} of {name} needs a finite number or a date as {column!r}, got {value}")
    _check_apart(values, array, column, name)
    return np.asarray(array, dtype=np.float64)


def _check_apart(values: Any, times: Times, column: str, name: str) -> None:
    """Raise ValueError for different times that are the same number, to 53 bits."""
    exact = values.to_numpy()
    order = np.argsort(times, kind="stable")
    same = np.flatnonzero(times[order][1:] == times[order][:-1])
    merged = same[np.asarray(exact[order[same]] != exact[order[same + 1]], dtype=bool)]
    if len(merged):
        first, second = sorted(order[[merged[0], merged[0] + 1]].tolist())
        raise ValueError(
            f"rows {first} and {second} of {name} have the times {exact[first]} and {exact[second]} as "
            f"{column!r}, which are one number to 53 bits: subtract the earliest time from all"
        )


def seconds_of(values: Any) -> Times:
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
            if (values < 0).any():
                wrong = int(np.flatnonzero(values < 0)[0])
                raise ValueError(f"the column {column!r} of contacts is negative in row {wrong}")
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
    def of(cls, parts: _Parts, history: Any, n_vertices: int) -> _Nodes:
        lists = [(parts.sender, parts.sent), (parts.receiver, parts.received)]
        if history is not None:
            lists.append((history.vertex[history.is_change], history.time[history.is_change]))
        met = np.zeros(n_vertices, dtype=bool)
        for vertex, _ in lists:
            met[vertex] = True
        alone = np.flatnonzero(~met)
        begin = np.zeros(len(alone)) if history is None else history.first_time(alone)
        vertices = np.concatenate([*(vertex for vertex, _ in lists), alone])
        times = np.concatenate([*(time for _, time in lists), begin])
        order = np.lexsort((times, vertices))
        ordered = vertices[order], times[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (ordered[0][1:] != ordered[0][:-1]) | (ordered[1][1:] != ordered[1][:-1])
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(is_new) - 1
        n = len(parts.sender)
        return cls(ordered[0][is_new], ordered[1][is_new], number[:n], number[n : 2 * n])


class _History(NamedTuple):
    """Labels of vertices over time, ordered by vertex and time."""

    vertex: Numbers
    time: Times
    labels: LabelColumn
    is_change: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Any, vertices: _Vertices, time: str) -> _History:
        times, labels = _times(table, time, "node_labels"), _labels(table["label"], "node_labels")
        order = np.lexsort((np.arange(len(times)), times, vertices.labeled))
        vertex, times, labels = vertices.labeled[order], times[order], labels.take(order)
        is_change = np.zeros(len(order), dtype=bool)
        is_change[1:] = (np.diff(vertex) == 0) & (np.diff(labels.ids) != 0)
        return cls(vertex, times, labels, is_change)

    def first_time(self, vertices: Numbers) -> Times:
        """Return the time of the first label of each vertex; 0 without a label."""
        if not len(self.vertex):
            return np.zeros(len(vertices))
        at = np.minimum(np.searchsorted(self.vertex, vertices), len(self.vertex) - 1)
        return np.where(self.vertex[at] == vertices, self.time[at], 0.0)

    def labels_at(self, nodes: _Nodes) -> NDArray[Any]:
        """Return the label of each node: the last one up to its time, else the first; None without any."""
        if not len(self.vertex):
            return np.full(len(nodes.vertex), None, dtype=object)
        keys = np.concatenate([self.vertex, nodes.vertex])
        times = np.concatenate([self.time, nodes.time])
        is_node = np.arange(len(keys)) >= len(self.vertex)
        order = np.lexsort((is_node, times, keys))
        last = np.cumsum(~is_node[order]) - 1  # the last label before each node, of any vertex
        at = np.empty(len(nodes.vertex), dtype=np.int64)
        at[order[is_node[order]] - len(self.vertex)] = last[is_node[order]]
        first = np.searchsorted(self.vertex, nodes.vertex)
        at = np.maximum(at, first)
        is_known = (at < len(self.vertex)) & (
            self.vertex[np.minimum(at, len(self.vertex) - 1)] == nodes.vertex
        )
        table = np.empty(len(self.labels.values) + 1, dtype=object)
        table[:] = [*self.labels.values, None]
        return table[np.where(is_known, self.labels.ids[np.where(is_known, at, 0)], -1)]


def _edges(pd: Any, parts: _Parts, nodes: _Nodes, vertices: _Vertices, graph: str) -> Any:
    """Return the table of edges: an edge leads from the node that receives to the node that it hears."""
    kinds = [np.where(parts.mutual, RELATIONS.index(CONTACT), RELATIONS.index(RECEIVED))]
    rows, columns, owners = [nodes.receiver], [nodes.sender], [parts.row]
    one_way = np.flatnonzero(~parts.mutual)
    rows.append(nodes.sender[one_way])
    columns.append(nodes.receiver[one_way])
    kinds.append(np.full(len(one_way), RELATIONS.index(SENT)))
    owners.append(parts.row[one_way])
    later = np.flatnonzero(np.diff(nodes.vertex) == 0) + 1
    for ends, kind in (((later, later - 1), EARLIER), ((later - 1, later), LATER)):
        rows.append(ends[0])
        columns.append(ends[1])
        kinds.append(np.full(len(later), RELATIONS.index(kind)))
        owners.append(np.full(len(later), -1))
    source, target, relation = np.concatenate(rows), np.concatenate(columns), np.concatenate(kinds)
    number = np.full(len(relation), -1)
    if parts.labels is not None:
        owner = np.concatenate(owners)
        number = np.where(owner >= 0, np.append(parts.labels.ids, -1)[owner], -1)
    kept = _first_ones(pd, source, target, relation, number)
    source, target, relation, number = source[kept], target[kept], relation[kept], number[kept]
    return pd.DataFrame(
        {
            graph: _keys(pd, vertices.graph[nodes.vertex[source]]),
            "source": source,
            "target": target,
            "relation": _relations(pd, relation, number, parts.labels),
        }
    )


def _first_ones(pd: Any, *columns: Numbers) -> Numbers:
    """Return the rows that are not equal to an earlier row."""
    sizes = [int(column.max(initial=0)) + 2 for column in columns]  # entries are -1 or larger
    if math.prod(sizes) >= 2**62:
        frame = pd.DataFrame(dict(enumerate(columns)))
        return np.flatnonzero(~frame.duplicated().to_numpy())
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key *= size
        key += column + 1
    return np.flatnonzero(~pd.Series(key).duplicated().to_numpy())


def _relations(pd: Any, kinds: Numbers, numbers: Numbers, labels: LabelColumn | None) -> Any:
    """Return the relation of each edge; (relation, label) where its contact has a label."""
    if labels is None:
        return pd.Categorical.from_codes(kinds, categories=list(RELATIONS))
    pairs = [
        RELATIONS[kind] if number < 0 else (RELATIONS[kind], labels.values[number])
        for kind, number in zip(kinds.tolist(), numbers.tolist(), strict=True)
    ]
    return pd.Series(object_array(pairs), dtype=object)
