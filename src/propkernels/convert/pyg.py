"""Converters from and to PyTorch Geometric."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_whole
from propkernels._utils.checks import check_choice, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Column, Target
from propkernels.convert.build import (
    Fault,
    Faults,
    Part,
    as_fault,
    build,
    check_name,
    check_nodes_fit,
    flattened,
    listed,
    numbers,
    read_each,
    read_targets,
    stacked,
    with_target,
)
from propkernels.convert.edges import list_edges
from propkernels.convert.table_columns import warn_unused
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import LabelColumn, labels_of_rows

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
        if not hasattr(graphs, "to_data_list"):
            raise TypeError(
                "from_pyg takes a list of graphs, a Batch or a dataset; wrap the one graph: [data]"
            )
        graphs = graphs.to_data_list()  # a Batch
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


NODE_NAMES = ("x", "node_feat", "node_type", "y", "batch")  # that are used, or are not of the nodes
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


def convert(
    graphs: list[Any],
    faults: Faults,
    x: str = "auto",
    edge_attr: str = "auto",
    weight: str | None = "edge_weight",
) -> GraphDatabase:
    """Return the database of a list of Data."""
    nothing: tuple[Part, Any, Any] = (Part(), None, None)
    parts = read_each(graphs, lambda graph: _read(graph, weight), faults, nothing)
    known = (*NODE_NAMES, weight)
    unused = {
        name: None
        for graph, (part, *_) in zip(graphs, parts, strict=True)
        for name in (_names(graph) if part.n_nodes > 1 else ())
        if name not in known and not name.startswith("edge_") and _is_of(part, _get(graph, name))
    }
    if unused:
        warn_unused(list(unused), "nodes", "make it x or node_type to use it")
    flat = flattened([part for part, *_ in parts], faults)
    labels = stacked([types for _, types, _ in parts], flat.sizes, faults, "columns of node_type")
    edge_labels = stacked([types for *_, types in parts], flat.edge_counts, faults, "columns of edge_type")
    flat.node_labels, flat.node_attributes = _told_apart(labels, flat.node_attributes, x)
    flat.edge_labels, flat.edge_attributes = _told_apart(edge_labels, flat.edge_attributes, edge_attr)
    return build(flat, faults)


def _is_of(part: Part, value: Any) -> bool:
    """Return whether a tensor has a number or row of numbers per node; masks have none."""
    shape, kind = tuple(getattr(value, "shape", ())), str(getattr(value, "dtype", ""))
    return shape[:1] == (part.n_nodes,) and ("int" in kind or "float" in kind)


def _read(graph: Any, weight: str | None) -> tuple[Part, Table | None, Table | None]:
    """Return a graph with x and edge_attr as attributes, node_type, and edge_type."""
    index = _get(graph, "edge_index")
    if index is None:
        raise Fault(f"is a {type(graph).__name__} without an edge_index", TypeError, " ")
    ends = to_numpy(index)
    if ends.size and (ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu"):
        raise Fault(f"edge_index must hold whole numbers in two rows, got shape {ends.shape} of {ends.dtype}")
    source, target = check_whole(ends.ravel(), "edge_index").astype(np.int64).reshape(2, -1)
    number, rows = _get(graph, "num_nodes"), _get(graph, "x")
    if number is None:
        number = len(rows) if rows is not None else max(source.max(initial=-1), target.max(initial=-1)) + 1
    try:
        n_nodes = operator.index(number)
    except TypeError:
        n_nodes = -1
    if n_nodes < 0:
        raise Fault(f"its number of nodes must be a whole number from 0 on, got {shown(number)}")
    with as_fault():
        check_nodes_fit(n_nodes)
    x, edge_attr = _numbers(graph, "x", n_nodes), _numbers(graph, "edge_attr", len(source))
    weights = None if weight is None else _numbers(graph, weight, len(source))
    types, edge_types = _table(graph, "node_type", n_nodes), _table(graph, "edge_type", len(source))
    if weights is not None and weights.shape[1] != 1:
        raise Fault(f"{weight} must have one number for each edge, got {weights.shape[1]}")
    one_each = None if weights is None else weights[:, 0]
    return Part(n_nodes, source, target, one_each, None, x, None, edge_attr), types, edge_types


def _table(graph: Any, name: str, n_rows: int) -> Table | None:
    """Return a tensor of a graph with one row per node or edge; None if there is none."""
    tensor = _get(graph, name)
    table = None if tensor is None else to_numpy(tensor)
    table = table[:, None] if table is not None and table.ndim == 1 else table
    if table is None or not (n_rows or len(table)):
        return None
    table = table.reshape(len(table), -1) if table.ndim > 2 and len(table) else table
    if table.ndim != 2 or len(table) != n_rows:
        raise Fault(f"{name} must have one row for each of {n_rows}, got the shape {table.shape}")
    return table


def _numbers(graph: Any, name: str, n_rows: int) -> Table | None:
    table = _table(graph, name, n_rows)
    if table is None or table.dtype.kind in "biuf":
        return table
    values = numbers(table)
    if values is None:
        raise Fault(f"{name} must be numbers, got values of dtype {table.dtype}")
    return values


def _told_apart(types: Any, table: Any, meaning: str) -> tuple[LabelColumn | None, Table | None]:
    """Return labels and attributes; if there are types, they are the labels, and the table is attributes."""
    if meaning == "ignore" or (table is not None and not table.shape[1]):
        table = None
    are_labels = meaning == "labels"
    if meaning == "auto" and types is None and table is not None:
        are_labels = table.dtype.kind in "biu" or is_one_hot(table)
    if are_labels:
        types, table = table if types is None else types, None
    return _as_labels(types), None if table is None else np.asarray(table, dtype=np.float64)


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


def _as_labels(table: Table | None) -> LabelColumn | None:
    return None if table is None else labels_of_rows(table.argmax(axis=1) if is_one_hot(table) else table)


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
    labels, edge_labels = _numbered(database.label_column), _numbered(database.edge_label_column)
    ptr, entries = database.graph_ptr, database.adjacency.indptr[database.graph_ptr]
    twins = []
    for i, graph in enumerate(database):
        listing = list_edges(graph, both=True)
        fields: dict[str, Table] = {"edge_index": np.stack([listing.source, listing.target])}
        if labels is not None:
            types = labels[0][ptr[i] : ptr[i + 1]]
            fields |= {"node_type": types, "x": (types[:, None] == np.arange(labels[1])).astype(np.float32)}
        if graph.node_attributes is not None:
            fields["x"] = graph.node_attributes.copy()
        if edge_labels is not None:
            fields["edge_type"] = edge_labels[0][entries[i] : entries[i + 1]]
        if listing.attributes is not None:
            fields["edge_attr"] = listing.attributes.copy()
        if not database.is_unweighted:
            fields["edge_weight"] = listing.weights.copy()
        if target is not None:
            fields["y"] = np.atleast_1d(np.asarray(target)[i])
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
