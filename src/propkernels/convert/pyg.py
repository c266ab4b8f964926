"""Converters from and to PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_indices, check_offsets, check_whole
from propkernels._utils.checks import check_choice, reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Column, Target
from propkernels.convert.build import (
    Faults,
    FlatGraphs,
    build,
    check_n_nodes,
    check_name,
    guarded,
    listed,
    numbers,
    read_targets,
    with_target,
)
from propkernels.convert.listing import list_edges
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

if TYPE_CHECKING:
    from torch_geometric.data import Data

Table = NDArray[Any]
MEANINGS = ("auto", "labels", "attributes", "ignore")


def from_pyg(
    graphs: Iterable[Data],
    *,
    x: str = "auto",
    edge_attr: str = "auto",
    weight: str | None = "edge_weight",
    target: str | None = None,
    ids: Column | None = None,
    errors: str = "raise",
) -> GraphDatabase | Any:
    """Convert PyTorch Geometric graphs to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence of Data, a Batch, or a dataset
        Or dictionaries with these names or those of OGB (``node_feat``, ``edge_feat``). Edges are those of
        ``edge_index``, from source to target; PyTorch Geometric lists an undirected edge
        in both directions.
    x, edge_attr : {"auto", "labels", "attributes", "ignore"}, default="auto"
        Meaning of ``x`` and ``edge_attr``. "auto": labels if all rows are one-hot or of an integer type
        (several columns become tuples); else attributes. ``node_type`` and ``edge_type``, if present, are the
        labels.
    weight : str or None, default="edge_weight"
        Name of the edge weights, if present.
    target : str, optional
        Name of the target, usually "y".
    ids : sequence, optional
        Ids of the graphs.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid graph, leave it out, or make it a graph without nodes (see
        ``graphs.skipped``).

    Returns
    -------
    GraphDatabase, or (GraphDatabase, ndarray) with ``target``

    See Also
    --------
    propkernels.convert.to_pyg : Back to PyTorch Geometric.
    from_networkx : From networkx.

    Examples
    --------
    Objects with the same attributes are accepted, so this example does not need torch:

    >>> import numpy as np, propkernels as pk
    >>> from types import SimpleNamespace
    >>> edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> data = SimpleNamespace(edge_index=edges, x=np.eye(3), num_nodes=3, y=np.array([1]))
    >>> pk.from_pyg([data], target="y")
    (GraphDatabase(1 graph, 3 nodes, 2 edges, 3 node labels), array([1]))
    """
    check_choice(x, MEANINGS, "x")
    check_choice(edge_attr, MEANINGS, "edge_attr")
    if is_pyg(graphs):
        if _get(graphs, "ptr") is None:
            raise TypeError(
                "from_pyg takes a list of graphs, a Batch or a dataset; wrap the one graph: [data]"
            )
        database, faults = _from_batch(graphs, x, edge_attr, weight, ids, errors)
        return database if target is None else with_target(database, _batch_target(graphs, target), faults)
    several = listed(graphs, "graphs")
    faults = Faults(errors, len(several), ids)
    database = convert(several, faults, x, edge_attr, weight)
    check_name(several, "weight", weight, "edge_weight", _names)
    check_name(several, "target", target, None, _names)
    return database if target is None else with_target(database, _targets(several, target, faults), faults)


def _names(graph: Any) -> Iterator[str]:
    """Yield the names of the data of a graph."""
    keys = graph.keys() if callable(getattr(graph, "keys", None)) else getattr(graph, "keys", None)
    yield from vars(graph) if keys is None else keys


OGB_NAMES = {"x": "node_feat", "edge_attr": "edge_feat"}  # of the dictionaries of OGB


def is_pyg(thing: Any) -> bool:
    """Return whether an object has the attributes of ``Data``, or is a dictionary with an edge_index."""
    if isinstance(thing, dict):
        return "edge_index" in thing
    if is_dataset(thing):
        return False
    return hasattr(type(thing), "edge_index") or (_has(thing, "edge_index") and _has(thing, "num_nodes"))


def is_dataset(thing: Any) -> bool:
    """Return whether an object is a dataset, which also has the attributes of ``Data``."""
    return _has(thing, "get") and _has(thing, "indices") and _has(thing, "slices")


def _has(thing: Any, name: str) -> bool:
    """Return whether an object has an attribute, even if its property raises an error."""
    try:
        return hasattr(thing, name)
    except Exception:
        return True


def _get(graph: Any, name: str) -> Any:
    if isinstance(graph, dict):
        return graph.get(name, graph.get(OGB_NAMES.get(name)))
    value = getattr(graph, name, None)
    return None if callable(value) else value


@guarded
def convert(
    graphs: list[Any],
    faults: Faults,
    x: str = "auto",
    edge_attr: str = "auto",
    weight: str | None = "edge_weight",
) -> GraphDatabase:
    """Return the database of a list of Data."""
    sizes, counts = np.zeros((2, len(graphs)), dtype=np.int64)
    ends = []
    for i, graph in enumerate(graphs):
        if i in faults.found:
            continue
        with faults.reading(i):
            index = _get(graph, "edge_index")
            if index is None:
                faults.add(i, f"is a {type(graph).__name__} without an edge_index", TypeError, " ")
                continue
            own = _checked_ends(to_numpy(index))
            if isinstance(own, str):
                faults.add(i, own)
                continue
            sizes[i] = check_n_nodes(_n_nodes(graph, own), i, faults)
            if i in faults.found:
                continue
            counts[i] = own.shape[1]
            ends.append(own)
    source, target = np.concatenate([np.empty((2, 0), dtype=np.int64), *ends], axis=1)
    tables = {
        name: _stacked(graphs, name, per, faults)
        for name, per in (("x", sizes), ("node_type", sizes), ("edge_attr", counts), ("edge_type", counts))
    }
    weights = None if weight is None else _stacked(graphs, weight, counts, faults)
    return build(_flat(sizes, counts, source, target, tables, weights, x, edge_attr), faults)


def _flat(
    sizes: Table,
    counts: Table,
    source: Table,
    target: Table,
    tables: dict[str, Any],
    weights: Any,
    x: str,
    edge_attr: str,
) -> FlatGraphs:
    labels, rows = _told_apart(tables["node_type"], tables["x"], x)
    edge_labels, edge_rows = _told_apart(tables["edge_type"], tables["edge_attr"], edge_attr)
    flat_weights = None if weights is None else _numbers(weights, "weights").reshape(-1)
    return FlatGraphs(
        sizes,
        counts,
        source,
        target,
        True,
        flat_weights,
        labels,
        rows,
        edge_labels,
        edge_rows,
    )


def _told_apart(types: Any, table: Any, meaning: str) -> tuple[LabelColumn | None, Table | None]:
    """Return labels and attributes; if there are types, the table is attributes."""
    if types is None:
        return labels_or_attributes(table, meaning)
    meaning = "attributes" if meaning == "auto" else meaning
    return as_labels(types), labels_or_attributes(table, meaning)[1]


def _checked_ends(ends: Table) -> Table | str:
    """Return the ends of edges as int64 of shape (2, edges), or the reason why they are invalid."""
    if not ends.size:
        return np.empty((2, 0), dtype=np.int64)
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        return f"edge_index must hold whole numbers in two rows, got shape {ends.shape} of {ends.dtype}"
    return check_whole(ends.ravel(), "edge_index").astype(np.int64).reshape(2, -1)


def _n_nodes(graph: Any, ends: Table) -> Any:
    """Return the declared number of nodes of a graph, or that of its rows or edges."""
    number, rows = _get(graph, "num_nodes"), _get(graph, "x")
    if number is None and rows is None:
        return int(ends.max()) + 1 if ends.size else 0
    return len(rows) if number is None else number


def _numbers(table: Table, name: str) -> Table:
    values = numbers(table)
    if values is None:
        raise ValueError(f"{name} must be numbers, got values of dtype {table.dtype}")
    return values


def _stacked(graphs: list[Any], name: str, lengths: Table, faults: Faults) -> Table | None:
    """Return a tensor of all graphs, stacked; it is optional for graphs without nodes (or edges)."""
    parts: list[Table | None] = []
    first: int | None = None
    for i, graph in enumerate(graphs):
        tensor = None if i in faults.found else _get(graph, name)
        own = None if tensor is None else to_numpy(tensor)
        own = own[:, None] if own is not None and own.ndim == 1 else own
        parts.append(own)
        if own is not None and first is None and lengths[i]:
            first = i
    if first is None:
        return None
    like = parts[first]
    assert like is not None
    filled = []
    for i, own in enumerate(parts):
        if own is None or own.shape[1:] != like.shape[1:] or len(own) != lengths[i]:
            if i not in faults.found and lengths[i]:
                faults.add(i, f"{name} must be of shape {(int(lengths[i]), *like.shape[1:])}, {_shape(own)}")
            own = np.zeros((int(lengths[i]), *like.shape[1:]), dtype=like.dtype)
        filled.append(own)
    return np.concatenate(filled)


def _shape(own: Table | None) -> str:
    return "but there is none" if own is None else f"got {own.shape}"


def _from_batch(
    batch: Any, x: str, edge_attr: str, weight: str | None, ids: Any, errors: str
) -> tuple[GraphDatabase, Faults]:
    """Return the database of a Batch, whose graphs are concatenated already."""
    try:
        ptr = check_offsets(to_numpy(batch.ptr), _batch_nodes(batch), "ptr", piece="graph")
        faults = Faults(errors, len(ptr) - 1, ids)
        flat = _flat_batch(batch, ptr, x, edge_attr, weight)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"the batch cannot be read ({reason_of(error)})") from None
    return build(flat, faults), faults


def _flat_batch(batch: Any, ptr: Table, x: str, edge_attr: str, weight: str | None) -> FlatGraphs:
    ends = _checked_ends(to_numpy(batch.edge_index))
    if isinstance(ends, str):
        raise ValueError(ends)
    n_nodes, n_edges = int(ptr[-1]), ends.shape[1]
    check_indices(ends.ravel(), n_nodes, "edge_index")
    graph = np.searchsorted(ptr, ends[0], side="right") - 1
    order = np.argsort(graph, kind="stable")
    source, target = (ends - ptr[graph])[:, order]
    counts = np.bincount(graph, minlength=len(ptr) - 1)
    tables = {name: _table(batch, name, n_nodes) for name in ("x", "node_type")}
    tables |= {name: _table(batch, name, n_edges, order) for name in ("edge_attr", "edge_type")}
    weights = None if weight is None else _table(batch, weight, n_edges, order)
    if weights is not None and weights.size != n_edges:
        raise ValueError(f"{weight} must hold one number per edge, got shape {weights.shape}")
    return _flat(np.diff(ptr), counts, source, target, tables, weights, x, edge_attr)


def _batch_nodes(batch: Any) -> int:
    """Return the number of nodes of a Batch, or its last offset; raise an error if it exceeds memory."""
    number = _get(batch, "num_nodes")
    last = to_numpy(batch.ptr).reshape(-1)[-1:].tolist()
    return check_n_nodes((last or [0])[0] if number is None else number, 0, Faults("raise", 1, noun="batch"))


def _table(batch: Any, name: str, n_rows: int, order: Any = slice(None)) -> Table | None:
    """Return a tensor of a batch; values of edges are reordered with their edges."""
    tensor = _get(batch, name)
    if tensor is None:
        return None
    table = to_numpy(tensor)
    if table.ndim == 0 or len(table) != n_rows:
        raise ValueError(f"{name} must have {n_rows} rows, got shape {table.shape}")
    return np.asarray(table[order])


def _batch_target(batch: Any, name: str) -> Table:
    n = len(batch.ptr) - 1
    try:
        values = to_numpy(getattr(batch, name))
        return values if len(values) == n else values.reshape(n, -1)
    except Exception as error:
        raise ValueError(f"{name} of the batch must hold {n} targets ({reason_of(error)})") from None


def _targets(graphs: list[Any], name: str, faults: Faults) -> Table:
    """Return one value or row per graph; NaN for graphs without a target."""

    def read(graph: Any) -> Table:
        row = _get(graph, name)
        return np.array([np.nan]) if row is None else to_numpy(row).reshape(-1)

    rows = read_targets(graphs, read, faults)
    values = [np.array([np.nan]) if row is None else row for row in rows]
    same = len({len(value) for value in values}) == 1
    table = np.stack(values) if same else np.array([*values, None], dtype=object)[:-1]
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def to_numpy(tensor: Any) -> Table:
    """Return the values of a tensor on any device, or of an array."""
    for method in ("detach", "cpu"):
        tensor = getattr(tensor, method)() if hasattr(tensor, method) else tensor
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


def is_one_hot(table: Table) -> bool:
    """Return whether all rows are one-hot, with at least two columns."""
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        return False
    return bool((((table == 0) | (table == 1)).all()) and (table.sum(axis=1) == 1).all())


def as_labels(table: Table) -> LabelColumn:
    """Return labels of rows: the column of a one-hot row, a single value, or a tuple of values."""
    if is_one_hot(table):
        return LabelColumn.from_values(table.argmax(axis=1))
    flat = table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table
    if flat.ndim == 1:
        return LabelColumn.from_values(flat)
    rows, ids = np.unique(flat, axis=0, return_inverse=True)
    return LabelColumn(ids.ravel().astype(np.int32), tuple(map(tuple, rows.tolist())))


def labels_or_attributes(table: Table | None, meaning: str) -> tuple[LabelColumn | None, Table | None]:
    """Return rows as labels or as attributes.

    Parameters
    ----------
    table : ndarray or None
    meaning : {"auto", "labels", "attributes", "ignore"}
        "auto": labels if rows are one-hot or of an integer type, else attributes.
    """
    if table is None or meaning == "ignore" or (table.ndim == 2 and table.shape[1] == 0):
        return None, None
    if meaning == "auto":
        meaning = "labels" if table.dtype.kind in "biu" or is_one_hot(table) else "attributes"
    if meaning == "labels":
        return as_labels(table), None
    return None, _numbers(table, "attributes").reshape(len(table), -1)


def to_pyg(graphs: Graphs, target: Target | None = None) -> list[Data]:
    """Convert graphs to PyTorch Geometric, which must be installed together with torch.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
    target : sequence, optional
        One value per graph, as ``y``.

    Returns
    -------
    list of torch_geometric.data.Data
        ``x`` holds the attributes, or the labels one-hot where there are none; labels are also
        ``node_type`` and ``edge_type``, as positions in the sorted labels of all graphs; ``edge_attr`` holds
        the attributes of edges and ``edge_weight`` the weights, where they are not all 1.

    See Also
    --------
    from_pyg : From PyTorch Geometric.

    Examples
    --------
    >>> import propkernels as pk
    >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"])
    >>> pk.convert.to_pyg(pair)                                                            # doctest: +SKIP
    [Data(x=[2, 2], edge_index=[2, 2], num_nodes=2, node_type=[2])]
    """
    from propkernels.convert.check import check_graphs

    torch = import_optional("torch", extra="pyg", purpose="to_pyg needs")
    kind = import_optional("torch_geometric.data", extra="pyg", purpose="to_pyg needs").Data
    database = check_graphs(graphs)
    columns = (_numbered(database.label_column), _numbered(database.edge_label_column))
    ptr, entries = database.graph_ptr, database.adjacency.indptr[database.graph_ptr]
    twins = []
    for i, graph in enumerate(database):
        nodes, edges = slice(ptr[i], ptr[i + 1]), slice(entries[i], entries[i + 1])
        fields = _fields(graph, columns, nodes, edges, not database.is_unweighted)
        fields |= {} if target is None else {"y": np.atleast_1d(np.asarray(target)[i])}
        tensors = {name: torch.as_tensor(value) for name, value in fields.items()}
        twins.append(kind(num_nodes=graph.n_nodes, **tensors))
    return twins


def _numbered(column: Any) -> tuple[Table, int] | None:
    """Return positions of labels among the sorted values (-1: unobserved), and the number of values."""
    if not isinstance(column, LabelColumn):
        return None
    values = column.values
    order = sorted(range(len(values)), key=lambda i: (str(type(values[i])), values[i]))
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    return rank[column.ids], len(order)


def _fields(graph: Graph, columns: Any, nodes: slice, edges: slice, weighted: bool) -> dict[str, Table]:
    listing = list_edges(graph, both=True)
    fields: dict[str, Table] = {"edge_index": np.stack([listing.source, listing.target])}
    if columns[0] is not None:
        numbers, n_labels = columns[0]
        fields["node_type"] = numbers[nodes]
        hot = numbers[nodes][:, None] == np.arange(n_labels)
        fields["x"] = hot.astype(np.float32)
    if graph.node_attributes is not None:
        fields["x"] = graph.node_attributes.copy()
    if columns[1] is not None:
        fields["edge_type"] = columns[1][0][edges]
    if listing.attributes is not None:
        fields["edge_attr"] = listing.attributes.copy()
    if weighted:
        fields["edge_weight"] = listing.weights.copy()
    return fields
