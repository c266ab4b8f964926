"""List behavior of databases: indexing, subsets, concatenation and text; Graph, a single graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from propkernels._utils.arrays import freeze, frozen, index_dtype, offsets, ranges
from propkernels._utils.cells import id_array
from propkernels._utils.locks import cached_property
from propkernels._utils.typing import Array, LabelNames
from propkernels.graphs.descriptors import join_descriptors
from propkernels.graphs.label_distributions import LabelDistributions, concat_labels
from propkernels.graphs.labels import UNOBSERVED, LabelColumn
from propkernels.graphs.moments import Moments
from propkernels.graphs.names import Names

if TYPE_CHECKING:
    from networkx import Graph as NetworkxGraph

    from propkernels.graphs.database import GraphDatabase


def as_positions(key: Any, length: int) -> Any:
    """Return an index as a position (int) or an int64 array of positions, all in range.

    Parameters
    ----------
    key : int, slice, sequence of int, index array or boolean mask
    length : int
        Number of items.

    Returns
    -------
    int or ndarray of int64
    """
    if isinstance(key, slice):
        return np.arange(length, dtype=np.int64)[key]
    array = np.asarray(key)
    if array.ndim == 0 and array.dtype.kind in "iu":
        position = int(array)
        if not -length <= position < length:
            raise IndexError(f"graph {position} is out of range: there are {length} graphs")
        return position % length
    if array.ndim != 1:
        raise IndexError(f"graphs are indexed by an int, slice, list or mask, not by {key!r}")
    if array.dtype == bool:
        if len(array) != length:
            raise IndexError(f"a boolean mask of length {len(array)} cannot index {length} graphs")
        return np.flatnonzero(array)
    if array.size and array.dtype.kind not in "iu":
        raise IndexError(f"graphs are indexed by whole numbers, not by {array.dtype} values")
    array = array.astype(np.int64)
    wrong = (array < -length) | (array >= length)
    if wrong.any():
        raise IndexError(f"graph {array[wrong][0]} is out of range: there are {length} graphs")
    return np.where(array < 0, array + length, array)


One = TypeVar("One")
Labels = TypeVar("Labels", bound=LabelColumn | LabelDistributions | None)


class Container(ABC, Generic[One, Labels]):
    """A list of graphs; the nodes of graph i are ``graph_ptr[i]`` to ``graph_ptr[i + 1] - 1``.

    ``iloc`` and ``take`` preserve its type in scikit-learn's Pipeline, cross-validation and train_test_split.
    """

    graph_ptr: NDArray[np.int64]
    _labels: Labels
    names: Names = Names()
    node_attributes: Any
    _stored: tuple[str, ...]  # attributes that hold the data

    @abstractmethod
    def _subset(self, positions: NDArray[np.int64]) -> Self:
        """Return the graphs at the given positions, which are in range."""

    @abstractmethod
    def _single(self, position: int) -> One:
        """Return the graph at the given position, which is in range."""

    @property
    def n_nodes(self) -> int:
        """Total number of nodes of all graphs."""
        return int(self.graph_ptr[-1])

    @property
    def node_labels(self) -> Array | Any:
        """Node labels: integers (-1: unobserved), objects (None: unobserved) or distributions."""
        return None if self._labels is None else self._labels.to_array()

    @property
    def label_column(self) -> Labels:
        """Encoded node labels (ids and values), or label distributions."""
        return self._labels

    @property
    def label_values(self) -> tuple[Hashable, ...]:
        """The distinct node labels that occur."""
        return () if self._labels is None else self._labels.present

    @property
    def graph_sizes(self) -> NDArray[np.int64]:
        """Number of nodes of each graph."""
        return np.diff(self.graph_ptr)

    @cached_property
    def graph_ids(self) -> NDArray[np.int32]:
        """Position of each node's graph."""
        return frozen(np.repeat(np.arange(len(self), dtype=np.int32), self.graph_sizes))

    def __len__(self) -> int:
        return len(self.graph_ptr) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(number of graphs,)``."""
        return (len(self),)

    @overload
    def __getitem__(self, key: int) -> One: ...
    @overload
    def __getitem__(self, key: Any) -> Self: ...
    def __getitem__(self, key: Any) -> One | Self:
        """Return a graph for an integer, a database for a slice, list, index array or boolean mask."""
        positions = as_positions(key, len(self))
        return self._single(positions) if isinstance(positions, int) else self._subset(positions)

    def __iter__(self) -> Iterator[One]:
        return (self._single(i) for i in range(len(self)))

    def take(self, indices: ArrayLike, axis: int = 0) -> Self:
        """Return the graphs at the given positions (scikit-learn calls this method)."""
        if axis != 0:
            raise ValueError(f"a {type(self).__name__} has one axis, its graphs: use axis=0")
        return self._subset(as_positions(np.atleast_1d(np.asarray(indices)), len(self)))

    def with_names(
        self,
        labels: LabelNames | None = None,
        edge_labels: LabelNames | None = None,
        classes: LabelNames | None = None,
    ) -> Self:
        """Return the same graphs with display names of labels and classes.

        Parameters
        ----------
        labels, edge_labels, classes : mapping, optional
            Names of node labels, of edge labels and of the classes of graphs, shown in tables, drawings and
            pages; kernels and models ignore them. None: the names that the database has.

        Examples
        --------
        >>> import propkernels as pk
        >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=[0, 1])
        >>> pair.with_names({0: "C", 1: "N"})[0].database.names.label(1)
        'N'
        """
        database = object.__new__(type(self))
        database.__dict__.update(self.__dict__)
        database.names = Names(
            dict(self.names.labels if labels is None else labels),
            dict(self.names.edge_labels if edge_labels is None else edge_labels),
            dict(self.names.classes if classes is None else classes),
        )
        return database

    def __getstate__(self) -> dict[str, Any]:
        """Pickle and copy the data without cached properties."""
        return {name: getattr(self, name) for name in self._stored}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the unpickled arrays read-only again."""
        self.__dict__.update(state)
        freeze(*(part for part in state.values() if isinstance(part, (np.ndarray, csr_array))))

    @property
    def iloc(self) -> Self:
        """The database itself, indexed by position (scikit-learn looks for this name)."""
        return self

    loc = iloc


Many = TypeVar("Many", bound=Container[Any, Any])


class Single(Generic[Many]):
    """A single graph or image: a database of one."""

    def __init__(self, database: Many) -> None:
        if len(database) != 1:
            kind = type(self).__name__
            raise ValueError(f"a {kind} is made of a database with one graph, got {len(database)}")
        self.database = database

    @property
    def node_labels(self) -> Array | Any:
        """One label per node (of an image: per counted pixel), or None."""
        return self.database.node_labels

    @property
    def node_attributes(self) -> NDArray[np.float64] | Any:
        """One row per node, or None."""
        return self.database.node_attributes

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.database.n_nodes

    def __eq__(self, other: object) -> bool:
        return self.database == other.database if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def databases_of(items: Iterable[Any], kind: type[Many], noun: str = "item") -> list[Many]:
    """Return databases of one kind; a single graph or image is its database."""
    databases = [item.database if isinstance(item, Single) else item for item in items]
    for i, database in enumerate(databases):
        if not isinstance(database, kind):
            raise TypeError(f"{noun} {i} is a {type(database).__name__}, not a {kind.__name__}")
    return databases


class Graph(Single["GraphDatabase"]):
    """A single graph, as returned by ``db[i]`` or by iterating over a GraphDatabase.

    Attributes
    ----------
    database : GraphDatabase
        A database of this graph only.

    See Also
    --------
    GraphDatabase : Many graphs.

    Examples
    --------
    >>> import propkernels as pk
    >>> graph = pk.datasets.make_molecules(3, random_state=0).graphs[0]
    >>> graph.adjacency.shape[0] == len(graph.node_labels)
    True
    """

    @property
    def adjacency(self) -> csr_array:
        """Weighted adjacency matrix, (nodes, nodes)."""
        return self.database.adjacency

    @property
    def attribute_matrix(self) -> NDArray[np.float64] | csr_array | None:
        """One row per node, dense or sparse as stored, or None."""
        return self.database.attribute_matrix

    @property
    def edge_labels(self) -> Array | None:
        """One label per stored entry of ``adjacency``, or None."""
        return self.database.edge_labels

    @property
    def edge_attributes(self) -> NDArray[np.float64] | Any:
        """One row per stored entry of ``adjacency``, or None."""
        return self.database.edge_attributes

    @property
    def id(self) -> Hashable:
        """Id of the graph, or None."""
        return None if self.database.ids is None else self.database.ids[0]

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self.database.n_edges

    def __repr__(self) -> str:
        return f"Graph({describe(self.database)})"

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import show_graph

        return show_graph(self)

    def to_networkx(self) -> NetworkxGraph:
        """Return a networkx ``Graph``, or a ``DiGraph`` for directed edges (or their multigraphs)."""
        from propkernels.convert.networkx import graph_to_networkx

        return graph_to_networkx(self)


def count(number: int, noun: str) -> str:
    """Return the number with the noun in singular or plural: "1 node", "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def describe(database: GraphDatabase) -> str:
    """Return the numbers of nodes, edges, labels and attributes as text."""
    kind = "" if database.is_unweighted else "weighted "
    edge = f"{kind}directed edge" if database.is_directed else f"{kind}edge"
    parts = [count(database.n_nodes, "node"), count(database.n_edges, edge)]
    column = database.label_column
    if column is not None:
        parts.append(count(len(column.present), "node label"))
        missing = int(np.count_nonzero(~column.observed))
        if missing:
            parts.append(f"{missing} unobserved")
    if database.attribute_matrix is not None:
        parts.append(count(database.attribute_matrix.shape[1], "attribute"))
    if database.edge_label_column is not None:
        parts.append(count(len(database.edge_label_column.present), "edge label"))
    if database.edge_attributes is not None:
        parts.append(count(database.edge_attributes.shape[1], "edge attribute"))
    if database.moments is not None:
        parts.append("in time")
    if database.descriptors is not None:
        parts.append(count(len(database.descriptors.names), "descriptor"))
    return ", ".join(parts)


def parts_of_subset(database: GraphDatabase, positions: NDArray[np.int64]) -> tuple[Any, ...]:
    """Return the parts of a new database with copies of the graphs at the given positions."""
    matrix, starts = database.adjacency, database.graph_ptr[positions]
    indptr, index = matrix.indptr, matrix.indices.dtype
    sizes = database.graph_ptr[positions + 1] - starts
    graph_ptr = offsets(sizes)
    nodes = stretch(database.graph_ptr, positions)
    lengths = indptr[1:][nodes] - indptr[:-1][nodes]
    if isinstance(nodes, slice):
        entries: Any = slice(int(indptr[nodes.start]), int(indptr[nodes.stop]))
        shift = -nodes.start
    else:
        entries = ranges(indptr[nodes], lengths)
        shift = np.repeat(np.repeat(graph_ptr[:-1] - starts, sizes), lengths)
    columns = (matrix.indices[entries] + shift).astype(index, copy=False)
    arrays = (matrix.data[entries].copy(), columns, offsets(lengths).astype(index))
    labels, edge_labels = database.label_column, database.edge_label_column
    attributes, edge_attributes = database.attribute_matrix, database.edge_attributes
    return (
        csr_array(arrays, shape=(int(graph_ptr[-1]),) * 2),
        graph_ptr,
        None if labels is None else labels.take(nodes),
        None if attributes is None else attributes[nodes].copy(),
        None if edge_labels is None else edge_labels.take(entries),
        None if edge_attributes is None else edge_attributes[entries].copy(),
        None if database.ids is None else database.ids[positions],
        database.edge_attribute_names,
        None if database.moments is None else database.moments.take(nodes),
        None if database.descriptors is None else database.descriptors.take(positions),
    )


def stretch(ptr: NDArray[np.int64], positions: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return the indices of the nodes of graphs at ``positions``; a slice for consecutive graphs."""
    if positions.size and bool((np.diff(positions) == 1).all()):
        return slice(int(ptr[positions[0]]), int(ptr[positions[-1] + 1]))
    return ranges(ptr[positions], ptr[positions + 1] - ptr[positions])


def parts_of_join(databases: Sequence[GraphDatabase], names: Sequence[str]) -> tuple[Any, ...]:
    """Return the parts of the concatenation of databases; ``names`` identify databases in errors."""
    nodes, entries = [d.n_nodes for d in databases], [d.adjacency.nnz for d in databases]
    attributes = [d.attribute_matrix for d in databases]
    edge_attributes = [d.edge_attributes for d in databases]
    ids = [[None] * len(d) if d.ids is None else d.ids.tolist() for d in databases]
    has_ids = any(d.ids is not None for d in databases)
    edge_names = {d.edge_attribute_names for d in databases} - {None}
    return (
        block_diagonal([database.adjacency for database in databases]),
        _stack_offsets([database.graph_ptr for database in databases]),
        _join_labels([d.label_column for d in databases], nodes),
        joined_rows(attributes, nodes, names, "node attributes"),
        _join_labels([d.edge_label_column for d in databases], entries),
        joined_rows(edge_attributes, entries, names, "edge attributes", blank=True),
        id_array([one for several in ids for one in several]) if has_ids else None,
        edge_names.pop() if len(edge_names) == 1 else None,
        _join_moments(databases, names),
        join_descriptors(databases, names),
    )


def _join_moments(databases: Sequence[GraphDatabase], names: Sequence[str]) -> Moments | None:
    """Return the moments of all databases, or None if none is in time; raise if only some are."""
    inhabited = [(name, d) for name, d in zip(names, databases, strict=True) if d.n_nodes]
    given = [d.moments for _, d in inhabited if d.moments is not None]
    if not given:
        return databases[0].moments if databases and not inhabited else None
    without = [name for name, d in inhabited if d.moments is None]
    if without:
        raise ValueError(f"{without[0]} has no times but other graphs have: convert it by from_contacts")
    return Moments.concat(given)


def _stack_offsets(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Concatenate offset arrays; each continues at the end of the previous array."""
    starts = offsets([int(part[-1]) for part in parts])
    joined = [part[1:] + start for part, start in zip(parts, starts, strict=False)]
    return np.concatenate([[0], *joined]).astype(np.int64)


def block_diagonal(blocks: Sequence[csr_array]) -> csr_array:
    """Return the block-diagonal matrix of square matrices, with the smallest possible index type."""
    starts = offsets([block.shape[0] for block in blocks])
    n, entries = int(starts[-1]), sum(block.nnz for block in blocks)
    index = index_dtype(n, entries)
    indices = np.concatenate(
        [b.indices.astype(index) + index(s) for b, s in zip(blocks, starts, strict=False)]
    )
    indptr = _stack_offsets([block.indptr for block in blocks]).astype(index)
    data = np.concatenate([block.data for block in blocks])
    return csr_array((data, indices, indptr), shape=(n, n))


def _join_labels(columns: Sequence[Any], counts: Sequence[int]) -> LabelColumn | LabelDistributions | None:
    """Concatenate label columns; databases without labels get unobserved ones; None if all lack labels."""
    if all(column is None for column in columns):
        return None
    blank = (LabelColumn(np.full(n, UNOBSERVED, dtype=np.int32), ()) for n in counts)
    return concat_labels([none if c is None else c for c, none in zip(columns, blank, strict=True)])


def joined_rows(
    tables: Sequence[Any], counts: Sequence[int], names: Sequence[str], noun: str, blank: bool = False
) -> Any:
    """Stack the rows of several databases, sparse if any are; one without rows fits any width.

    With ``blank``, rows of NaN stand for an absent table; else it is an error.
    """
    inhabited = [i for i, n in enumerate(counts) if n]
    given = [i for i in inhabited if tables[i] is not None]
    if not given:
        return None if inhabited and not blank else next((t for t in tables if t is not None), None)
    first, width = names[given[0]], tables[given[0]].shape[1]
    parts = []
    for i in inhabited:
        if tables[i] is None and not blank:
            raise ValueError(f"{names[i]} has no {noun} but {first} has some")
        part = np.full((counts[i], width), np.nan) if tables[i] is None else tables[i]
        if part.shape[1] != width:
            raise ValueError(f"{names[i]} has {part.shape[1]} {noun} but {first} has {width}")
        parts.append(part)
    if any(isinstance(part, csr_array) for part in parts):
        return csr_array(vstack([csr_array(part) for part in parts], format="csr"))
    return np.concatenate(parts)
