"""Readers of graph files: JSON (node-link) and edge lists.

Each parser yields :class:`FileGraph` objects, which :func:`read_graph_files` turns into tables of edges,
nodes and graphs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from propkernels._utils.arrays import object_array
from propkernels._utils.cells import read_cells, typed_column
from propkernels._utils.checks import reason_of
from propkernels._utils.safe_files import read_regular
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.graph_tables import Columns, dataset_of
from propkernels.datasets.reading import Reading

COMMENTS = ("#", "%", "//")
MOST_ENTRIES = 1000  # of a list of numbers, each of which becomes a column
FREE_CELLS, MOST_CELLS = 10**6, 100  # of a table: as many anyway, and per value in a file
KEYS = {"edges": ("graph", "source", "target"), "nodes": ("graph", "node"), "graphs": ("graph",)}
Data = dict[str, Any]


@dataclass
class FileGraph:
    """A graph as it stands in a file, with data of nodes and edges by name.

    Attributes
    ----------
    directed : bool
    name : str or int or None
    data : dict
        Data of the graph, such as its target.
    nodes : dict
        Data of each node by its key, in order of appearance.
    edges : list of (source, target, data)
    """

    directed: bool = False
    name: Any = None
    data: Data = field(default_factory=dict)
    nodes: dict[Any, Data] = field(default_factory=dict)
    edges: list[tuple[Any, Any, Data]] = field(default_factory=list)

    def add_edge(self, source: Any, target: Any, data: Data) -> None:
        """Add an edge, and its ends if they are new."""
        self.nodes.setdefault(source, {})
        self.nodes.setdefault(target, {})
        self.edges.append((source, target, data))


def edge_list_graphs(text: str) -> Iterator[FileGraph]:
    r"""Yield the graph of an edge list: two nodes per line and, optionally, a weight.

    Examples
    --------
    >>> graph, = edge_list_graphs("# a comment\na b 1\nb,c,2.5\n")
    >>> [(source, target, float(data["weight"])) for source, target, data in graph.edges]
    [('a', 'b', 1.0), ('b', 'c', 2.5)]
    """
    rows: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith(COMMENTS):
            continue
        if len(words) not in (2, 3):
            raise ValueError(f"line {number} has {len(words)} words: an edge list has two nodes and a weight")
        rows.append(words)
    graph = FileGraph()
    weights = iter(read_cells([words[2] for words in rows if len(words) == 3]).tolist())
    for words in rows:
        graph.add_edge(words[0], words[1], {} if len(words) == 2 else {"weight": next(weights)})
    yield graph


def json_graphs(text: str) -> Iterator[FileGraph]:
    """Yield the graphs of a JSON text: one node-link graph, a list of them, or one per line."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if error.msg != "Extra data" or len(lines) < 2:
            raise
        content = [json.loads(line) for line in lines]
    for number, graph in enumerate(content if isinstance(content, list) else [content]):
        yield _node_link(graph, number)


def _node_link(content: Any, number: int) -> FileGraph:
    """Return the graph of a dictionary with nodes, and links or edges."""
    links = next((key for key in ("links", "edges") if isinstance(content, dict) and key in content), None)
    if (
        links is None
        or not isinstance(content.get("nodes", []), list)
        or not isinstance(content[links], list)
    ):
        raise ValueError(
            f'graph {number} is not a node-link graph: {{"nodes": [{{"id": ...}}], '
            '"links": [{"source": ..., "target": ...}]}'
        )
    about = content.get("graph")
    data = {key: value for key, value in content.items() if not isinstance(value, (dict, list))}
    data |= about if isinstance(about, dict) else {}
    directed, name = data.pop("directed", False) is True, data.pop("name", data.pop("id", None))
    data.pop("multigraph", None)
    graph = FileGraph(directed, name, data)
    for position, node in enumerate(content.get("nodes", [])):
        row = dict(node) if isinstance(node, dict) else {"id": node}
        graph.nodes.setdefault(_key(row.pop("id", position), number), {}).update(row)
    for link in content[links]:
        row = (
            dict(zip(("source", "target", "weight"), link, strict=False)) if isinstance(link, list) else link
        )
        if not isinstance(row, dict) or not {"source", "target"} <= set(row):
            raise ValueError(f"graph {number} has an edge without source and target: {str(link)[:60]}")
        row = dict(row)
        source, target = (_key(row.pop(end), number) for end in ("source", "target"))
        graph.add_edge(source, target, {key: value for key, value in row.items() if key != "key"})
    return graph


def _key(value: Any, number: int) -> Any:
    if isinstance(value, (dict, list)):
        raise ValueError(f"graph {number} has a node whose id is not a text or a number: {str(value)[:60]}")
    return value


FORMATS: dict[str, tuple[str, Callable[[str], Iterable[FileGraph]]]] = {
    **dict.fromkeys((".json", ".jsonl"), ("JSON", json_graphs)),
    **dict.fromkeys((".edges", ".edgelist", ".txt"), ("an edge list", edge_list_graphs)),
}


def graphs_of_file(path: Path) -> list[FileGraph]:
    """Return the graphs of a file, in the format of its suffix; raise ValueError if it is invalid."""
    name, parse = FORMATS[path.suffix.lower()]
    try:
        return list(parse(read_regular(path).decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as {name}: {reason_of(error)}") from None


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
    several: list[FileGraph] = []
    folders: list[Any] = [path.parent.name for path in paths]
    if FORMATS[paths[0].suffix.lower()][1] is edge_list_graphs:  # texts, some of which are numbers
        folders = read_cells(folders).tolist()
    for path, folder in zip(paths, folders, strict=True):
        graphs = graphs_of_file(path)
        label = path.relative_to(place).as_posix() if path != place else None
        for graph in graphs:
            if label is not None:
                graph.name = label if len(graphs) == 1 else f"{label}:{graph.name}"
                if len(path.relative_to(place).parts) > 1:
                    graph.data = {"class": folder}
        several += graphs
    names = [graph.name for graph in several]
    ids = names if None not in names and len(set(names)) == len(names) else list(range(len(several)))
    try:
        tables = _tables(several, ids)
    except ValueError as error:
        raise ValueError(f"{place} cannot be read: {error}") from None
    try:
        return dataset_of(tables, how, name, place, any(graph.directed for graph in several))
    except UnicodeEncodeError as error:
        text = error.object[error.start : error.end]
        raise ValueError(f"{place} has a name with half a character, {text!r}: write it anew") from None


def _tables(several: Sequence[FileGraph], ids: Sequence[Any]) -> dict[str, Columns]:
    """Return tables of edges, nodes and graphs; undirected edges among directed graphs are listed twice."""
    directed = any(graph.directed for graph in several)
    rows: dict[str, list[Data]] = {"edges": [], "nodes": [], "graphs": []}
    for key, graph in zip(ids, several, strict=True):
        rows["graphs"].append(_row((key,), graph.data, KEYS["graphs"]))
        rows["nodes"] += [_row((key, node), data, KEYS["nodes"]) for node, data in graph.nodes.items()]
        for source, target, data in graph.edges:
            rows["edges"].append(_row((key, source, target), data, KEYS["edges"]))
            if directed and not graph.directed and source != target:
                rows["edges"].append(_row((key, target, source), data, KEYS["edges"]))
    return {kind: _columns(some, KEYS[kind]) for kind, some in rows.items()}


def _row(values: tuple[Any, ...], data: Data, keys: Sequence[str]) -> Data:
    """Return a row of a table; names that keys have already get an underscore.

    A list of numbers gives one column per entry; other nested values become texts.
    """
    row = dict(zip(keys, values, strict=True))
    for key, value in data.items():
        name = f"{key}_" if key in keys else str(key)
        if isinstance(value, list) and len(value) <= MOST_ENTRIES and all(map(_is_number, value)):
            row |= {f"{name}.{i}": entry for i, entry in enumerate(value)}
        else:
            row[name] = json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value
    return row


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _columns(rows: Sequence[Data], keys: Sequence[str]) -> Columns:
    """Return typed columns with missing cells as None or NaN; keys stay as they are."""
    names = dict.fromkeys((*keys, *(name for row in rows for name in row)))
    if len(names) * len(rows) > max(FREE_CELLS, MOST_CELLS * sum(map(len, rows))):
        raise ValueError(
            f"{len(rows):,} rows of data have {len(names):,} different names, so that almost all cells "
            "of a table would be empty: use the same names in all graphs"
        )
    cells = {name: [row.get(name) for row in rows] for name in names}
    return {name: object_array(some) if name in keys else typed_column(some) for name, some in cells.items()}
