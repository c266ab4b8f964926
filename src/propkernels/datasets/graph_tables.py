"""Graphs from files: tables of edges, nodes and graphs, JSON and edge lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import read_cells, read_labels, typed_column
from propkernels._utils.checks import check_choice, reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import read_regular
from propkernels.convert.edges import is_node_link
from propkernels.convert.networkx import from_networkx, of_node_link
from propkernels.convert.pandas import from_pandas
from propkernels.convert.table_columns import AUTO, USUAL_LABELS, column_roles, warn_of_numbers
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.tables import TARGET_NAMES, Reading, find_column, listed_names, read_table
from propkernels.graphs.database import GraphDatabase

Cells = dict[str, list[str]]
Columns = dict[str, NDArray[Any]]
KINDS = ("edges", "nodes", "graphs")
SOURCE = ("source", "source_id", "src", "from", "node1")
TARGET = ("target", "target_id", "dst", "to", "node2")
NODE = ("node", "node_id", "nodeid")
GRAPH = ("graph", "graph_id", "graphid")
KEYS = {"edges": ("graph", "source", "target"), "nodes": ("graph", "node"), "graphs": ("graph",)}
ALL_KEYS = ("graph", "node", "source", "target")
OF_ONE_TYPE = (("graph",), ("node", "source", "target"))


def read_edges(paths: Sequence[Path], how: Reading) -> Dataset:
    """Return the data set of CSV or TSV files of edges, nodes and graphs.

    ``extras["node_names"]`` holds the key of each node.
    """
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
    if how.smiles_column:
        raise ValueError(f"{places['edges']} has no column {how.smiles_column!r} of SMILES")
    pd = import_optional("pandas", extra="pandas", purpose="tables need")
    name = places["edges"].stem.removesuffix("edges").rstrip("_-") or places["edges"].absolute().parent.name
    if how.node_labels and "nodes" not in tables:
        raise ValueError(
            f"{places['edges']} has no table of nodes, so --node-labels (node_labels=) does not apply"
        )
    read = typed_tables(tables, how)
    places = dict.fromkeys(KINDS, places["edges"]) | places
    directed = bool(np.all(read["edges"].pop("directed", False)))
    frames = {kind: pd.DataFrame(columns) for kind, columns in read.items()}
    columns: dict[str, Any] = {"edge_label": [how.edge_labels] if how.edge_labels else AUTO}
    columns |= {"label": how.node_labels or AUTO, "weight": how.key_columns.get("weight", AUTO)}
    try:
        graphs: Any = from_pandas(**frames, **columns, directed=directed, errors=how.errors)
    except ValueError as error:
        place = places.get(str(error).partition(" ")[0], places["edges"])
        raise ValueError(f"{place}: {error}") from None
    target = _target(read, graphs, how, places["graphs"])
    extras = {"node_names": _node_names(frames, graphs)}
    if how.id_column is not None:
        graphs = graphs.with_ids(_values_of(read, how.id_column, graphs, places["graphs"]))
    return Dataset(name, graphs, target, (), extras)


def _recognized(table: Cells, path: Path, named: Mapping[str, str]) -> tuple[str, Cells]:
    """Return the kind of a table, and the table with the names of its key columns unified."""
    names, stem = list(table), path.stem.casefold()
    found = {
        key: named[key] if named.get(key) in table else find_column(names, None, usual, path)
        for key, usual in _USUAL.items()
    }
    if found["source"] and found["target"] and not stem.endswith(("nodes", "graphs")):
        return "edges", renamed(table, found, "edges")
    if stem.endswith("nodes"):
        found["node"] = found["node"] or find_column(names, None, ("id", "name"), path)
    if found["node"] and not stem.endswith("graphs"):
        return "nodes", renamed(table, found, "nodes")
    found["graph"] = found["graph"] or find_column(names, None, ("id", "name"), path)
    if found["graph"] is None:
        raise ValueError(
            f"{path} is no table of edges (columns source and target), nodes (column node) or graphs (column "
            f"graph); its columns are {listed_names(names)}"
        )
    return "graphs", renamed(table, found, "graphs")


_USUAL = {"source": SOURCE, "target": TARGET, "node": NODE, "graph": GRAPH}


def renamed(table: Cells, found: Mapping[str, str | None], kind: str) -> Cells:
    """Return the table with the names of its key columns unified; others of these names get an underscore."""
    new = {name: key for key in KEYS[kind] if (name := found.get(key))}
    return {
        new.get(name, f"{name}_" if name in new.values() else name): cells for name, cells in table.items()
    }


def typed_tables(tables: dict[str, Cells], how: Reading) -> dict[str, Columns]:
    """Return columns with their texts converted to labels, numbers or other values."""
    named: dict[str, set[str | None]] = {
        "nodes": {*USUAL_LABELS["nodes"], *how.node_labels},
        "edges": {*USUAL_LABELS["edges"], how.edge_labels},
    }
    read: dict[str, Columns] = {}
    for kind, table in tables.items():
        known = how.target_columns or TARGET_NAMES if kind == "graphs" else set(table) - {*ALL_KEYS}
        read[kind] = {
            name: read_labels(cells)
            if name in named.get(kind, set())
            else read_cells(cells, f"column {name!r} of the table of {kind}" if name in known else "")
            for name, cells in table.items()
        }
    for names in OF_ONE_TYPE:
        places = [(kind, name) for kind in read for name in names if name in read[kind]]
        places = [place for place in places if place[0] != "graphs" or place[1] == "graph"]
        cells = read_labels([cell for kind, name in places for cell in tables[kind][name]])
        for kind, name in places:
            n_rows = len(tables[kind][name])
            read[kind][name], cells = cells[:n_rows], cells[n_rows:]
    return read


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


ENDS = {"source": SOURCE, "target": TARGET}


class NodeTables(NamedTuple):
    """A graph, and targets of its nodes.

    Attributes
    ----------
    graph : GraphDatabase
    names : list
        Key of each node.
    columns : dict
        Columns that are used, by parameters of :func:`from_pandas`.
    target : list of str or None
        Cell of the target column per node; None where it is blank or the node is in no table.
    """

    graph: GraphDatabase
    names: list[Any]
    columns: dict[str, Any]
    target: list[str | None]


def read_nodes(
    edges: Path,
    nodes: Path | None = None,
    target: str | None = None,
    columns: dict[str, Any] | None = None,
    keys: Mapping[str, str] = MappingProxyType({}),
) -> NodeTables:
    """Return the graph of a table of edges; nodes are those of their table, then those of edges alone.

    The ends of edges are columns with usual names, or the first two; the key of nodes is a column with a
    usual name, or the first. An edge that is listed twice is one edge.

    Parameters
    ----------
    edges, nodes : Path
    target : str, optional
        Column of the table of nodes that is left out of the graph.
    columns : dict, optional
        As ``NodeTables.columns``; by default by the rule of all tables.
    keys : mapping, optional
        Columns of "source", "target", "node" and "weight", where these are not the usual ones.
    """
    pd = import_optional("pandas", extra="pandas", purpose="tables need")
    links = read_table(edges)
    if len(links) < 2:
        raise ValueError(f"{edges} needs two columns: the nodes at both ends of an edge")
    for name in keys:
        check_choice(name, ("node", "source", "target", "weight"), "the key of --column")
    ends = {end: find_column(list(links), keys.get(end), usual, edges) for end, usual in ENDS.items()}
    weight = find_column(list(links), keys.get("weight"), (), edges)
    are_first, advice = not all(ends.values()), "name both ends by --column source=... --column target=..."
    if are_first and {"source", "target"} & set(keys):
        raise ValueError(f"{edges}: {advice}")
    links = renamed(links, dict(zip(ENDS, links, strict=False)) if are_first else ends, "edges")
    table: dict[str, list[str]] = {"node": []} if nodes is None else read_table(nodes)
    key = find_column(list(table), keys.get("node"), NODE, nodes or edges) or next(iter(table))
    table = renamed(table, {"node": key}, "nodes")
    listed = set(table["node"])
    if len(listed) < len(table["node"]):
        raise ValueError(f"{nodes} names a node twice")
    texts = [name for name in links if name not in ends and read_cells(links[name]).dtype.kind == "U"]
    also = [name for name in texts if set(links[name]) <= listed]  # numbers may be weights
    if are_first and also:
        raise ValueError(
            f"{edges}: the column {also[0]!r} has nodes, and is not one of the first two: {advice}"
        )
    if target is not None and target not in table:
        if nodes is None:
            raise ValueError(f"without a table of nodes there is no column {target!r}")
        raise ValueError(f"{nodes} has no column {target!r}")
    others = [end for end in dict.fromkeys([*links["source"], *links["target"]]) if end not in listed]
    blank = [""] * len(others)
    table = {name: [*cells, *(others if name == "node" else blank)] for name, cells in table.items()}
    cells = [""] * len(table["node"]) if target is None else table.pop(target)
    given = columns or {"label": (), "edge_label": ()}
    how = Reading(node_labels=tuple(given["label"]), edge_labels=next(iter(given["edge_label"]), None))
    typed = typed_tables({"edges": links, "nodes": table}, how)
    if columns is None:
        of_edges = column_roles(typed["edges"], "edges", ALL_KEYS, attributes=None, weight=weight or AUTO)
        of_nodes = column_roles(typed["nodes"], "nodes", ALL_KEYS)
        columns = {"label": of_nodes.labels, "attributes": of_nodes.attributes}
        columns |= {"edge_label": of_edges.labels, "weight": of_edges.weight}
        warn_of_numbers(typed["edges"], ("source", "target", of_edges.weight, *of_edges.labels))
    columns |= {"weight": weight} if weight else {}
    frame = pd.DataFrame(typed["edges"])
    frame = frame[["source", "target", *columns["edge_label"], *filter(None, [columns["weight"]])]]
    graph: Any = from_pandas(
        frame.drop_duplicates(), pd.DataFrame(typed["nodes"]), graph=None, edge_attributes=(), **columns
    )
    targets = [cell.strip() or None for cell in cells]
    return NodeTables(graph, typed["nodes"]["node"].tolist(), columns, targets)


COMMENTS = ("#", "%", "//")


def _edge_list(text: str) -> list[Any]:
    """Return the graph of an edge list: two nodes per line and, optionally, a weight."""
    graph = import_optional("networkx", extra="networkx", purpose="graph files need").Graph()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith(COMMENTS):
            continue
        if len(words) not in (2, 3):
            raise ValueError(f"line {number} has {len(words)} words: an edge list has two nodes and a weight")
        weight = read_cells(words[2:]).tolist()[0] if words[2:] else 1.0
        if graph.has_edge(*words[:2]) and graph.edges[words[0], words[1]]["weight"] != weight:
            raise ValueError(f"line {number} gives the edge {words[0]} - {words[1]} another weight")
        graph.add_edge(words[0], words[1], weight=weight)
    return [graph]


def _node_links(text: str) -> list[Any]:
    """Return the graphs of a JSON text: one node-link graph, a list of them, or one per line."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if error.msg != "Extra data" or len(lines) < 2:
            raise
        content = [json.loads(line) for line in lines]
    several = content if isinstance(content, list) else [content]
    for number, graph in enumerate(several):
        if not is_node_link(graph):
            raise ValueError(
                f'graph {number} is not a node-link graph: {{"nodes": [{{"id": ...}}], '
                '"links": [{"source": ..., "target": ...}]}'
            )
    return list(map(of_node_link, several))


FORMATS: dict[str, tuple[str, Callable[[str], list[Any]]]] = {
    **dict.fromkeys((".json", ".jsonl"), ("JSON", _node_links)),
    **dict.fromkeys((".edges", ".edgelist", ".txt"), ("an edge list", _edge_list)),
}


def read_graph_files(paths: Sequence[Path], how: Reading, name: str, place: Path) -> Dataset:
    """Return the data set of graph files of one format; the name of a file is the id of its only graph.

    Parameters
    ----------
    paths : sequence of Path
    how : Reading
    name : str
        Name of the data set.
    place : Path
        File or folder; of files in subfolders, the name of the subfolder is the target.
    """
    several: list[Any] = []
    names: list[Any] = []
    kind, parse = FORMATS[paths[0].suffix.lower()]
    folders: list[Any] = [path.parent.name for path in paths]
    if parse is _edge_list:  # texts, some of which are numbers
        folders = read_cells(folders).tolist()
    for path, folder in zip(paths, folders, strict=True):
        try:
            graphs = parse(read_regular(path).decode("utf-8-sig"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path} cannot be read as {kind}: {reason_of(error)}") from None
        own = [graph.graph.pop("name", graph.graph.pop("id", None)) for graph in graphs]
        if path != place:
            label = path.relative_to(place)
            own = [f"{label.as_posix()}:{one}" for one in own] if len(own) > 1 else [label.as_posix()]
            if len(label.parts) > 1:
                for graph in graphs:
                    graph.graph = {"class": folder}
        several += graphs
        names += own
    ids = names if None not in names and len(set(names)) == len(names) else list(range(len(several)))
    try:
        found: Any = from_networkx(
            several,
            node_label=how.node_labels or AUTO,
            edge_label=how.edge_labels or AUTO,
            weight=how.key_columns.get("weight", AUTO),
            ids=ids,
            errors=how.errors,
        )
    except ValueError as error:
        raise ValueError(f"{place} cannot be read: {error}") from None
    kept = [
        one for one, key in zip(several, ids, strict=True) if how.errors != "skip" or key not in found.skipped
    ]
    data = {key: [one.graph.get(key) for one in kept] for one in kept for key in one.graph}
    target = [typed_column(data[column]) for column in how.table_targets(list(data), place)]
    if how.id_column is not None:
        found = found.with_ids(data[find_column(list(data), how.id_column, (), place)])
    extras = {"node_names": [node for one in kept for node in one]}
    return Dataset(name, found, how.checked_target(target, len(found), place), (), extras)
