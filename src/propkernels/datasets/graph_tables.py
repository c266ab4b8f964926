"""Data sets from tables of edges, nodes and graphs: CSV files, or tables that graph files were read into.

Keys (``graph``, ``node``, ``source``, ``target``) have usual names; other columns are used by the one rule of
:mod:`propkernels.convert.table_columns`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import read_cells, read_labels
from propkernels._utils.optional import import_optional
from propkernels.convert.pandas import from_pandas
from propkernels.convert.table_columns import AUTO, USUAL_LABELS, column_roles
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.reading import Reading
from propkernels.datasets.tables import (
    TARGET_NAMES,
    find_column,
    listed_names,
    read_table,
)

Cells = dict[str, list[str]]
Columns = dict[str, NDArray[Any]]
KINDS = ("edges", "nodes", "graphs")
SOURCE = ("source", "source_id", "src", "from", "node1")
TARGET = ("target", "target_id", "dst", "to", "node2")
NODE = ("node", "node_id", "nodeid")
GRAPH = ("graph", "graph_id", "graphid")
KEYS = {"graph": ("graph",), "node": ("node", "source", "target")}  # columns that share a type


def read_edges(paths: Sequence[Path], how: Reading) -> Dataset:
    """Return the data set of CSV or TSV files of edges, nodes and graphs."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"the file {path} does not exist")
    tables: dict[str, Cells] = {}
    places: dict[str, Path] = {}
    for path in paths:
        kind, table = _recognized(read_table(path), path, how.key_columns)
        if kind in tables:
            raise ValueError(f"{path} is a second table of {kind}")
        tables[kind], places[kind] = table, path
    for key, column in how.key_columns.items():
        if all(key not in table and column not in table for table in tables.values()):
            raise ValueError(f"{paths[0]} has no column {column!r}, which is to hold the {key}")
    if "edges" not in tables:
        raise ValueError(f"{paths[0]} has no columns source and target: it is not a table of edges")
    if all("graph" not in table for table in tables.values()):  # one graph
        for table in tables.values():
            table["graph"] = ["0"] * len(next(iter(table.values())))
    name = places["edges"].stem.removesuffix("edges").rstrip("_-") or places["edges"].absolute().parent.name
    return dataset_of(typed_tables(tables, how), how, name, places)


def _recognized(table: Cells, path: Path, named: Mapping[str, str]) -> tuple[str, Cells]:
    """Return the kind of a table, and the table with the names of its key columns unified."""
    names, stem = list(table), path.stem.casefold()
    found = {
        key: named[key] if named.get(key) in table else find_column(names, None, usual, path)
        for key, usual in _USUAL.items()
    }
    if found["source"] and found["target"] and not stem.endswith(("nodes", "graphs")):
        return "edges", renamed(table, {key: found[key] for key in ("graph", "source", "target")})
    if stem.endswith("nodes"):
        found["node"] = found["node"] or find_column(names, None, ("id", "name"), path)
    if found["node"] and not stem.endswith("graphs"):
        return "nodes", renamed(table, {key: found[key] for key in ("graph", "node")})
    found["graph"] = found["graph"] or find_column(names, None, ("id", "name"), path)
    if found["graph"] is None:
        raise ValueError(
            f"{path} is no table of edges (columns source and target), nodes (column node) or graphs (column "
            f"graph); its columns are {listed_names(names)}"
        )
    return "graphs", renamed(table, {key: found[key] for key in ("graph",)})


_USUAL = {"source": SOURCE, "target": TARGET, "node": NODE, "graph": GRAPH}


def renamed(table: Cells, found: Mapping[str, str | None]) -> Cells:
    """Return the table with the names of its key columns unified; others of these names get an underscore."""
    new = {name: key for key, name in found.items() if name}
    return {
        new.get(name, f"{name}_" if name in new.values() else name): cells for name, cells in table.items()
    }


def typed_tables(tables: dict[str, Cells], how: Reading) -> dict[str, Columns]:
    """Return columns with their texts converted to labels, numbers or other values."""
    named: dict[str, set[str | None]] = {
        "nodes": {*USUAL_LABELS["nodes"], *how.node_labels},
        "edges": {*USUAL_LABELS["edges"], how.edge_labels},
    }
    keys = {"graph", "node", "source", "target"}  # of rows; read again together with those of other tables
    read: dict[str, Columns] = {}
    for kind, table in tables.items():
        known = how.target_columns or TARGET_NAMES if kind == "graphs" else set(table) - keys
        read[kind] = {
            name: read_labels(cells)
            if name in named.get(kind, set())
            else read_cells(cells, f"column {name!r} of the table of {kind}" if name in known else "")
            for name, cells in table.items()
        }
    for names in KEYS.values():
        places = [(kind, name) for kind in read for name in names if name in read[kind]]
        places = [place for place in places if place[0] != "graphs" or place[1] == "graph"]
        cells = read_labels([cell for kind, name in places for cell in tables[kind][name]])
        for kind, name in places:
            n_rows = len(tables[kind][name])
            read[kind][name], cells = cells[:n_rows], cells[n_rows:]
    return read


def dataset_of(
    tables: dict[str, Columns], how: Reading, name: str, place: Any, directed: bool = False
) -> Dataset:
    """Return the data set of typed tables with the keys graph, node, source and target.

    Parameters
    ----------
    tables : dict
        Columns of "edges" and, optionally, "nodes" and "graphs".
    how : Reading
    name : str
        Name of the data set.
    place : path, or dict of paths
        Source, or the file of each table, for messages.
    directed : bool, default=False
        Whether edges are directed; a column ``directed`` of the edges overrides it.

    Returns
    -------
    Dataset
        ``extras["node_names"]`` holds the key of each node, and ``extras["attribute_names"]`` the name of
        each column of node attributes, by its number.
    """
    pd = import_optional("pandas", extra="pandas", purpose="tables need")
    places = place if isinstance(place, dict) else dict.fromkeys(KINDS, place)
    places = dict.fromkeys(KINDS, places["edges"]) | places
    if how.smiles_column:
        raise ValueError(f"{places['edges']} has no column {how.smiles_column!r} of SMILES")
    arguments = _roles(tables, how, places)
    if "directed" in tables["edges"]:
        directed = bool(np.all(tables["edges"]["directed"]))
    frames = {kind: pd.DataFrame(columns) for kind, columns in tables.items()}
    graphs: Any = from_pandas(**frames, **arguments, directed=directed, errors=how.errors)
    target = _target(tables, graphs, how, places["graphs"])
    extras: dict[str, Any] = {"node_names": _node_names(frames, graphs)}
    if arguments.get("attributes"):
        extras["attribute_names"] = dict(enumerate(arguments["attributes"]))
    if how.id_column is not None:
        graphs = graphs.with_ids(_values_of(tables, how.id_column, graphs, places["graphs"]))
    return Dataset(name, graphs, target, (), extras)


def _roles(tables: dict[str, Columns], how: Reading, places: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for :func:`from_pandas`: labels, weight and attributes."""
    edges, nodes = dict(tables["edges"]), tables.get("nodes")
    edges.pop("directed", None)
    wanted = (how.edge_labels,) if how.edge_labels else ()
    _check_labels(edges, wanted, "edges", places["edges"])
    weight = how.key_columns.get("weight", AUTO)
    used = column_roles(edges, "edges", ("graph", "source", "target"), wanted or AUTO, weight=weight)
    arguments = {"edge_label": used.labels, "edge_attributes": used.attributes, "weight": used.weight}
    if nodes is None:
        if how.node_labels:
            raise ValueError(
                f"{places['edges']} has no table of nodes, so --node-labels (node_labels=) does not apply"
            )
        return arguments
    _check_labels(nodes, how.node_labels, "nodes", places["nodes"])
    used = column_roles(nodes, "nodes", ("graph", "node"), how.node_labels or AUTO)
    return arguments | {"label": used.labels, "attributes": used.attributes}


def _check_labels(table: Columns, wanted: Sequence[str], kind: str, place: Any) -> None:
    """Raise ValueError if a table has no column that is asked for."""
    for column in wanted:
        if column not in table:
            others = listed_names(
                [name for name in table if name not in ("graph", "node", "source", "target")]
            )
            raise ValueError(
                f"{place}: the table of {kind} has no column {column!r}; the others are {others}"
            )


def _target(tables: dict[str, Columns], graphs: Any, how: Reading, place: Any) -> NDArray[Any]:
    """Return the target columns of the table of graphs, for the graphs that were read."""
    if "graphs" not in tables:
        if how.target_columns:
            raise ValueError(f"{place} has no table of graphs with the target {how.target_columns[0]!r}")
        return how.checked_target([], len(graphs), place)
    names = [name for name in tables["graphs"] if name != "graph"]
    chosen = how.table_targets(names, place)
    columns = [_values_of(tables, column, graphs, place) for column in chosen]
    return how.checked_target(columns, len(graphs), place)


def _values_of(tables: dict[str, Columns], column: str, graphs: Any, place: Any) -> NDArray[Any]:
    """Return a column of the table of graphs, one value per graph that was read."""
    table = tables.get("graphs", {})
    if column not in table:
        raise ValueError(
            f"{place}: the table of graphs has no column {column!r}; it has {listed_names(list(table))}"
        )
    rows = {key: row for row, key in reversed(list(enumerate(table["graph"].tolist())))}
    missing = [key for key in graphs.ids.tolist() if key not in rows]
    if missing:
        raise ValueError(
            f"{place}: the table of graphs has no row for {len(missing)} of {len(graphs)} graphs, such as "
            f"{missing[0]!r}"
        )
    return table[column][[rows[key] for key in graphs.ids.tolist()]]


def _node_names(frames: Mapping[str, Any], graphs: Any) -> list[Any]:
    """Return the key of each node, in the order of the database (see :func:`from_pandas`)."""
    if "nodes" in frames:
        keys = zip(frames["nodes"]["graph"].tolist(), frames["nodes"]["node"].tolist(), strict=True)
    else:
        edges = [frames["edges"][name].tolist() for name in ("graph", "source", "target")]
        keys = dict.fromkeys((g, end) for g, *ends in zip(*edges, strict=True) for end in ends)  # type: ignore[assignment]
    ids = [key for key in graphs.ids.tolist() if key not in graphs.skipped]
    by_graph: dict[Any, list[Any]] = {key: [] for key in ids}
    for graph, node in keys:
        if graph in by_graph:
            by_graph[graph].append(node)
    return [node for graph in ids for node in by_graph[graph]]
