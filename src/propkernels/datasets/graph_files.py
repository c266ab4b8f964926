"""Readers of graph files: JSON (node-link), GraphML, GXL, DOT and edge lists.

Each parser yields :class:`FileGraph` objects, which :func:`read_graph_files` turns into tables of edges,
nodes and graphs. Nothing that a file contains is executed, loaded from elsewhere or expanded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import read_cells, typed_column
from propkernels._utils.checks import reason_of
from propkernels._utils.safe_files import read_regular
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.dot_files import dot_graphs
from propkernels.datasets.file_graph import FileGraph
from propkernels.datasets.graph_tables import Columns, dataset_of
from propkernels.datasets.reading import Reading
from propkernels.datasets.xml_files import graphml_graphs, gxl_graphs

COMMENTS = ("#", "%", "//")
MOST_ENTRIES = 1000  # of a list of numbers, each of which becomes a column


def edge_list_graphs(text: str) -> Iterator[FileGraph]:
    r"""Yield the graph of an edge list: two nodes per line and, optionally, a weight.

    Examples
    --------
    >>> graph, = edge_list_graphs("# a comment\na b\nb,c,2.5\n")
    >>> graph.edges
    [('a', 'b', {}), ('b', 'c', {'weight': '2.5'})]
    """
    graph = FileGraph()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith(COMMENTS):
            continue
        if len(words) not in (2, 3):
            raise ValueError(f"line {number} has {len(words)} words: an edge list has two nodes and a weight")
        graph.add_edge(words[0], words[1], {} if len(words) == 2 else {"weight": words[2]})
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
        graph.add_node(_key(row.pop("id", position), number), row)
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


@dataclass(frozen=True)
class GraphFormat:
    """A format of graph files: its parser, and whether all values are texts to be typed."""

    parse: Callable[[str], Iterable[FileGraph]]
    name: str
    is_text: bool = True


EDGE_LIST = GraphFormat(edge_list_graphs, "an edge list")
JSON = GraphFormat(json_graphs, "JSON", is_text=False)
FORMATS = {
    ".json": JSON,
    ".jsonl": JSON,
    ".graphml": GraphFormat(graphml_graphs, "GraphML"),
    ".gxl": GraphFormat(gxl_graphs, "GXL"),
    ".dot": GraphFormat(dot_graphs, "DOT"),
    ".gv": GraphFormat(dot_graphs, "DOT"),
    ".edges": EDGE_LIST,
    ".edgelist": EDGE_LIST,
    ".txt": EDGE_LIST,
}


def graphs_of_file(path: Path) -> list[FileGraph]:
    """Return the graphs of a file, in the format of its suffix; raise ValueError if it is invalid."""
    kind = FORMATS[path.suffix.lower()]
    try:
        return list(kind.parse(read_regular(path).decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as {kind.name}: {reason_of(error)}") from None


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
    for path in paths:
        graphs = graphs_of_file(path)
        label = path.relative_to(place).as_posix() if path != place else None
        for graph in graphs:
            if label is not None:
                graph.name = label if len(graphs) == 1 else f"{label}:{graph.name}"
                if len(path.relative_to(place).parts) > 1:
                    graph.data = {"class": path.parent.name}
        several += graphs
    names = [graph.name for graph in several]
    ids = names if None not in names and len(set(names)) == len(names) else list(range(len(several)))
    is_text = FORMATS[paths[0].suffix.lower()].is_text
    return dataset_of(_tables(several, ids, is_text), how, name, place, any(g.directed for g in several))


def _tables(several: Sequence[FileGraph], ids: Sequence[Any], is_text: bool) -> dict[str, Columns]:
    """Return tables of edges, nodes and graphs; undirected edges among directed graphs are listed twice."""
    directed = any(graph.directed for graph in several)
    edges, nodes, graphs = Rows(), Rows(), Rows()
    for key, graph in zip(ids, several, strict=True):
        graphs.add({"graph": key}, graph.data)
        for node, data in graph.nodes.items():
            nodes.add({"graph": key, "node": node}, data)
        for source, target, data in graph.edges:
            edges.add({"graph": key, "source": source, "target": target}, data)
            if directed and not graph.directed and source != target:
                edges.add({"graph": key, "source": target, "target": source}, data)
    keys = {"edges": ("graph", "source", "target"), "nodes": ("graph", "node"), "graphs": ("graph",)}
    rows = {"edges": edges, "nodes": nodes, "graphs": graphs}
    return {kind: some.columns(keys[kind], is_text) for kind, some in rows.items()}


@dataclass
class Rows:
    """Rows of a table whose columns become known row by row."""

    n_rows: int = 0
    values: dict[str, dict[int, Any]] = field(default_factory=dict)

    def add(self, keys: dict[str, Any], data: dict[str, Any]) -> None:
        """Append a row; a list of numbers gives one column per entry, and other nested values are dropped."""
        for name, value in (*keys.items(), *_flat(data, set(keys))):
            self.values.setdefault(name, {})[self.n_rows] = value
        self.n_rows += 1

    def columns(self, keys: Sequence[str], is_text: bool) -> Columns:
        """Return typed columns with missing cells as None or NaN; keys stay as they are."""
        empty: Columns = {name: np.empty(0, dtype=object) for name in keys}
        return empty | {
            name: self._column(cells, name in keys, is_text) for name, cells in self.values.items()
        }

    def _column(self, cells: dict[int, Any], is_key: bool, is_text: bool) -> NDArray[Any]:
        values = [cells.get(row) for row in range(self.n_rows)]
        if is_key:
            column = np.empty(len(values), dtype=object)
            column[:] = values
            return column
        return read_cells([value or "" for value in values]) if is_text else typed_column(values)


def _flat(data: dict[str, Any], taken: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield names and plain values of a row; names that keys have already get an underscore."""
    for key, value in data.items():
        name = f"{key}_" if key in taken else str(key)
        if isinstance(value, list) and len(value) <= MOST_ENTRIES and all(map(_is_number, value)):
            yield from ((f"{name}.{i}", entry) for i, entry in enumerate(value))
        elif isinstance(value, (dict, list)):
            yield name, json.dumps(value, sort_keys=True)
        else:
            yield name, value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
