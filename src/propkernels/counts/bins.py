"""Descriptions of bins: an example, the number of graphs, and their mean target.

A bin contains all items with one code. In propagation and Weisfeiler-Lehman kernels, an item is a node with
its neighborhood of radius t: the nodes at most t edges away, and the edges with an end less than t edges
away, which is the part of the graph that t steps of diffusion reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels._utils.checks import format_number, format_table
from propkernels._utils.optional import data_frame, import_optional
from propkernels.convert.asking_rdkit import with_atoms
from propkernels.convert.graph_molecules import known_molecule
from propkernels.counts.counters import Counter, Occurrences, StreamCounts
from propkernels.counts.levels import level_codes, level_numbers
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import label_text

MOST_TEXT = 48  # characters of a bin's neighborhood in a table
HEADINGS = {"n_graphs": "graphs", "mean_with": "target with it", "mean_without": "without it"}  # in notebooks


class ChosenBin(NamedTuple):
    """A bin to describe: stream number, code, column of the features, and weight."""

    stream: int
    code: int
    column: int | None = None
    weight: float | None = None


@dataclass(frozen=True, eq=False)
class Bin:
    """Description of one bin.

    Attributes
    ----------
    column : int or None
        Column of the features.
    t : int
        Iteration.
    weight : float or None
        Contribution of one count to the decision of a model.
    n_graphs : int
        Number of graphs with the bin.
    mean_with, mean_without : float or None
        Mean target of the graphs with and without the bin; NaN for no graphs.
    level : int
        The bin counts graphs with at least ``level`` items; 1 except for the base kernel "intersection".
    graph, node : int or None
        An example: the smallest graph with the bin, and its first such node. None: no graph has the bin.
    nodes : tuple of int
        Nodes of the neighborhood in the example, nearest first.
    subgraph : Graph or None
        The neighborhood, with nodes in the order of ``nodes``; node 0 is the root.
    neighborhood : str
        Labels of these nodes by distance: "C | C N | O" is a C with neighbors C and N, and O behind them.
    smarts : str or None
        The neighborhood as SMARTS, if molecules are given.
    stream, code : int or None
        Stream of the bin, and the code of its nodes.
    member : int
        Number of the kernel of a model that counts the bin.
    """

    column: int | None
    t: int
    weight: float | None
    n_graphs: int
    mean_with: float | None
    mean_without: float | None
    level: int = 1
    graph: int | None = None
    node: int | None = None
    nodes: tuple[int, ...] = ()
    subgraph: Graph | None = None
    neighborhood: str = ""
    smarts: str | None = None
    stream: int | None = None
    code: int | None = None
    member: int = 0


class Bins(Sequence[Bin]):
    """Descriptions of bins, printed as a table.

    Parameters
    ----------
    bins : sequence of Bin
    subject : str, optional
        Meaning of a positive weight.
    """

    def __init__(self, bins: Sequence[Bin], subject: str = "") -> None:
        self._bins = tuple(bins)
        self.subject = subject

    def __len__(self) -> int:
        return len(self._bins)

    def __getitem__(self, at: Any) -> Any:
        return Bins(self._bins[at], self.subject) if isinstance(at, slice) else self._bins[at]

    def __iter__(self) -> Iterator[Bin]:
        return iter(self._bins)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per bin, without fields that are None for all bins."""
        names = ("column", "t", "weight", "n_graphs", "mean_with", "mean_without", "level", "graph", "node")
        records = [{name: getattr(b, name) for name in (*names, "neighborhood", "smarts")} for b in self]
        omitted = {name for name in names if all(record[name] is None for record in records)}
        omitted |= {"level"} if all(b.level == 1 for b in self) else set()
        omitted |= {"smarts"} if all(b.smarts is None for b in self) else set()
        return [{key: value for key, value in r.items() if key not in omitted} for r in records]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per bin."""
        return data_frame(self.records())

    def __str__(self) -> str:
        records = self.records()
        if not records:
            return "no bins"
        head = list(records[0])
        rows = [[_cell(name, record[name]) for name in head] for record in records]
        table = format_table(head, rows, left=("neighborhood", "smarts"))
        return f"{table}\n(weights {self.subject})" if self.subject else table

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Table, show_result

        records = self.records()
        head = list(records[0]) if records else []
        rows = [[_cell(name, record[name]) for name in head] for record in records]
        title = f"{len(self)} bins" + (f", weights {self.subject}" if self.subject else "")
        return show_result(title, Table([HEADINGS.get(name, name) for name in head], rows))


def _cell(name: str, value: Any) -> str:
    """Return a value as the text of a table cell, at most ``MOST_TEXT`` characters long."""
    if value is None or value != value:
        return "-"
    if name == "weight":
        return format_number(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= MOST_TEXT or name == "smarts" else text[: MOST_TEXT - 3] + "..."


class Shown(NamedTuple):
    """Graphs from which bins are described.

    Attributes
    ----------
    graphs : GraphDatabase or GridDatabase
    target : ndarray of float64, (n,), or None
        Target of each graph; NaN: missing.
    molecules : sequence of rdkit.Chem.Mol, or None
        Molecules of the graphs.
    label_names : mapping
        Display names of labels.
    """

    graphs: Any
    target: NDArray[np.float64] | None = None
    molecules: Sequence[Any] | None = None
    label_names: Mapping[Any, str] = {}


def describe_bins(counter: Counter, chosen: Sequence[ChosenBin], shown: Shown) -> list[Bin]:
    """Return descriptions of bins from the graphs that have them.

    Parameters
    ----------
    counter : Counter
    chosen : sequence of ChosenBin
    shown : Shown
    """
    if shown.molecules is not None and len(shown.molecules) != len(shown.graphs):
        raise ValueError(f"there are {len(shown.molecules)} molecules for {len(shown.graphs)} graphs")
    streams = counter.count(shown.graphs, None)
    return [_described(counter, streams[item.stream], item, shown) for item in chosen]


def _described(counter: Counter, stream: StreamCounts, chosen: ChosenBin, shown: Shown) -> Bin:
    """Return the description of one bin."""
    having = _graphs_having(stream, chosen.code)
    head = (chosen.column, stream.iteration, chosen.weight, int(having.sum()), *_means(shown.target, having))
    if not having.any():
        return Bin(*head, stream=chosen.stream, code=chosen.code)
    owners = np.flatnonzero(having)
    graph = int(owners[np.argmin(np.diff(shown.graphs.graph_ptr)[owners])])
    alone = shown.graphs[[graph]]
    items = next(islice(counter.occurrences(alone), chosen.stream, None))
    roots, level, code = _first_item(items, chosen.code)
    plain = alone.to_graphs() if isinstance(alone, GridDatabase) else alone
    radius = stream.iteration if items.nodes is None else 0
    nodes, distances = nodes_around(plain.adjacency, roots, radius)
    return Bin(
        *head,
        level,
        graph,
        int(roots[0]),
        tuple(nodes.tolist()),
        _subgraph(plain, nodes, distances, radius),
        _shells(plain, nodes, distances, shown.label_names or plain.names.labels),
        smarts_of(with_atoms(shown.molecules[graph], plain.n_nodes, graph), roots, radius)
        if shown.molecules is not None
        else None,
        chosen.stream,
        code,
    )


def _graphs_having(stream: StreamCounts, code: int) -> NDArray[np.bool_]:
    """Return, per graph, whether it has the bin of a code."""
    column = np.flatnonzero(stream.codes == code)
    owner = np.repeat(np.arange(stream.counts.shape[0]), np.diff(stream.counts.indptr))
    having = np.zeros(stream.counts.shape[0], dtype=bool)
    having[owner[np.isin(stream.counts.indices, column)]] = True
    return having


def _means(
    target: NDArray[np.float64] | None, having: NDArray[np.bool_]
) -> tuple[float | None, float | None]:
    """Return the mean target with and without a bin, ignoring missing targets."""
    if target is None:
        return None, None
    present = ~np.isnan(target)
    parts = target[present & having], target[present & ~having]
    first, second = (float(part.mean()) if len(part) else float("nan") for part in parts)
    return first, second


def _first_item(items: Occurrences, code: int) -> tuple[NDArray[np.int64], int, int]:
    """Return the nodes of the first item of a bin in one graph, the bin's level, and its items' code."""
    level = 1
    if items.assigned:
        bins, numbers = np.unique(items.codes, return_counts=True)
        at = int(np.flatnonzero(level_codes(bins, numbers) == code)[0])
        code, level = int(np.repeat(bins, numbers)[at]), int(level_numbers(numbers)[at])
    first = int(np.flatnonzero(items.codes == code)[0])
    nodes = np.array([first]) if items.nodes is None else np.unique(items.nodes[first])
    return nodes.astype(np.int64), level, code


def nodes_around(
    adjacency: csr_array, roots: NDArray[np.int64], radius: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes at most ``radius`` edges away from roots, nearest first, and their distances.

    Examples
    --------
    >>> path = csr_array(np.eye(5, k=1) + np.eye(5, k=-1))
    >>> nodes_around(path, np.array([1]), 2)
    (array([1, 0, 2, 3]), array([0, 1, 1, 2]))
    """
    distance = np.full(adjacency.shape[0], -1)
    distance[roots] = 0
    shell, shells = roots, [roots]
    for step in range(1, radius + 1):
        ends = np.unique(adjacency[shell].indices)
        shell = ends[distance[ends] < 0]
        if not len(shell):
            break
        distance[shell] = step
        shells.append(shell)
    nodes = np.concatenate(shells).astype(np.int64)
    return nodes, distance[nodes]


def _subgraph(
    graphs: GraphDatabase, nodes: NDArray[np.int64], distances: NDArray[np.int64], radius: int
) -> Graph:
    """Return the neighborhood as a graph, without edges between two nodes at distance ``radius``."""
    matrix = graphs.adjacency
    position = np.full(matrix.shape[0], -1)
    position[nodes] = np.arange(len(nodes))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    ends = position[rows], position[matrix.indices]
    inside = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0))
    if radius:  # with radius 0, edges are between nodes of one item
        nearer = np.minimum(distances[ends[0][inside]], distances[ends[1][inside]])
        inside = inside[nearer < radius]
    n = len(nodes)
    labels, edge_labels, attributes = graphs.label_column, graphs.edge_label_column, graphs.node_attributes
    database = GraphDatabase(
        coo_array((matrix.data[inside], (ends[0][inside], ends[1][inside])), shape=(n, n)),
        [0, n],
        None if labels is None else labels.take(nodes),
        None if attributes is None else attributes[nodes],
        None if edge_labels is None else edge_labels.take(inside),
    )
    return Graph(database.with_names(graphs.names.labels, graphs.names.edge_labels))


def _shells(
    graphs: GraphDatabase,
    nodes: NDArray[np.int64],
    distances: NDArray[np.int64],
    names: Mapping[Any, str],
) -> str:
    """Return the labels by distance as text; a star for a missing label."""
    column = graphs.label_column
    if isinstance(column, LabelColumn):
        values = ["*" if i < 0 else column.values[i] for i in column.ids[nodes].tolist()]
    else:
        values = ["*"] * len(nodes)
    texts = np.array([label_text(value, names) for value in values], dtype=object)
    return " | ".join(" ".join(sorted(texts[distances == d])) for d in range(int(distances[-1]) + 1))


def bin_text(graph: GraphDatabase, nodes: NDArray[np.int64], t: int, labels: Sequence[Any]) -> str:
    """Return a bin as text: SMARTS around its first node, if the graph was made of a molecule, else labels.

    Parameters
    ----------
    graph : GraphDatabase
        One graph.
    nodes : ndarray, (nodes,) or (pairs, 2)
        Nodes of the bin.
    t : int
        The iteration.
    labels : sequence
        Labels of the nodes.
    """
    if getattr(graph, "sources", None) is not None and nodes.ndim == 1 and len(nodes):
        mol = known_molecule(graph)
        if mol is not None:
            return smarts_of(mol, nodes[:1], t)
    return ", ".join(label_text(label, graph.names.labels) for label in labels) or "-"


def smarts_of(mol: Any, roots: NDArray[np.int64], radius: int) -> str:
    """Return the neighborhood of an atom, or several atoms with the bonds between them, as SMARTS."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="SMARTS need")
    atoms, bonds = set(roots.tolist()), list[int]()
    if radius:
        around = chem.FindAtomEnvironmentOfRadiusN(mol, radius, int(roots[0]), useHs=True, enforceSize=False)
        bonds = list(around)
        for bond in map(mol.GetBondWithIdx, bonds):
            atoms |= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
    elif len(atoms) > 1:
        within = [bond for bond in mol.GetBonds() if {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()} <= atoms]
        bonds = [bond.GetIdx() for bond in within]
    return str(chem.MolFragmentToSmarts(mol, sorted(atoms), bonds, False))  # without stereochemistry
