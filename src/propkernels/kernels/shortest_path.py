"""Shortest-path kernel and features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import check_room
from propkernels._utils.checks import check_choice
from propkernels._utils.parallel import workers
from propkernels._utils.stored import NOT_FINITE, Offsets, is_whole, require
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.codes.distances import (
    PAIRS_IN_MEMORY,
    WITHOUT_PAIRS,
    PathLengths,
    by_size,
    pairs_of_a_run,
    path_lengths,
    run_bounds,
    runs_of_graphs,
    runs_of_nodes,
    threads_for_pairs,
)
from propkernels.convert.check import check_edges
from propkernels.counts.counters import (
    CodeList,
    Counter,
    Known,
    Listed,
    Occurrences,
    StreamCounts,
    count_codes,
    count_lists,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, entry_of
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.pairs import NodeComparison, Nodes, TiledComparison
from propkernels.propagation.initial import (
    LABEL_SOURCES,
    check_edge_labels,
    edge_keys,
    entries_of,
    is_entry,
    label_column_keys,
    numbered_keys,
    plain_labels,
    resolve_source,
)

LARGE_GRAPH = 2**10  # nodes from which leaves that are alike are searched from once
MANY_STEPS = 2**34  # steps of breadth-first searches, about a minute


@dataclass(frozen=True)
class TripletCoder(Counter):
    """Counter of triplets (label, length, label) of all ordered pairs of nodes with a path between them.

    Attributes
    ----------
    source : {"node", "degree", None}
        Source of labels.
    weighted, edge_labels : bool
    entry : int or None
        The compared entry of node labels that are tuples; None: whole labels.
    """

    source: str | None
    weighted: bool
    edge_labels: bool
    entry: int | None = None

    def _check_parts(self) -> None:
        """Raise if the entry is not a position."""
        fits = self.entry is None or (is_whole(self.entry, 0) and self.source == "node")
        require(fits, "the entry of labels is out of range")

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> TripletCoder:
        """Return a coder from validated parameters of an estimator and the training graphs."""
        labels, settings = parameters.labels, (bool(parameters.weighted), bool(parameters.edge_labels))
        if not is_entry(labels):
            check_choice(labels, LABEL_SOURCES, "labels")
            return cls(resolve_source(graphs, labels), *settings)
        return cls("node", *settings, *entries_of(graphs, labels)[1])

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return counts of triplets; known codes have the first columns."""
        with workers(threads_for_pairs(graphs)):
            if not self.edge_labels and (graphs.is_unweighted or not self.weighted):
                lists = self._hops(graphs)
            else:
                runs = list(runs_of_graphs(graphs))
                sizes = [int(np.square(run.graph_sizes).sum()) for run in runs]
                lists = by_size(self._lengths, runs, sizes)
            return [count_lists(lists, None if known is None else known[0])]

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield ordered pairs of nodes, and the codes of their triplets."""
        paths = path_lengths(graphs, self.weighted)
        codes = self._codes(paths)
        joined = np.flatnonzero(codes != NO_BIN)
        yield Occurrences(codes[joined], paths.pairs(joined), 0, 1.0)

    def listed(self, graphs: GraphDatabase) -> Listed:
        """Return the codes of all ordered pairs of nodes."""
        paths = path_lengths(graphs, self.weighted)
        streams = CodeStreams(self._codes(paths)[None, :], np.zeros(1, dtype=np.int64), np.ones(1))
        return Listed(paths.pair_ptr, [streams], True)

    def items_per_node(self, graphs: GraphDatabase) -> float:
        """Return the mean number of pairs per node."""
        return float(np.square(graphs.graph_sizes).sum()) / max(graphs.n_nodes, 1)

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Return runs of graphs whose pairs of nodes fit in memory."""
        return runs_of_graphs(graphs)

    def _labels(self, graphs: GraphDatabase) -> LabelColumn:
        """Return the label of each node, or the entry of its label."""
        if self.entry is None:
            return plain_labels(graphs, self.source)
        return entry_of(plain_labels(graphs, "node"), self.entry)

    def _hops(self, graphs: GraphDatabase) -> list[CodeList]:
        """Return counts without a list of pairs, if every edge has length 1."""
        keys, ids = numbered_keys(self._labels(graphs))
        pairs, edges = graphs.graph_sizes**2, (graphs.adjacency.indptr, graphs.adjacency.indices)
        largest = int(graphs.graph_sizes.max(initial=0))
        check_room(largest, min(largest, len(keys)), 2, ways_out=WITHOUT_PAIRS)
        times = np.ones(graphs.n_nodes, dtype=np.int64)
        sizes, n_stored = graphs.graph_sizes, np.diff(graphs.adjacency.indptr[graphs.graph_ptr])
        is_large = (sizes >= LARGE_GRAPH) | (sizes * (sizes + n_stored) > MANY_STEPS)
        for graph in np.flatnonzero(is_large):
            nodes = slice(*graphs.graph_ptr[graph : graph + 2])
            times[nodes] = searches(graphs[graph : graph + 1], ids[nodes])
            warn_of_minutes(graphs[graph : graph + 1], times[nodes])

        def one_piece(piece: Piece) -> CodeList:
            ptr, lengths = (
                graphs.graph_ptr[piece.first : piece.last + 1],
                np.empty(piece.last - piece.first, int),
            )
            parts = piece.part, piece.n_parts
            codes, counts = _core.count_triplets(*edges, ptr, ids, times, keys, *parts, lengths)
            return CodeList.of(lengths, np.frombuffer(codes, np.int64), np.frombuffer(counts))

        pieces = _pieces(pairs)
        work = [float(pairs[piece.first : piece.last].sum()) / piece.n_parts for piece in pieces]
        return _joined(pieces, by_size(one_piece, pieces, work))

    def _lengths(self, graphs: GraphDatabase) -> CodeList:
        """Return counts from the codes of all pairs, each code once per graph."""
        paths = path_lengths(graphs, self.weighted)
        counted, bins = count_codes(self._codes(paths), paths.pair_ptr)
        return CodeList(np.diff(counted.indptr), counted.indices, counted.data, bins)

    def _codes(self, paths: PathLengths) -> NDArray[np.int64]:
        """Return the code of each ordered pair of nodes; ``NO_BIN`` without a path."""
        bounds, threads = runs_of_nodes(paths.graphs)
        if self.edge_labels:  # words of the edge labels along shortest paths
            words, keys = np.empty(paths.pair_ptr[-1], np.uint64), edge_keys(paths.graphs, True, False)
            distances = None if paths.has_hops else paths.distances
            _core.label_paths(paths.arrays, keys, distances, bounds, words, threads)
        else:
            words = paths.words()
        codes, keys = words.view(np.int64), label_column_keys(self._labels(paths.graphs))
        _core.code_triplets(paths.arrays, keys, bounds, codes, threads)
        return codes


class Piece(NamedTuple):
    """The graphs first .. last - 1, or a part of the start nodes of a single graph."""

    first: int
    last: int
    part: int
    n_parts: int


def _pieces(pairs: NDArray[np.int64]) -> list[Piece]:
    """Return pieces of work: runs of graphs; a large graph is cut by start nodes for threads."""
    most = pairs_of_a_run(int(pairs.sum()))
    pieces = []
    for first, last in run_bounds(pairs, min(PAIRS_IN_MEMORY, most)):
        n_parts = max(-(-int(pairs[first]) // most), 1) if last == first + 1 else 1
        pieces += [Piece(first, last, part, n_parts) for part in range(n_parts)]
    return pieces


def _joined(pieces: Sequence[Piece], counted: Sequence[CodeList]) -> list[CodeList]:
    """Return the counts of all runs; those of the parts of a graph are added up."""
    joined, of_graph = [], list[CodeList]()
    for piece, part in zip(pieces, counted, strict=True):
        of_graph.append(part)
        if len(of_graph) == piece.n_parts:
            joined.append(part if piece.n_parts == 1 else CodeList.added(of_graph))
            of_graph = []
    return joined


def searches(graphs: GraphDatabase, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often the paths from each node of a single graph count.

    Leaves of one node with the same label have paths of the same lengths to the same labels: one of them
    stands for all.
    """
    times = np.ones(graphs.n_nodes, dtype=np.int64)
    indptr, indices = graphs.adjacency.indptr, graphs.adjacency.indices
    leaves = np.flatnonzero(np.diff(indptr) == 1)
    if len(leaves) > 1 and not graphs.is_directed:
        pairs = np.stack([indices[indptr[leaves]], ids[leaves]])
        _, first, number = np.unique(pairs, axis=1, return_index=True, return_counts=True)
        times[leaves] = 0
        times[leaves[first]] = number
    return times


def warn_of_minutes(graphs: GraphDatabase, times: NDArray[np.int64]) -> None:
    """Warn if the searches from the nodes of a single graph take minutes."""
    n_searches, n_stored = int(np.count_nonzero(times)), len(graphs.adjacency.indices)
    if n_searches * (graphs.n_nodes + n_stored) > MANY_STEPS:
        warnings.warn(
            f"shortest paths from {n_searches:,} nodes of a graph with {n_stored:,} stored edges take "
            f"minutes or more: {WITHOUT_PAIRS}",
            stacklevel=2,
        )


class Paths(NamedTuple):
    """Nodes and distances of several graphs; distances are inf for pairs that are not compared."""

    nodes: Nodes
    pair_ptr: Annotated[NDArray[np.int64], Offsets("distances")]
    distances: Annotated[NDArray[np.float64], NOT_FINITE]

    def _check_parts(self) -> None:
        """Raise unless there is one distance per ordered pair of nodes of each graph."""
        self.nodes.check_pairs(self.pair_ptr, self.distances)


@dataclass(frozen=True)
class EqualLengths(TiledComparison):
    """Sum over pairs of equally long shortest paths of the product of the node kernels of both ends."""

    nodes: NodeComparison
    weighted: bool
    data_type: ClassVar[type] = Paths

    def count(self, graphs: GraphDatabase, known: None) -> Paths:
        """Return labels, attributes and distances."""
        paths = path_lengths(graphs, self.weighted)
        distances = np.where(paths.distances == 0, np.inf, paths.distances)
        return Paths(self.nodes.nodes(graphs), paths.pair_ptr, distances)

    def tile(self, left: Paths, rows: slice, right: Paths, columns: slice) -> NDArray[np.float64]:
        """Return the kernel between two runs of graphs, (rows, columns)."""
        a, b = _some(left, rows), _some(right, columns)
        values = np.unique(np.concatenate([a.distances, b.distances]))
        values = values[values < np.inf]
        numbers = [np.searchsorted(values, paths.distances) for paths in (a, b)]  # len(values) of inf
        out = np.empty((len(a.pair_ptr) - 1, len(b.pair_ptr) - 1))
        sides = (a.nodes.ptr, a.pair_ptr, numbers[0], b.nodes.ptr, b.pair_ptr, numbers[1])
        _core.equal_length_sums(self.nodes.matrix(a.nodes, b.nodes), *sides, len(values), out)
        return out


def _some(paths: Paths, chosen: slice) -> Paths:
    """Return the paths of a run of graphs."""
    pair_ptr = paths.pair_ptr[chosen.start : chosen.stop + 1]
    return Paths(
        paths.nodes.some(chosen), pair_ptr - pair_ptr[0], paths.distances[pair_ptr[0] : pair_ptr[-1]]
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ShortestPathParameters:
    """Parameters of :class:`ShortestPath` that the features have, too."""

    labels: str | int | None = "auto"
    weighted: bool = True
    edge_labels: bool = False
    base_kernel: str = "linear"
    normalize: bool = False
    n_jobs: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class ShortestPath(ShortestPathParameters, CountKernel):
    """Shortest-path kernel (Borgwardt and Kriegel, ICDM 2005, Definition 6).

    The kernel is a sum over pairs of shortest paths of equal length, of the node kernels of both ends. Pairs
    of nodes are ordered, so that in an undirected graph each path counts in both directions, and a single
    node is not a path: the same values as GraKeL's ``ShortestPath``.

    With labels only, this is the dot product of counts of (label, length, label); see
    :class:`ShortestPathFeatures`. With attributes, pairs of graphs are compared directly.

    Parameters
    ----------
    labels : {"auto", "node", "degree", None} or int, default="auto"
        Labels that both ends must share: node labels, degrees, or none. "auto": node labels where the graphs
        have them; else degrees, or none if there are attributes. Unobserved labels form one more label. For
        labels that are tuples, as of atoms: the number of the entry to compare; not with attributes.
    attributes : {None, "gaussian", "linear", "truncated"}, default=None
        Kernel between attributes of the ends, multiplied by that of labels: ``exp(-gamma |x - y|^2)``; x . y;
        or the Gaussian if ``|x - y| <= 1``, else 0.
    weighted : bool, default=True
        Whether edge weights are lengths; else each edge has length 1.
    edge_labels : bool, default=False
        Whether paths must also agree in edge labels: the multisets of label sequences along all shortest
        paths between the two ends must be equal. Not supported together with attributes.
    base_kernel : {"linear", "intersection"}, default="linear"
        Kernel between counts of triplets: dot product, or sum of smaller counts. Attributes require "linear".
    gamma : float or None, default=None
        Factor in the exponent; None: 1 / (number of attribute dimensions).
    standardize : bool, default=True
        Scale attributes to mean 0 and variance 1 over the training nodes. Missing values are replaced by the
        mean of the graph, or of the training nodes.
    normalize : bool, default=False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores.

    See Also
    --------
    propkernels.kernels.ShortestPathFeatures : The explicit feature vectors, for labels.
    propkernels.kernels.GraphHopper : Compares the nodes along shortest paths.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel (2005). Shortest-path kernels on graphs. IEEE International
       Conference on Data Mining, 74-81. doi:10.1109/ICDM.2005.132.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.ShortestPath().fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "O"])])
    array([[12.,  4.],
           [ 4.,  8.]])
    """

    attributes: str | None = None
    gamma: float | None = None
    standardize: bool = True

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts, which holds without attributes."""
        return self.attributes is None

    def _learn_coder(self, graphs: GraphDatabase) -> TripletCoder | EqualLengths:
        check_edge_labels(check_edges(graphs), bool(self.edge_labels))
        check_choice(self.base_kernel, ("linear", "intersection"), "base_kernel")
        if is_entry(self.labels) and self.attributes is not None:
            raise ValueError("ShortestPath does not support an entry of labels with attributes: choose one")
        nodes = None if is_entry(self.labels) else NodeComparison.learn(graphs, self)
        if nodes is None or nodes.kind == 0:
            return TripletCoder.learn(graphs, self)
        if self.base_kernel != "linear":
            raise ValueError(f"base_kernel={self.base_kernel!r} does not support attributes: use 'linear'")
        if self.edge_labels:
            raise ValueError("ShortestPath does not support edge_labels=True with attributes: choose one")
        return EqualLengths(nodes, bool(self.weighted))


@dataclass(kw_only=True, eq=False, repr=False)
class ShortestPathFeatures(ShortestPathParameters, CountFeatures):
    """Sparse features whose dot product is the shortest-path kernel on labels.

    One row per graph, one column per triplet (label, length, label): the number of ordered pairs of nodes
    with such a shortest path between them.

    Parameters
    ----------
    labels, weighted, edge_labels, normalize, n_jobs
        As in :class:`ShortestPath`.
    base_kernel : {"linear", "intersection"}, default="linear"
        "linear": one column per bin, which holds its count. "intersection": one column per bin and level,
        which holds 1 if the count is at least the level, so that the dot product adds smaller counts.
    n_features : int or None, default=None
        None: one column per triplet of the training graphs. A number (2**20 is usual): triplets are hashed
        into that many columns, so that triplets not seen in fit have columns too.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    See Also
    --------
    ShortestPath : The kernel matrix, also for attributes.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel (2005). Shortest-path kernels on graphs. IEEE International
       Conference on Data Mining, 74-81. doi:10.1109/ICDM.2005.132.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> phi = pk.kernels.ShortestPathFeatures().fit_transform([(path, ["C", "O", "C"])])
    >>> phi.sum(), phi.shape
    (np.float64(6.0), (1, 3))
    """

    n_features: int | None = None
    sparse_output: bool = True

    def _learn_coder(self, graphs: GraphDatabase) -> TripletCoder:
        check_edge_labels(graphs, bool(self.edge_labels))
        return TripletCoder.learn(graphs, self)
