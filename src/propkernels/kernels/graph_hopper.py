"""GraphHopper kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_room, offsets
from propkernels._utils.checks import check_choice
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_array, require
from propkernels.counting.counters import Counter, Known, Occurrences, StreamCounts, count_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.distances import WITHOUT_PAIRS, PathLengths, path_lengths, runs_of_graphs
from propkernels.kernels.comparison import CountedComparison, TiledComparison
from propkernels.kernels.node_kernel import NodeComparison, Nodes
from propkernels.kernels.pairwise_kernel import PairwiseKernel
from propkernels.kernels.shortest_path import stream_of
from propkernels.propagation.initial import node_keys

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class HopCounter(Counter):
    """Explicit features of the GraphHopper kernel on labels: the path-count matrices, summed for each label.

    Attributes
    ----------
    source : {"node", "degree", None}
        Where labels come from.
    weighted : bool
        Whether weights are the edges' lengths.
    """

    source: str | None
    weighted: bool

    @property
    def reads_edge_labels(self) -> bool:
        """Paths are told apart by their nodes alone."""
        return False

    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None) -> list[StreamCounts]:
        """Count (label, position, number of edges); known codes own the first columns."""
        keys, ids = np.unique(node_keys(graphs, self.source), return_inverse=True)
        parts = list(self._graphs(graphs, keys, ids))
        sizes = np.array([len(codes) for codes, _ in parts])
        codes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        ptr = offsets(sizes)
        counted, bins = count_codes(codes, ptr, None if known is None else known[0])
        return [stream_of(sizes, counted.indices, counts, bins)]

    def occurrences(self, graphs: GraphDatabase, n_jobs: int | None) -> Iterator[Occurrences]:
        """Nodes with their places on paths, and how often each node has a place."""
        keys = node_keys(graphs, self.source)
        found: list[tuple[Any, Any, Any]] = []
        first = 0
        for part in runs_of_graphs(graphs):
            paths = path_lengths(part, self.weighted)
            for i, size in enumerate(part.graph_sizes):
                matrices = _hop_counts(paths, i, np.arange(size), int(size))
                node, a, b = np.nonzero(matrices)
                codes = mix(keys[first + node], a, b).view(np.int64)
                found.append((codes, first + node, matrices[node, a, b]))
                first += size
        codes, nodes, numbers = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        yield Occurrences(codes, nodes[:, None], 0, 1.0, numbers)

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Runs of graphs whose pairs of nodes fit the memory."""
        return runs_of_graphs(graphs)

    def _graphs(
        self, graphs: GraphDatabase, keys: NDArray[np.uint64], ids: NDArray[Any]
    ) -> Iterator[tuple[NDArray[np.int64], Matrix]]:
        """Codes and counts of each graph."""
        first = 0
        for part in runs_of_graphs(graphs):
            paths = path_lengths(part, self.weighted)
            for i, size in enumerate(part.graph_sizes):
                labels, slots = np.unique(ids[first : first + size], return_inverse=True)
                matrices = _hop_counts(paths, i, slots, len(labels))
                slot, a, b = np.nonzero(matrices)
                yield mix(keys[labels[slot]], a, b).view(np.int64), matrices[slot, a, b]
                first += size


def _hop_counts(paths: PathLengths, i: int, slots: NDArray[Any], n_slots: int) -> Matrix:
    """Path-count matrices of graph i, added up by slot: (n_slots, width, width)."""
    from propkernels.hashing.paths_compiled import count_hops, most_hops

    graphs = paths.graphs
    first, size = int(graphs.graph_ptr[i]), int(graphs.graph_sizes[i])
    distances = paths.distances[paths.pair_ptr[i] : paths.pair_ptr[i + 1]]
    edges = (graphs.adjacency.indptr, graphs.adjacency.indices, paths.weights, first, size, distances)
    if (paths.weights == 1).all():
        most = int(distances[distances < np.inf].max(initial=0.0))
    else:
        most = most_hops(*edges)
    check_room(n_slots, (most + 1) ** 2, 2, ways_out=WITHOUT_PAIRS)
    check_room(size, most + 1, 2, ways_out=WITHOUT_PAIRS)
    counts = np.zeros((n_slots, most + 1, most + 1))
    count_hops(*edges, slots.astype(np.int64), counts)
    return counts


class Hops(NamedTuple):
    """Nodes of several graphs, and one matrix per graph: one row per node, the columns its path counts.

    Column b (b + 1) / 2 + a holds node number a of paths with b edges: graphs with shorter paths have fewer
    columns.
    """

    nodes: Nodes
    counts: list[Matrix]

    def check_parts(self) -> None:
        """Refuse counts that are not one row per node of each graph."""
        require(all(is_array(counts, "f", 2) for counts in self.counts), "counts are matrices")
        sizes = [len(counts) for counts in self.counts]
        require(sizes == np.diff(self.nodes.ptr).tolist(), "every node needs a row of counts")


@dataclass(frozen=True)
class HopComparison(TiledComparison):
    """Sum over pairs of nodes of <M(u), M(v)> k(u, v) (Feragen et al. 2013, Equation 5)."""

    nodes: NodeComparison
    weighted: bool
    prepared_type: ClassVar[type] = Hops

    def prepare(self, graphs: GraphDatabase) -> Hops:
        """Labels, attributes and path counts."""
        counts = [
            _packed(_hop_counts(paths, i, np.arange(size), int(size)))
            for paths in (path_lengths(part, self.weighted) for part in runs_of_graphs(graphs))
            for i, size in enumerate(paths.graphs.graph_sizes)
        ]
        return Hops(self.nodes.nodes(graphs), counts)

    def tile(self, left: Hops, rows: slice, right: Hops, columns: slice) -> Matrix:
        """Compare some graphs with some others; products of counts are whole numbers, and exact."""
        from propkernels.kernels.nodes_compiled import sum_blocks

        a, b = left.nodes.some(rows), right.nodes.some(columns)
        sides = left.counts[rows], right.counts[columns]
        width = min(max(counts.shape[1] for counts in side) for side in sides)
        values = _stacked(sides[0], width) @ _stacked(sides[1], width).T
        values *= self.nodes.matrix(a, b)
        out = np.empty((1, len(a.ptr) - 1, len(b.ptr) - 1))
        sum_blocks(values, a.ptr, b.ptr, out[0])
        return out


def _packed(counts: Matrix) -> Matrix:
    """The entries a <= b of each matrix, by b, then a."""
    b, a = np.tril_indices(counts.shape[1])
    return np.ascontiguousarray(counts[:, a, b])


def _stacked(counts: list[Matrix], width: int) -> Matrix:
    """Rows of several graphs under each other, cut or filled up to one width."""
    stacked = np.zeros((sum(map(len, counts)), width))
    first = 0
    for part in counts:
        shared = min(width, part.shape[1])
        stacked[first : first + len(part), :shared] = part[:, :shared]
        first += len(part)
    return stacked


class GraphHopper(PairwiseKernel):
    """GraphHopper kernel (Feragen et al., NIPS 2013).

    All pairs of shortest paths of two graphs with equally many nodes are compared, node by node: the kernel
    is the sum of the node kernels of nodes at the same place (Equation 2). It is computed from
    matrices that count for each node its places on paths (Equation 5). Paths count in both directions, all
    shortest paths between two nodes count, and a node alone is a path. Graphs with isolated nodes and with
    several components are welcome.

    With labels only, the matrices are summed for each label and are explicit features; with attributes, pairs
    of graphs are compared directly.

    Parameters
    ----------
    labels : {"auto", "node", "degree", None}, default="auto"
        Labels that nodes must share: node labels, degrees, or none. "auto": node labels where the graphs
        have them; else degrees, or none if there are attributes. Unobserved labels are one further label.
    attributes : {None, "gaussian", "linear", "truncated"}, default=None
        Kernel between attributes, multiplied with the labels': ``exp(-gamma |x - y|^2)``; x . y; or the
        Gaussian where ``|x - y| <= 1`` and 0 beyond.
    weighted : bool, default=True
        Whether weights are the edges' lengths; else each edge has length 1. Places on paths are counted in
        edges in either case.
    gamma : float or None, default=None
        None: 1 / (number of attribute dimensions).
    standardize : bool, default=True
        Scale attributes to mean 0 and variance 1 over the training nodes. Missing ones are replaced by the
        mean of the graph, or of the training nodes.
    normalize : bool, default=False
        Divide by the square roots of both graphs' self-similarities.
    time_limit : float or None, default=None
        With attributes: seconds after which no further tile of the kernel is begun; see :meth:`resume`.
    checkpoint : path or None, default=None
        With attributes: file that keeps what is computed, and from which a later call goes on.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores.

    See Also
    --------
    ShortestPath : Compares the end points and lengths of shortest paths.

    References
    ----------
    .. [1] A. Feragen, N. Kasenburg, J. Petersen, M. de Bruijne and K. Borgwardt (2013). Scalable kernels for
       graphs with continuous attributes. Advances in Neural Information Processing Systems 26, 216-224.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> edge, path = np.array([[0, 1], [1, 0]]), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.GraphHopper().fit_transform([(edge, ["C", "O"]), (path, ["C", "O", "C"])])
    array([[ 6., 11.],
           [11., 33.]])
    """

    def __init__(
        self,
        *,
        labels: str | None = "auto",
        attributes: str | None = None,
        weighted: bool = True,
        gamma: float | None = None,
        standardize: bool = True,
        normalize: bool = False,
        time_limit: float | None = None,
        checkpoint: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.labels = labels
        self.attributes = attributes
        self.weighted = weighted
        self.gamma = gamma
        self.standardize = standardize
        self.normalize = normalize
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    @property
    def is_dot_product(self) -> bool:
        """Whether only labels are compared, so that the kernel is a dot product of counts."""
        return self.attributes is None

    def _learn(self, graphs: GraphDatabase) -> TiledComparison | CountedComparison:
        check_choice(self.weighted, (True, False), "weighted")
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0:
            return CountedComparison(HopCounter(nodes.source, self.weighted))
        return HopComparison(nodes, self.weighted)
