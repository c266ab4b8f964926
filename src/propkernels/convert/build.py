"""The one path of converters: read each graph as a Part, lay parts out as flat arrays, check, and build.

An error about one graph is a fault of this graph: it is raised with the name of the graph, or the graph is
left out or emptied.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels._utils.arrays import (
    ASK_FROM,
    available_memory,
    check_sizes,
    check_whole,
    in_bytes,
    object_array,
    offsets,
)
from propkernels._utils.cells import typed_column
from propkernels._utils.checks import check_choice, reason_of, shown
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import check_ids
from propkernels.graphs.labels import LabelColumn

BYTES_PER_NODE = 20  # memory for building a database without labels and edges
LARGEST_MEMORY = 2**47  # bytes; address space of a process, used if the memory size is unknown
Read = TypeVar("Read")
ERRORS = ("raise", "skip", "empty")  # treatments of invalid graphs, the same in every reader
MOST_NAMED = 5
NODE_PARTS = ("node_labels", "node_attributes")  # of FlatGraphs, one row per node
EDGE_PARTS = ("source", "target", "weights", "edge_labels", "edge_attributes")  # one row per listed edge


class Fault(Exception):
    """What is wrong with a graph, as a clause that follows its name.

    Parameters
    ----------
    reason : str
    kind : type, default=ValueError
        Error to raise.
    link : str, default=": "
        Text between name and reason.
    """

    def __init__(self, reason: str, kind: type[Exception] = ValueError, link: str = ": ") -> None:
        super().__init__(reason)
        self.reason, self.kind, self.link = reason, kind, link


@contextmanager
def as_fault() -> Iterator[None]:
    """Turn an error about a database of one graph into a fault of this graph."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        reason = str(error).removeprefix("graph 0: ").replace(" of graph 0", "")
        raise Fault(reason, kind) from None


class Faults:
    """Faults of the graphs of a list; with ``errors="raise"`` the first fault is raised.

    Parameters
    ----------
    errors : {"raise", "skip", "empty"}
        "empty" replaces an invalid graph by a graph without nodes.
    n_graphs : int
    ids : sequence, optional
        Ids of the graphs.
    first : int, default=0
        Position of the first graph in the user's list.
    noun : str, default="graph"
        Noun for a graph in messages, such as "molecule".
    """

    def __init__(
        self,
        errors: str,
        n_graphs: int,
        ids: Any = None,
        first: int = 0,
        noun: str = "graph",
    ) -> None:
        check_choice(errors, ERRORS, "errors")
        self.errors, self.n_graphs, self.first, self.noun = errors, n_graphs, first, noun
        self.ids = check_ids(ids, n_graphs)
        self.found: dict[int, str] = {}
        self.raised: Exception | None = None

    def name(self, position: int) -> str:
        """Return the name of a graph for messages."""
        if self.ids is None:
            return f"{self.noun} {self.first + int(position)}"
        return f"{self.noun} {shown(self.ids.tolist()[position])}"

    def add(self, position: int, reason: str, kind: type[Exception] = ValueError, link: str = ": ") -> None:
        """Record a fault of a graph, or raise it."""
        if self.errors == "raise":
            self.raised = kind(f"{self.name(position)}{link}{reason}")
            raise self.raised from None
        self.found.setdefault(int(position), reason)

    @contextmanager
    def reading(self, position: int) -> Iterator[None]:
        """Convert errors of the caller's objects to a fault of the graph at ``position``."""
        try:
            yield
        except MemoryError:
            raise
        except Fault as fault:
            self.add(position, fault.reason, fault.kind, fault.link)
        except Exception as error:
            if error is self.raised:
                raise
            self.add(position, f"cannot be read ({reason_of(error)})", link=" ")

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Mask of the graphs without faults."""
        mask = np.ones(self.n_graphs, dtype=bool)
        mask[list(self.found)] = False
        return mask

    @property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the graphs in the database, including emptied graphs."""
        return self.kept | (self.errors == "empty")

    @property
    def present_ids(self) -> NDArray[Any] | None:
        """Ids of the graphs in the database; by default positions where graphs may have been left out."""
        if self.ids is not None:
            return self.ids[self.present]
        return np.flatnonzero(self.kept) + self.first if self.errors == "skip" else None

    def told(self, graphs: GraphDatabase, stacklevel: int = 4) -> GraphDatabase:
        """Return graphs with the reasons of faults, after a warning if there are any."""
        if self.found:
            graphs.skipped = self.warn(stacklevel + 1)
        return graphs

    def warn(self, stacklevel: int = 3) -> dict[Any, str]:
        """Warn about faults, if there are any, and return the reasons by id or position."""
        names = range(self.first, self.first + self.n_graphs) if self.ids is None else self.ids.tolist()
        wrong = {names[i]: self.found[i] for i in sorted(self.found)}
        if wrong:
            named = [f"{shown(name)} ({reason})" for name, reason in list(wrong.items())[:MOST_NAMED]]
            more = ", ..." if len(wrong) > MOST_NAMED else ""
            what = "skipped" if self.errors == "skip" else "left empty"
            warnings.warn(
                f"{what} {len(wrong)} of {self.n_graphs} {self.noun}s: {', '.join(named)}{more}",
                stacklevel=stacklevel,
            )
        return wrong


def comes_from(thing: Any, module: str) -> bool:
    """Return whether the class of an object is one of a library, without importing the library."""
    return any(base.__module__.startswith(module) for base in type(thing).__mro__)


def listed(items: Any, kind: str) -> list[Any]:
    """Return a list of graphs, molecules or clouds; raise TypeError if it is not a collection."""
    if not isinstance(items, Iterable) or getattr(items, "shape", None) == ():
        raise TypeError(f"expected a list of {kind}, got {shown(items)}")
    return list(items)


def check_name(
    graphs: Iterable[Any],
    parameter: str,
    name: str | None,
    usual: str | None,
    names_of: Callable[[Any], Iterable[Any] | None],
) -> None:
    """Raise ValueError if no graph has a name that the caller chose; the message lists names that exist.

    Graphs may lack the usual name. ``names_of`` returns the names that a graph has, or None if it has no
    nodes or edges to have them.
    """
    if name is None or name == usual:
        return
    known: dict[Any, None] = {}
    is_asked = False
    for graph in graphs:
        with suppress(Exception):  # graphs that cannot be asked are reported by the conversion
            names = names_of(graph)
            is_asked |= names is not None
            known |= dict.fromkeys(names or ())
        if name in known:
            return
    if is_asked:
        there = f"there are {', '.join(map(repr, known))}" if known else "there are none"
        raise ValueError(f"no graph has {parameter}={name!r}: {there}")


def read_targets(graphs: list[Any], read: Callable[[Any], Any], faults: Faults) -> list[Any]:
    """Return the targets of graphs; None for graphs that are left out."""
    values = []
    for i, graph in enumerate(graphs):
        try:
            values.append(None if i in faults.found else read(graph))
        except Exception as error:
            raise ValueError(f"{faults.name(i)}: its target cannot be read ({reason_of(error)})") from None
    return values


def with_target(graphs: GraphDatabase, target: Any, faults: Faults) -> tuple[GraphDatabase, NDArray[Any]]:
    """Return graphs and the targets of the kept graphs, one row per graph; missing targets stay missing.

    Targets are numbers, strings or rows; rows of different lengths become objects.
    """
    several = target if isinstance(target, np.ndarray) else list(target)
    if not any(isinstance(value, (list, tuple, np.ndarray)) for value in several):
        return graphs, typed_column(several)[faults.present]
    try:
        return graphs, np.asarray(several)[faults.present]
    except ValueError:
        return graphs, object_array(list(several))[faults.present]


@dataclass
class FlatGraphs:
    """Graphs as flat arrays; absent parts are None.

    Attributes
    ----------
    sizes, edge_counts : ndarray of int64, (n,)
        Numbers of nodes and of listed edges of each graph.
    source, target : ndarray of int64, (edges,)
        Nodes of each edge, counted from 0 in each graph.
    directed : bool
        Whether edges are directed from source to target. Undirected edges are listed once.
    weights : ndarray of float64, (edges,)
    node_labels, edge_labels
        As for GraphDatabase, one per node and one per listed edge.
    node_attributes, edge_attributes : ndarray, one row per node and one per listed edge
    edge_attribute_names : sequence of str
    """

    sizes: NDArray[np.int64]
    edge_counts: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    directed: bool = False
    weights: NDArray[np.float64] | None = None
    node_labels: Any = None
    node_attributes: Any = None
    edge_labels: Any = None
    edge_attributes: Any = None
    edge_attribute_names: Any = None

    def keep(self, parts: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Keep some rows of parts; the numbers of nodes and edges are the caller's."""
        for name in parts:
            values = getattr(self, name)
            if values is not None:
                setattr(self, name, values[rows] if isinstance(values, np.ndarray) else values.take(rows))


@dataclass
class Part:
    """One graph as it is read; absent parts are None.

    Attributes
    ----------
    n_nodes : int
    source, target : sequence of int
        Nodes of each edge, counted from 0.
    weights : sequence of float
    node_labels, edge_labels : list
    node_attributes, edge_attributes : ndarray, one row per node and one per listed edge
    """

    n_nodes: int = 0
    source: Any = ()
    target: Any = ()
    weights: Any = None
    node_labels: Any = None
    node_attributes: Any = None
    edge_labels: Any = None
    edge_attributes: Any = None


def read_each(
    graphs: Sequence[Any], read: Callable[[Any], Read], faults: Faults, nothing: Read
) -> list[Read]:
    """Return what is read of each graph; ``nothing`` for graphs with faults."""
    parts = [nothing for _ in graphs]
    for i, graph in enumerate(graphs):
        if i not in faults.found:
            with faults.reading(i):
                parts[i] = read(graph)
    return parts


def flattened(parts: Sequence[Part], faults: Faults, directed: bool = True) -> FlatGraphs:
    """Return the parts of all graphs in a row; attributes must have one width, and labels may be absent."""
    sizes, counts = integers([part.n_nodes for part in parts]), integers([len(part.source) for part in parts])
    weights = [np.ones(len(part.source)) if part.weights is None else part.weights for part in parts]
    return FlatGraphs(
        sizes,
        counts,
        joined([np.asarray(part.source, dtype=np.int64) for part in parts], integers([])),
        joined([np.asarray(part.target, dtype=np.int64) for part in parts], integers([])),
        directed,
        joined(weights, np.ones(0)),
        _labels([part.node_labels for part in parts], sizes),
        stacked([part.node_attributes for part in parts], sizes, faults, "node attributes"),
        _labels([part.edge_labels for part in parts], counts),
        stacked([part.edge_attributes for part in parts], counts, faults, "edge attributes"),
    )


def _labels(several: list[Any], counts: NDArray[np.int64]) -> list[Any] | None:
    if all(labels is None for labels in several):
        return None
    pairs = zip(several, counts.tolist(), strict=True)
    return [label for labels, n in pairs for label in ([None] * n if labels is None else labels)]


def stacked(tables: Sequence[Any], counts: NDArray[np.int64], faults: Faults, noun: str) -> Any:
    """Return rows of numbers of all graphs; a graph without rows is compatible with any width."""
    like = check_widths(tables, counts, faults, noun)
    if like is None:
        return None
    fits = [table is not None and table.shape[1] == like.shape[1] for table in tables]
    blank = (np.zeros((n, like.shape[1]), dtype=like.dtype) for n in counts.tolist())
    return np.concatenate([t if fit else none for t, fit, none in zip(tables, fits, blank, strict=True)])


def check_widths(tables: Sequence[Any], counts: NDArray[np.int64], faults: Faults, noun: str) -> Any:
    """Return the first table with rows, else any; add faults for tables of another number of columns."""
    first = next((i for i, t in enumerate(tables) if t is not None and counts[i] and t.shape[1]), None)
    if first is None:
        return None if counts.any() else next((table for table in tables if table is not None), None)
    name, width = faults.name(first), tables[first].shape[1]
    for i, table in enumerate(tables):
        own = 0 if table is None else table.shape[1]
        if own != width and counts[i] and i not in faults.found:
            differs = f"has {own} {noun} but {name} has {width}"
            faults.add(i, differs if own else f"has no {noun} but {name} has some", link=" ")
    return tables[first]


def build(flat: FlatGraphs, faults: Faults) -> GraphDatabase:
    """Return the database of valid graphs; validate the arrays and leave out or raise faults."""
    n_edges = len(flat.source)
    flat.sizes = check_sizes(flat.sizes, "numbers of nodes", pieces=faults.n_graphs)
    flat.edge_counts = check_sizes(
        flat.edge_counts, "numbers of edges", total=n_edges, pieces=faults.n_graphs
    )
    check_nodes_fit(int(flat.sizes.sum()))
    for names, expected in ((EDGE_PARTS, n_edges), (NODE_PARTS, int(flat.sizes.sum()))):
        for name in names:
            values = getattr(flat, name)
            if values is not None and len(values) != expected:
                raise ValueError(f"{name} must have {expected} values, got {len(values)}")
    flat.node_labels = _labels_of(flat.node_labels, flat.sizes, "node", faults)
    flat.edge_labels = _labels_of(flat.edge_labels, flat.edge_counts, "edge", faults)
    _check_edges(flat, faults)
    _check_finite(flat.node_attributes, flat.sizes, "node", faults)
    _check_finite(flat.edge_attributes, flat.edge_counts, "edge", faults)
    if faults.found:  # leave nodes and edges out and, unless such graphs stay empty, the graphs
        kept = faults.kept
        flat.keep(NODE_PARTS, np.flatnonzero(np.repeat(kept, flat.sizes)))
        flat.keep(EDGE_PARTS, np.flatnonzero(np.repeat(kept, flat.edge_counts)))
        flat.sizes = (flat.sizes * kept)[faults.present]
        flat.edge_counts = (flat.edge_counts * kept)[faults.present]
    starts = offsets(flat.sizes)
    shift = np.repeat(starts[:-1], flat.edge_counts)
    rows, cols = flat.source + shift, flat.target + shift
    weights = np.ones(len(rows)) if flat.weights is None else flat.weights
    labels, attributes = flat.edge_labels, flat.edge_attributes
    if not flat.directed:
        back = np.flatnonzero(rows != cols)
        rows, cols = np.concatenate([rows, cols[back]]), np.concatenate([cols, rows[back]])
        weights = np.concatenate([weights, weights[back]])
        if labels is not None:
            labels = LabelColumn(np.concatenate([labels.ids, labels.ids[back]]), labels.values)
        attributes = None if attributes is None else np.concatenate([attributes, attributes[back]])
    n = int(starts[-1])
    graphs = GraphDatabase(
        coo_array((weights, (rows, cols)), shape=(n, n)),
        starts,
        flat.node_labels,
        flat.node_attributes,
        labels,
        attributes,
        faults.present_ids,
        flat.edge_attribute_names,
    )
    return faults.told(graphs, stacklevel=5)


def check_nodes_fit(n_nodes: int) -> None:
    """Raise ValueError if nodes, even without labels and edges, need more than the available memory."""
    needed = n_nodes * BYTES_PER_NODE
    there = needed if needed < ASK_FROM else available_memory() or LARGEST_MEMORY
    if needed > there:
        found = f"{in_bytes(there)} are available"
        raise ValueError(f"{n_nodes:,} nodes need {in_bytes(needed)} of memory, and {found}")


def owners(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each edge's (or node's) graph."""
    return np.repeat(np.arange(len(counts)), counts)


def _labels_of(labels: Any, counts: NDArray[np.int64], noun: str, faults: Faults) -> LabelColumn | None:
    if labels is None or isinstance(labels, LabelColumn):
        return labels
    starts, graph = offsets(counts), owners(counts)

    def wrong(row: int, label: str) -> str:
        return f"{noun}_labels: the label {label} of {noun} {row - int(starts[graph[row]])}"

    return encoded(labels, graph, faults, wrong)


def encoded(
    labels: Any, graph: NDArray[np.int64], faults: Faults, told: Callable[[int, str], str]
) -> LabelColumn:
    """Return encoded labels; faults, told by row and label, name those that are not hashable."""
    try:
        return LabelColumn.from_values(labels)
    except Exception:  # labels may raise any error
        values = list(labels)
    for row, owner in enumerate(graph.tolist()):
        reason = why_no_label(values[row])
        if reason is not None:
            faults.add(owner, f"{told(row, shown(values[row]))} {reason}", TypeError)
            values[row] = None
    return LabelColumn.from_values(values)


def why_no_label(label: Any) -> str | None:
    """Return the reason why a value is not a valid label; None if it is valid."""
    try:
        hash(label)
    except Exception:
        return "is not hashable"
    try:
        LabelColumn.from_values([label])
    except Exception as error:
        return f"cannot be one ({reason_of(error)})"
    return None


def _check_edges(flat: FlatGraphs, faults: Faults) -> None:
    """Add faults for edges to missing nodes, and for weights that are infinite or negative."""
    graph = owners(flat.edge_counts)
    limit = flat.sizes[graph]
    weights = np.zeros(len(graph)) if flat.weights is None else flat.weights
    is_outside = (np.minimum(flat.source, flat.target) < 0) | (np.maximum(flat.source, flat.target) >= limit)
    for edge in _first_of_each(graph, is_outside):
        known = f"names a node that is not there: it has {int(limit[edge])} nodes"
        faults.add(int(graph[edge]), f"edge ({flat.source[edge]}, {flat.target[edge]}) {known}")
    for edge in _first_of_each(graph, ~((weights >= 0) & (weights < np.inf))):
        reason = f"has weight {weights[edge]}: weights must be finite and not negative"
        faults.add(int(graph[edge]), f"edge ({flat.source[edge]}, {flat.target[edge]}) {reason}")


def _check_finite(table: Any, counts: NDArray[np.int64], noun: str, faults: Faults) -> None:
    """Add faults for infinite attributes of nodes or edges."""
    rows = np.asarray(() if table is None else table, dtype=np.float64)
    rows = rows.reshape(len(rows), -1) if rows.size else np.empty((0, 0))
    infinite = np.isinf(rows).any(axis=1)
    if infinite.any():
        graph, starts = owners(counts), offsets(counts)
        for row in _first_of_each(graph, infinite):
            dimension = int(np.flatnonzero(np.isinf(rows[row]))[0])
            value = f"an infinite attribute in dimension {dimension}: {rows[row, dimension]}"
            faults.add(int(graph[row]), f"{noun} {row - int(starts[graph[row]])} has {value}")


def _first_of_each(graph: NDArray[np.int64], wrong: Any) -> list[int]:
    """Return the first wrong row of each graph with wrong rows."""
    rows = np.flatnonzero(wrong)
    return [int(i) for i in rows[np.unique(graph[rows], return_index=True)[1]]]


def integers(values: Any) -> NDArray[np.int64]:
    """Return a flat int64 array of a list of whole numbers."""
    return check_whole(np.asarray(values).reshape(-1), "numbers of nodes and edges").astype(np.int64)


def numbers(values: Any) -> NDArray[np.float64] | None:
    """Return values as floats; None if they are not numbers, too large, or rows of different lengths.

    Examples
    --------
    >>> numbers([1, 2.5]), numbers([10**400]), numbers(["a"]), numbers([[1], [2, 3]])
    (array([1. , 2.5]), None, None, None)
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=np.float64)
    except MemoryError:
        raise
    except Exception:  # values may raise any error in the conversion to a number
        pass
    return None


def each_number(values: Iterable[Any]) -> NDArray[np.float64]:
    """Return single values as floats; NaN for anything else."""
    each = [numbers(value) for value in values]
    return np.array([np.nan if one is None or one.ndim else one for one in each], dtype=np.float64)


def joined(parts: Sequence[Any], like: Any = ()) -> NDArray[Any]:
    """Concatenate arrays; without arrays, return an empty array like ``like``."""
    return np.concatenate(parts) if parts else np.asarray(like)
