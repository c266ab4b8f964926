"""Reader of the text layout of the TU Dortmund collection."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels._utils.arrays import check_declared, offsets
from propkernels._utils.parallel import threaded
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.tu_files import float_table, integer_table, read_files, text_lines
from propkernels.graphs import GraphDatabase, LabelColumn

INDICATOR = "graph_indicator"
KNOWN = [
    "A",
    "graph_indicator",
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
    "graph_ids",
    "node_label_names",
    "edge_label_names",
    "graph_label_names",
]
NODE_EXTRAS = ("coordinates", "normals")


@threaded
def read_tu(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    target_required: bool = True,
    n_jobs: int | None = None,
) -> Dataset:
    """Read a data set in the TU text layout from a folder or a zip.

    The layout is ``NAME_A.txt`` (edges), ``NAME_graph_indicator.txt`` (the graph of each node),
    ``NAME_graph_labels.txt`` or ``NAME_graph_attributes.txt`` (the target), and optional node and edge
    labels and attributes. An edge that is listed in one direction is directed. Repeated lines are an edge of
    weight 1, or parallel edges if their labels or attributes differ. Nodes are sorted by graph. Several
    columns of labels become tuples; a node or edge label of -1 means "not observed". Line i of the optional
    files ``NAME_node_label_names.txt``, ``NAME_edge_label_names.txt`` and ``NAME_graph_label_names.txt`` is
    the name of label i; ``NAME_graph_ids.txt`` contains the ids of the graphs (:func:`write_tu` writes these
    files).

    Parameters
    ----------
    path : str or path
        Folder or zip; a zip is not unpacked to disk.
    name : str, optional
        The NAME; required only if the path contains several sets.
    target_required : bool, default=True
        Whether graph labels or attributes are required; without them, the target has no columns.
    n_jobs : int or None, default=None
        Number of threads that unpack files; None: 1, -1: all cores.

    Returns
    -------
    Dataset
        ``extras`` contains "coordinates" and "normals" (one row per node), "graph_attributes" (if there are
        also graph labels), "smiles" (one string per graph), and the lines of any other ``NAME_*.txt``.

    Raises
    ------
    ValueError
        If files are damaged or inconsistent; the message names the file and the line.
    """
    name, files = read_files(Path(path), name)
    return TuFiles(name, files, target_required).assemble()


@dataclass(frozen=True)
class TuFiles:
    """Contents of the files of one data set, by kind ("A", "graph_indicator", ...)."""

    name: str
    files: dict[str, bytes]
    target_required: bool = True

    def file(self, kind: str) -> str:
        """Return the name of the file of a kind."""
        return f"{self.name}_{kind}.txt"

    def assemble(self) -> Dataset:
        """Return the data set of the files."""
        target = self.target()
        graph = self.graph_of_nodes(len(target))
        order = np.argsort(graph, kind="stable")
        ends, n_nodes = self.ends(graph), len(graph)
        place = np.empty(n_nodes, dtype=np.int64)
        place[order] = np.arange(n_nodes)
        edge_labels = self.rows("edge_labels", "A", len(ends), integers=True)
        labels = self.rows("node_labels", INDICATOR, n_nodes, integers=True)
        attributes = self.rows("node_attributes", INDICATOR, n_nodes)
        graphs = GraphDatabase(
            coo_array((np.ones(len(ends)), tuple(place[ends].T)), shape=(n_nodes, n_nodes)),
            offsets(np.bincount(graph, minlength=len(target))),
            None if labels is None else self.named("node_labels", label_column(labels[order])),
            None if attributes is None else attributes[order],
            None if edge_labels is None else self.named("edge_labels", label_column(edge_labels)),
            self.rows("edge_attributes", "A", len(ends)),
            self.ids(len(target)),
        )
        graphs = graphs if graphs.is_unweighted else graphs.with_weights(None)  # repeated lines do not count
        names = tuple(self.names("graph_labels") or ())
        return Dataset(self.name, graphs, target, names, self.extras(order, len(target)), self.description())

    def integers(self, kind: str, columns: int | None = None) -> NDArray[np.int64]:
        """Return the whole numbers of a required file."""
        if kind not in self.files:
            raise ValueError(f"the data set {self.name} has no file {self.file(kind)}")
        return integer_table(self.files[kind], self.file(kind), columns)

    def floats(self, kind: str) -> NDArray[np.float64]:
        """Return the real numbers of a file."""
        return float_table(self.files[kind], self.file(kind))

    def target(self) -> NDArray[Any]:
        """Return graph labels, or graph attributes if there are no graph labels."""
        if not self.target_required and not {"graph_labels", "graph_attributes"} & set(self.files):
            graph = self.integers(INDICATOR, columns=1)
            n_graphs = int(graph.max(initial=0))
            check_declared(n_graphs, len(graph), "graphs", f"lines of {self.file(INDICATOR)}")
            return np.empty((n_graphs, 0))
        is_regression = self.target_kind == "graph_attributes"
        table = self.floats("graph_attributes") if is_regression else self.integers("graph_labels")
        if not len(table):
            raise ValueError(f"{self.file(self.target_kind)} is empty: it has no graphs")
        return table[:, 0] if table.shape[1] == 1 else table

    @property
    def target_kind(self) -> str:
        """Kind of the file of the target: graph labels if present, else graph attributes."""
        is_regression = "graph_attributes" in self.files and "graph_labels" not in self.files
        return "graph_attributes" if is_regression else "graph_labels"

    def graph_of_nodes(self, n_graphs: int) -> NDArray[np.int64]:
        """Return the graph of each node, counted from 0."""
        graph = self.integers(INDICATOR, columns=1)[:, 0]
        file, labels = self.file(INDICATOR), self.file(self.target_kind)
        wrong = np.flatnonzero((graph < 1) | (graph > n_graphs))
        if wrong.size:
            line, named = int(wrong[0]), int(graph[wrong[0]])
            known = f"{labels} has {n_graphs} lines" if named > 0 else "graphs are counted from 1"
            raise ValueError(f"{file}, line {line + 1} names graph {named}, but {known}")
        last = int(graph.max(initial=0))
        if last < n_graphs:
            raise ValueError(f"{labels} has {n_graphs} lines, but the last graph that {file} names is {last}")
        return graph - 1

    def rows(self, kind: str, other: str, n_rows: int, integers: bool = False) -> NDArray[Any] | None:
        """Return the numbers of an optional file that has as many lines as another one."""
        if kind not in self.files:
            return None
        table: NDArray[Any] = self.integers(kind) if integers else self.floats(kind)
        self.check_lines(kind, len(table), other, n_rows)
        return table

    def names(self, kind: str) -> list[str] | None:
        """Return names of labels by number, or None."""
        file = f"{kind.removesuffix('s')}_names"
        return text_lines(self.files[file], self.file(file)) if file in self.files else None

    def named(self, kind: str, column: LabelColumn) -> LabelColumn:
        """Return labels replaced by their names, if these exist."""
        names = self.names(kind)
        if names is None:
            return column
        for value in column.values:
            if not (isinstance(value, int) and 0 <= value < len(names)):
                file = self.file(f"{kind.removesuffix('s')}_names")
                raise ValueError(f"{file} has {len(names)} lines, but a label is {value}, counted from 0")
        return LabelColumn(column.ids, tuple(names[int(str(value))] for value in column.values))

    def ids(self, n_graphs: int) -> list[Any] | None:
        """Return ids of the graphs, as integers if all are integers; None without ids."""
        if "graph_ids" not in self.files:
            return None
        lines = text_lines(self.files["graph_ids"], self.file("graph_ids"))
        self.check_lines("graph_ids", len(lines), self.target_kind, n_graphs)
        numbers = all(re.fullmatch(r"-?\d{1,18}", line) for line in lines)
        return [int(line) for line in lines] if numbers else lines

    def ends(self, graph: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the nodes of each edge, counted from 0; both must exist and belong to one graph."""
        ends = self.integers("A", columns=2) - 1
        n_nodes = len(graph)
        wrong = np.flatnonzero((ends < 0) | (ends >= n_nodes))
        if wrong.size:
            line, named = int(wrong[0]) // 2, int(ends.ravel()[wrong[0]]) + 1
            raise ValueError(
                f"{self.file('A')}, line {line + 1} names node {named}, but {self.file(INDICATOR)} "
                f"has the nodes 1 to {n_nodes}"
            )
        graphs = graph[ends]
        crossing = np.flatnonzero(graphs[:, 0] != graphs[:, 1])
        if crossing.size:
            line = int(crossing[0])
            (u, v), (g, h) = ends[line] + 1, graphs[line] + 1
            raise ValueError(
                f"{self.file('A')}, line {line + 1} joins node {u} of graph {g} and node {v} of graph {h}: "
                "edges must stay inside one graph"
            )
        return ends

    def check_lines(self, kind: str, n_lines: int, other: str, n_other: int) -> None:
        """Raise ValueError if two files have different numbers of lines."""
        if n_lines != n_other:
            raise ValueError(f"{self.file(kind)} has {n_lines} lines, but {self.file(other)} has {n_other}")

    def extras(self, order: NDArray[np.int64], n_graphs: int) -> dict[str, Any]:
        """Return all data other than graphs and target; nodes are in the given order."""
        others = set(self.files) - {*KNOWN, *NODE_EXTRAS}
        extras: dict[str, Any] = {
            kind: text_lines(self.files[kind], self.file(kind))
            for kind in sorted(others)
            if "readme" not in kind.lower()
        }
        for kind in NODE_EXTRAS:
            rows = self.rows(kind, INDICATOR, len(order))
            extras |= {} if rows is None else {kind: rows[order]}
        if "graph_attributes" in self.files and self.target_kind == "graph_labels":
            extras["graph_attributes"] = self.floats("graph_attributes")
        for kind in {"smiles", "graph_attributes"} & set(extras):
            self.check_lines(kind, len(extras[kind]), self.target_kind, n_graphs)
        return extras

    def description(self) -> str:
        """Return the text of the README files."""
        texts = [self.files[kind] for kind in sorted(self.files) if "readme" in kind.lower()]
        return "\n\n".join(text.decode("utf-8", errors="replace").strip() for text in texts)


def label_column(table: NDArray[np.int64]) -> LabelColumn:
    """Return labels from one column, or tuples from several columns."""
    if table.shape[1] == 1:
        return LabelColumn.from_values(table[:, 0])
    rows, ids = np.unique(table, axis=0, return_inverse=True)
    return LabelColumn(ids.ravel().astype(np.int32), tuple(map(tuple, rows.tolist())))
