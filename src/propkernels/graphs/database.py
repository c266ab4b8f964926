"""GraphDatabase: many graphs in one block-diagonal sparse adjacency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from propkernels._utils.arrays import check_indices, check_offsets, check_room, freeze, frozen
from propkernels._utils.locks import cached_property
from propkernels._utils.typing import Array, Column, PathLike, Rows, Target
from propkernels.graphs.container import (
    Container,
    Graph,
    count,
    databases_of,
    describe,
    parts_of_join,
    parts_of_subset,
)
from propkernels.graphs.descriptors import Descriptors, check_descriptors
from propkernels.graphs.edges import (
    check_ids,
    check_names,
    choose_column,
    edges_of_graphs,
    parallel_entries,
    sorted_edges,
)
from propkernels.graphs.label_distributions import LabelDistributions, Labeling
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.moments import Moments, check_moments
from propkernels.graphs.names import Names
from propkernels.graphs.validation import (
    check_attributes,
    check_edge_attributes,
    check_edges_stay_inside,
    check_labels,
    check_node_labels,
    check_square,
    check_weights,
    name_edge,
    sorted_csr,
)

if TYPE_CHECKING:
    from networkx import Graph as NetworkxGraph


# Parts of a database, and the attributes that hold them.
PARTS = {
    "adjacency": "adjacency",
    "graph_ptr": "graph_ptr",
    "labels": "_labels",
    "attributes": "_attributes",
    "edge_labels": "_edge_labels",
    "edge_attributes": "edge_attributes",
    "ids": "ids",
    "edge_attribute_names": "edge_attribute_names",
    "moments": "moments",
    "descriptors": "descriptors",
}


class GraphDatabase(Container["Graph", LabelColumn | LabelDistributions | None]):
    """A list of graphs, stored as one block-diagonal sparse adjacency matrix.

    It behaves like a list (``len``, indexing, iteration, concatenation) and keeps its type through
    scikit-learn's Pipeline, cross-validation and train_test_split.

    Input arrays are validated and copied once. The arrays of a database are read-only, because compiled loops
    rely on this validation; :meth:`with_labels`, :meth:`with_attributes` and similar methods return changed
    databases. Any number of threads may share a database.

    Parameters
    ----------
    adjacency : sparse or dense matrix of shape (N, N)
        Weighted adjacency of all graphs, block-diagonal. Weights are finite and not negative; a
        non-symmetric matrix means directed edges (row to column). Zeros are not edges. Repeated entries
        are added up unless their edge labels or attributes differ: these are parallel edges.
    graph_ptr : sequence of int, length n + 1
        Graph ``i`` has the nodes ``graph_ptr[i]`` to ``graph_ptr[i + 1] - 1``.
    node_labels : sequence of length N, optional
        Any hashable values. None, NaN, masked, and -1 among integers mean "not observed".
    node_attributes : array or sparse matrix of shape (N,) or (N, D), optional
        Real-valued vectors; NaN and masked entries mean "not observed". A sparse matrix stays sparse
        (``attribute_matrix``).
    edge_labels : sequence, optional
        One hashable value per stored entry of ``adjacency``, in the order of
        ``scipy.sparse.coo_array(adjacency)``.
    edge_attributes : array of shape (entries,) or (entries, D), optional
        Real-valued vectors in the same order; NaN and masked entries mean "not observed".
    ids : sequence of length n, optional
        Numbers or strings that identify the graphs; subsets and concatenations keep them.
    edge_attribute_names : sequence of str, optional
        Names of the columns of ``edge_attributes``.

    Attributes
    ----------
    adjacency : csr_array of shape (N, N)
        Weights, rows and columns sorted. Parallel edges are entries of one row and column, next to each
        other; sums such as ``adjacency @ x`` add them up.
    ids : ndarray or None
        Ids of the graphs.
    edge_attributes : ndarray of shape (entries, D) or None
        One row per stored entry of ``adjacency``.
    skipped : mapping
        Id or position -> reason, for each graph that a converter left out (``errors="skip"``).
    moments : Moments or None
        Vertex and time of each node, for graphs in time (:func:`propkernels.from_contacts`).
    descriptors : Descriptors or None
        Numbers that describe whole graphs, see :meth:`with_descriptors`.
    standardized : mapping
        Step -> number of molecules that it changed, for molecules that a converter standardized.
    sources : list or None
        SMILES or RDKit molecules that the graphs were converted from; subsets and concatenations keep them,
        files and pickles do not.
    names : Names
        Display names of labels and classes, see :meth:`with_names`; subsets, concatenations, files and
        pickles keep them.

    See Also
    --------
    GridDatabase : Images and volumes.
    from_networkx : From networkx graphs.
    check_graphs : Conversion of the input of estimators.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> db = pk.GraphDatabase(path, [0, 3], node_labels=["C", "O", "C"])
    >>> db
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    >>> both = pk.GraphDatabase.concat([db, db])
    >>> len(both), both[0]
    (2, Graph(3 nodes, 2 edges, 2 node labels))
    """

    _stored = (*PARTS.values(), "names")
    adjacency: csr_array
    _attributes: NDArray[np.float64] | csr_array | None
    _edge_labels: LabelColumn | None
    edge_attributes: NDArray[np.float64] | Any  # or None
    ids: NDArray[Any] | Any  # or None
    edge_attribute_names: tuple[str, ...] | None
    skipped: Mapping[Any, str] = MappingProxyType({})
    standardized: Mapping[str, int] = MappingProxyType({})
    sources: list[Any] | None = None
    moments: Moments | None = None
    descriptors: Descriptors | None = None

    def __init__(
        self,
        adjacency: Rows,
        graph_ptr: ArrayLike,
        node_labels: Labeling | None = None,
        node_attributes: Rows | None = None,
        edge_labels: Labeling | None = None,
        edge_attributes: ArrayLike | None = None,
        ids: Column | None = None,
        edge_attribute_names: Sequence[str] | None = None,
    ) -> None:
        square = check_square(adjacency)
        offsets = check_offsets(graph_ptr, square.shape[0], "graph_ptr", piece="graph")
        if edge_labels is None and edge_attributes is None:
            matrix, edge_column, edge_rows = sorted_csr(square), None, None
        else:
            entries = coo_array(square)
            row, col = entries.coords
            edge_column = check_labels(
                edge_labels,
                entries.nnz,
                "edge_labels",
                "stored entries of adjacency",
                lambda i: name_edge(row[i], col[i], offsets),
            )
            edge_rows = check_edge_attributes(edge_attributes, entries.nnz)
            matrix, edge_column, edge_rows = sorted_edges(entries, edge_column, edge_rows)
        check_edges_stay_inside(matrix, offsets)
        check_weights(matrix, offsets)
        labels = check_node_labels(node_labels, offsets)
        attributes = check_attributes(node_attributes, offsets)
        n_columns = 0 if edge_rows is None else edge_rows.shape[1]
        names = check_names(edge_attribute_names, n_columns, "edge_attribute_names")
        checked_ids = check_ids(ids, len(offsets) - 1)
        self._store(matrix, offsets, labels, attributes, edge_column, edge_rows, checked_ids, names)

    def _store(self, *parts: Any) -> None:
        """Keep the parts, in the order of ``PARTS``; those that are not given are None."""
        for name, part in zip_longest(PARTS.values(), parts):
            setattr(self, name, part)
        freeze(self.adjacency, self.graph_ptr, self._attributes, self.edge_attributes)

    @classmethod
    def _assemble(cls, *parts: Any) -> GraphDatabase:
        """Return a database of valid parts (of a subset or concatenation), without validation."""
        database = cls.__new__(cls)
        database._store(*parts)
        return database

    # properties of graphs and edges

    @property
    def node_attributes(self) -> NDArray[np.float64] | Any:  # or None
        """Attributes as a dense array of shape (N, D), or None.

        Sparse attributes are converted on first use; KernelTooLargeError if they do not fit into memory.
        """
        stored = self._attributes
        return self._dense_attributes if isinstance(stored, csr_array) else stored

    @cached_property
    def _dense_attributes(self) -> NDArray[np.float64]:
        stored: Any = self._attributes
        check_room(*stored.shape, ways_out="use attribute_matrix, which stays sparse")
        return frozen(stored.toarray())

    @property
    def attribute_matrix(self) -> NDArray[np.float64] | csr_array | None:
        """Attributes as they are stored: a dense array, a sparse matrix, or None."""
        return self._attributes

    @property
    def edge_labels(self) -> Array | Any:
        """One label per stored entry of ``adjacency``, in CSR order."""
        return None if self._edge_labels is None else self._edge_labels.to_array()

    @property
    def edge_label_column(self) -> LabelColumn | None:
        """Encoded edge labels (ids and values)."""
        return self._edge_labels

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Weighted out-degree of each node, ``sum_j A_ij``, independent of the order of nodes."""
        counts = np.diff(self.adjacency.indptr)
        if self.is_unweighted:
            return frozen(counts.astype(np.float64))
        rows = np.repeat(np.arange(self.n_nodes), counts)
        ordered = self.adjacency.data[np.lexsort((self.adjacency.data, rows))]  # smaller weights first
        return frozen(np.bincount(rows, ordered, self.n_nodes).astype(np.float64))

    @cached_property
    def is_unweighted(self) -> bool:
        """Whether every edge has weight 1."""
        return bool((self.adjacency.data == 1.0).all())

    @cached_property
    def directed_graphs(self) -> NDArray[np.bool_]:
        """One bool per graph: True if an edge lacks a reverse edge of the same weight."""
        forward, directed = self.adjacency, np.zeros(len(self), dtype=bool)
        backward = forward.T.tocsr()
        backward.sort_indices()
        if not same_matrix(forward, backward):
            rows, _ = (forward - backward).nonzero()
            directed[self.graph_ids[rows]] = True
        return frozen(directed)

    @cached_property
    def has_parallel_edges(self) -> bool:
        """Whether edges with different labels or attributes join the same two nodes."""
        return bool(parallel_entries(self.adjacency).any())

    @property
    def is_directed(self) -> bool:
        """Whether any edge lacks a reverse edge of the same weight."""
        return bool(self.directed_graphs.any())

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge, stored in both directions, counts once."""
        return int(edges_of_graphs(self).sum())

    # list behavior

    def _single(self, position: int) -> Graph:

        return Graph(self._subset(np.array([position])))

    def _subset(self, positions: NDArray[np.int64]) -> GraphDatabase:

        subset = GraphDatabase._assemble(*parts_of_subset(self, positions))
        if self.sources is not None:
            subset.sources = [self.sources[i] for i in positions.tolist()]
        subset.names = self.names
        return subset

    @staticmethod
    def concat(databases: Iterable[GraphDatabase | Graph]) -> GraphDatabase:
        """Concatenate databases or single graphs.

        Node (or edge) labels that are absent from only some databases are unobserved there. Node attributes
        must be present in all databases, with the same dimension, or in none.
        """
        return join(databases)

    def _with(self, **parts: Any) -> GraphDatabase:
        """Return a copy with some parts replaced by valid parts."""
        database = GraphDatabase._assemble(*(self._parts() | parts).values())
        database.sources, database.names, database.standardized = self.sources, self.names, self.standardized
        return database

    def _parts(self) -> dict[str, Any]:
        """Return the parts of the database in the order of ``_store``."""
        return {key: getattr(self, name) for key, name in PARTS.items()}

    def with_labels(self, node_labels: Labeling | None) -> GraphDatabase:
        """Return the same graphs with other node labels (or none), which have no names."""
        return self._with(labels=check_node_labels(node_labels, self.graph_ptr)).with_names(labels={})

    def with_attributes(self, node_attributes: Rows | None) -> GraphDatabase:
        """Return the same graphs with other node attributes (or none)."""
        return self._with(attributes=check_attributes(node_attributes, self.graph_ptr))

    def with_ids(self, ids: Column | None) -> GraphDatabase:
        """Return the same graphs with other ids (or none)."""
        return self._with(ids=check_ids(ids, len(self)))

    def with_moments(self, vertices: Labeling | None, times: ArrayLike) -> GraphDatabase:
        """Return the same graphs as graphs in time: the vertex and the time of each node.

        Edges need relations as labels; see :func:`propkernels.from_contacts`, which makes such graphs.
        """
        return self._with(moments=check_moments(vertices, times, self))

    def with_descriptors(self, values: Rows | None, names: Sequence[str] | None = None) -> GraphDatabase:
        """Return the same graphs with numbers that describe whole graphs, or without them (None).

        Models compare graphs by these numbers too, see :class:`~propkernels.kernels.DescriptorKernel`.

        Parameters
        ----------
        values : array-like of shape (graphs, descriptors), or None
            NaN where a number is unknown.
        names : sequence of str, optional
            Names of the descriptors.

        Examples
        --------
        >>> import propkernels as pk
        >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2])
        >>> pair.with_descriptors([[18.0, 0.3]], ["mass", "charge"])
        GraphDatabase(1 graph, 2 nodes, 1 edge, 2 descriptors)
        """
        return self._with(descriptors=None if values is None else check_descriptors(values, names, len(self)))

    @property
    def is_temporal(self) -> bool:
        """Whether nodes are vertices at certain times; see :func:`propkernels.from_contacts`."""
        return self.moments is not None

    def with_edge_labels(self, edge_labels: Labeling | None) -> GraphDatabase:
        """Return the same graphs with other edge labels (or none), one per stored entry of ``adjacency``."""
        return self._rebuilt(edge_labels=edge_labels)

    def with_edge_attributes(
        self, edge_attributes: ArrayLike | None, names: Sequence[str] | None = None
    ) -> GraphDatabase:
        """Return the same graphs with other edge attributes (or none), one row per stored entry."""
        return self._rebuilt(edge_attributes=edge_attributes, edge_attribute_names=names)

    def with_weights(self, weights: str | int | ArrayLike | None) -> GraphDatabase:
        """Return the same graphs with other edge weights.

        Parameters
        ----------
        weights : str, int, array or None
            Name or number of an edge attribute; or one weight per stored entry of ``adjacency``. Edges of
            weight 0 are dropped. None: all weights are 1.

        Examples
        --------
        >>> import numpy as np, propkernels as pk
        >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], edge_attributes=[2.5, 2.5])
        >>> pair.with_weights(0).degrees
        array([2.5, 2.5])
        """
        if weights is None:
            values: Any = np.ones(self.adjacency.nnz)
        elif np.ndim(weights) == 0:
            values = choose_column(self.edge_attributes, self.edge_attribute_names, weights)
        else:
            values = np.asarray(weights, dtype=np.float64)
        if values.shape != (self.adjacency.nnz,):
            raise ValueError(
                f"weights must hold one number for each of {self.adjacency.nnz} stored entries of adjacency"
            )
        return self._rebuilt(weights=values)

    def _rebuilt(self, weights: NDArray[np.float64] | None = None, **changed: Any) -> GraphDatabase:
        """Return a database with changed edges; parallel entries that have become equal are merged."""
        coo = self.adjacency.tocoo()
        matrix = coo_array((coo.data if weights is None else weights, coo.coords), shape=coo.shape)
        parts: dict[str, Any] = {
            "edge_labels": self._edge_labels,
            "edge_attributes": self.edge_attributes,
            "edge_attribute_names": self.edge_attribute_names,
        }
        parts |= {"edge_attribute_names": None} if "edge_attributes" in changed else {}
        database = GraphDatabase(
            matrix, self.graph_ptr, self._labels, self._attributes, ids=self.ids, **(parts | changed)
        )
        database.sources, database.standardized = self.sources, self.standardized
        database.descriptors = self.descriptors
        if self.moments is not None:
            database.moments = check_moments(self.moments.vertices, self.moments.times, database)
        names = {} if "edge_labels" in changed else self.names.edge_labels
        return database.with_names(self.names.labels, names, self.names.classes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphDatabase):
            return NotImplemented
        return (
            np.array_equal(self.graph_ptr, other.graph_ptr)
            and same_matrix(self.adjacency, other.adjacency)
            and self._labels == other._labels
            and same_matrix(self._attributes, other._attributes)
            and self._edge_labels == other._edge_labels
            and same_matrix(self.edge_attributes, other.edge_attributes)
            and self.moments == other.moments
            and self.descriptors == other.descriptors
        )

    __hash__ = None  # type: ignore[assignment]

    # display

    def __repr__(self) -> str:
        return f"GraphDatabase({count(len(self), 'graph')}, {describe(self)})"

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import show_database

        return show_database(self)

    def to_networkx(self) -> list[NetworkxGraph]:
        """Return each graph as a networkx ``Graph`` (``DiGraph`` for directed edges)."""
        from propkernels.convert.networkx import graph_to_networkx

        return [graph_to_networkx(graph) for graph in self]

    # files

    def to_parquet(
        self, path: PathLike, *, target: Target | None = None, row_group_size: int = 10_000
    ) -> None:
        """Write one row per graph to a Parquet file; see :func:`propkernels.convert.to_parquet`."""
        from propkernels.convert.parquet import to_parquet

        to_parquet(self, path, target=target, row_group_size=row_group_size)

    @classmethod
    def from_parquet(cls, path: PathLike, *, rows: slice | None = None) -> GraphDatabase:
        """Read a file written by :meth:`to_parquet`, or any file with the same columns.

        Parameters
        ----------
        path : str or path
        rows : slice, optional
            Graphs to read, such as ``slice(1000, 2000)``; only their row groups are read.

        Raises
        ------
        ValueError
            If a column is missing or has invalid values; the message names the graph and the reason.
        """
        from propkernels.convert.parquet import read_parquet

        return read_parquet(path, rows=rows)[0]


def same_matrix(a: Any, b: Any) -> bool:
    """Return whether matrices, dense or sparse, are equal or absent; NaN equals NaN."""
    if a is None or b is None:
        return a is b
    if isinstance(a, csr_array) or isinstance(b, csr_array):
        a, b = csr_array(a), csr_array(b)
        same_places = np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)
        return a.shape == b.shape and same_places and np.array_equal(a.data, b.data, equal_nan=True)
    return np.array_equal(a, b, equal_nan=True)


def join(
    items: Iterable[GraphDatabase | Graph], noun: str = "item", numbers: Sequence[int] | None = None
) -> GraphDatabase:
    """Concatenate databases (see ``GraphDatabase.concat``); errors name items as "noun number"."""
    databases = databases_of(items, GraphDatabase, noun)
    names = [f"{noun} {i}" for i in (range(len(databases)) if numbers is None else numbers)]
    if len(databases) == 1:
        return databases[0]
    if not databases:
        return GraphDatabase(np.zeros((0, 0)), [0])
    joined = GraphDatabase._assemble(*parts_of_join(databases, names))
    joined.names = Names.merge(database.names for database in databases)
    sources = [database.sources for database in databases]
    if None not in sources:
        joined.sources = [source for several in sources for source in several or ()]
    return joined


def pack(graphs: GraphDatabase) -> dict[str, Any]:
    """Return the parts of a database as arrays and tuples.

    Examples
    --------
    >>> pair = GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"])
    >>> unpack(pack(pair)) == pair
    True
    """
    adjacency, edges = graphs.adjacency, graphs.edge_label_column
    return {
        "data": adjacency.data,
        "indices": adjacency.indices,
        "indptr": adjacency.indptr,
        "graph_ptr": graphs.graph_ptr,
        "node_labels": _pack_labels(graphs.label_column),
        "node_attributes": _pack_attributes(graphs.attribute_matrix),
        "edge_labels": _pack_labels(edges),
        "edge_attributes": graphs.edge_attributes,
        "ids": graphs.ids,
        "edge_attribute_names": graphs.edge_attribute_names,
        "vertices": None if graphs.moments is None else _pack_labels(graphs.moments.vertices),
        "times": None if graphs.moments is None else graphs.moments.times,
        "names": graphs.names.to_pairs(),
        "descriptors": None if graphs.descriptors is None else graphs.descriptors.values,
        "descriptor_names": None if graphs.descriptors is None else graphs.descriptors.names,
    }


def _pack_attributes(attributes: Any) -> Any:
    """Return a dense array as it is, and a sparse matrix as its arrays and number of columns."""
    if not isinstance(attributes, csr_array):
        return attributes
    return attributes.data, attributes.indices, attributes.indptr, attributes.shape[1]


def _unpack_attributes(parts: Any) -> Any:
    if not isinstance(parts, tuple):
        return parts
    data, columns, indptr, width = parts
    rows, columns, n = _entries(indptr, columns, data, width, "the attributes")
    return coo_array((np.asarray(data, dtype=np.float64), (rows, columns)), shape=(n, width))


def _pack_labels(column: LabelColumn | LabelDistributions | None) -> tuple[Any, ...] | None:
    if column is None:
        return None
    if isinstance(column, LabelColumn):
        return column.ids, column.values
    rows = column.probabilities
    return rows.data, rows.indices, rows.indptr, column.values, column.known, column.observed


def unpack(parts: Mapping[str, Any]) -> GraphDatabase:
    """Return the database of untrusted parts, after validation.

    Raises
    ------
    Exception
        Of any type, if the parts do not form a valid database.
    """
    rows, columns, n = _entries(parts["indptr"], parts["indices"], parts["data"], None, "the adjacency")
    data = np.asarray(parts["data"], dtype=np.float64)
    database = GraphDatabase(
        coo_array((data, (rows, columns)), shape=(n, n)),
        parts["graph_ptr"],
        _unpack_labels(parts["node_labels"]),
        _unpack_attributes(parts["node_attributes"]),
        _unpack_labels(parts["edge_labels"]),
        parts["edge_attributes"],
        parts["ids"],
        parts["edge_attribute_names"],
    )
    # files of earlier versions lack the parts below
    if parts.get("vertices") is not None:
        database = database.with_moments(_unpack_labels(parts["vertices"]), parts["times"])
    if parts.get("descriptors") is not None:
        database = database.with_descriptors(parts["descriptors"], parts["descriptor_names"])
    database.names = Names.from_pairs(parts.get("names"))
    return database


def _entries(
    indptr: Any, indices: Any, data: Any, n_columns: int | None, name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return row and column of each entry of a CSR matrix, and the number of rows; None: square."""
    n_rows = max(len(indptr) - 1, 0)
    ptr = check_offsets(indptr, len(data), f"the offsets of {name}", piece="row")
    columns = check_indices(indices, n_rows if n_columns is None else n_columns, f"the columns of {name}")
    return np.repeat(np.arange(n_rows), np.diff(ptr)), columns, n_rows


def _unpack_labels(parts: Any) -> LabelColumn | LabelDistributions | None:
    if parts is None:
        return None
    if len(parts) == 2:
        values = tuple(parts[1])
        ids = check_indices(parts[0], len(values), "the numbers of labels", least=-1)
        if len(set(values)) != len(values):
            raise ValueError("a label is listed twice")
        return LabelColumn(ids.astype(np.int32), values)
    data, columns, indptr, values, known, observed = parts
    rows, columns, n = _entries(indptr, columns, data, len(values), "the label distributions")
    matrix = csr_array(coo_array((data, (rows, columns)), shape=(n, len(values))))
    return LabelDistributions(matrix, values, known, observed)
