"""GraphHopper: graphs compared by the nodes along their shortest paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_room, offsets
from propkernels._utils.checks import check_choice
from propkernels._utils.parallel import (
    PIECES_OF_A_THREAD,
    equal_work,
    run_threads,
    thread_count,
    threads_for,
)
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_array, require
from propkernels.codes.distances import (
    PAIRS_IN_MEMORY,
    WITHOUT_PAIRS,
    PathLengths,
    by_size,
    path_lengths,
    run_bounds,
    runs_of_graphs,
    threads_for_pairs,
)
from propkernels.counts.counters import Counter, Known, Occurrences, StreamCounts
from propkernels.counts.lists import CodeList, count_lists
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import CountedComparison, TiledComparison
from propkernels.kernels.node_kernel import NodeComparison, Nodes
from propkernels.kernels.pairwise_kernel import PairwiseKernel
from propkernels.propagation.initial import node_keys, numbered_keys, plain_labels

Matrix = NDArray[np.float64]
STEPS_OF_A_PAIR = 4  # work per pair of nodes, compared with a breadth-first search
PAIRS_OF_A_STEP = 8  # distances that are compared in the time of an elementary step
RUNS_IN_MEMORY = 4  # times the distances that other kernels list at once: threads share them
NUMBERS_OF_BLOCKS = 2**22  # in the path counts of all blocks of start nodes of a graph


@dataclass(frozen=True)
class HopCounter(Counter):
    """Explicit features of the GraphHopper kernel on labels: path-count matrices summed per label.

    Attributes
    ----------
    source : {"node", "degree", None}
        Source of labels.
    weighted : bool
        Whether edge weights are lengths.
    """

    source: str | None
    weighted: bool

    @property
    def reads_edge_labels(self) -> bool:
        """Whether codes depend on edge labels: False."""
        return False

    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None) -> list[StreamCounts]:
        """Return counts of (label, position, number of edges); known codes have the first columns."""
        n_jobs = threads_for_pairs(graphs, n_jobs, STEPS_OF_A_PAIR)
        runs = run_bounds(graphs.graph_sizes**2, RUNS_IN_MEMORY * PAIRS_IN_MEMORY)
        if len(runs) == 1:
            lists = self._lists(graphs, n_jobs)
        else:
            lists = [one for first, last in runs for one in self._lists(graphs[first:last], n_jobs)]
        return [count_lists(lists, None if known is None else known[0], n_jobs)]

    def occurrences(self, graphs: GraphDatabase, n_jobs: int | None) -> Iterator[Occurrences]:
        """Yield nodes with their positions on paths, and how often each occurs."""
        keys = node_keys(graphs, self.source)
        firsts = iter(graphs.graph_ptr.tolist())

        def listed(matrices: Matrix) -> tuple[Any, Any, Any]:
            first = next(firsts)
            node, a, b = np.nonzero(matrices)
            codes = mix(keys[first + node], a, b).view(np.int64)
            return codes, first + node, matrices[node, a, b]

        parts = [listed(matrices) for matrices in _node_matrices(graphs, self.weighted, n_jobs)]
        codes, nodes, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        yield Occurrences(codes, nodes[:, None], 0, 1.0, numbers)

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Return runs of graphs whose pairs of nodes fit in memory."""
        return runs_of_graphs(graphs)

    def _lists(self, graphs: GraphDatabase, n_jobs: int) -> list[CodeList]:
        """Return the counts of graphs: small graphs side by side, and blocks of start nodes of large ones."""
        hops = Hopped.of(graphs, self.source, self.weighted, n_jobs)
        pieces = hops.pieces(n_jobs)
        found = by_size(hops.counted, pieces, [piece.work for piece in pieces], n_jobs)
        return hops.joined(pieces, found)


class Piece(NamedTuple):
    """The graphs first .. last - 1, or a block of start nodes of a single graph, and its work."""

    first: int
    last: int
    root: int | None
    work: float


@dataclass(frozen=True)
class Hopped:
    """Graphs whose path counts are summed by label.

    Attributes
    ----------
    paths : PathLengths
    keys : ndarray of uint64, (labels,)
    ids : ndarray of int64, (N,)
        Label of each node.
    most : ndarray of int64, (graphs,)
        Largest number of edges on a shortest path.
    """

    paths: PathLengths
    keys: NDArray[np.uint64]
    ids: NDArray[np.int64]
    most: NDArray[np.int64]

    @classmethod
    def of(cls, graphs: GraphDatabase, source: str | None, weighted: bool, n_jobs: int | None) -> Hopped:
        """Find all distances; threads take start nodes, then graphs."""
        from propkernels.codes.hops_compiled import widest_hops

        paths, most = path_lengths(graphs, weighted, n_jobs), np.zeros(len(graphs), dtype=np.int64)
        hops = cls(paths, *numbered_keys(plain_labels(graphs, source)), most)
        steps = graphs.graph_sizes**2 // (PAIRS_OF_A_STEP if paths.has_hops else 1)
        threads = threads_for(int(steps.sum()), n_jobs)
        runs = pairwise(equal_work(offsets(steps), threads).tolist())
        edges = hops.edges  # finds the distances, before threads ask for them
        run_threads(lambda run: widest_hops(*edges, paths.has_hops, *run, most), list(runs), threads)
        hops.check_room()
        return hops

    @property
    def edges(self) -> tuple[NDArray[Any], ...]:
        """Edges and distances of all graphs, as compiled functions take them."""
        a, graph_ptr = self.paths.graphs.adjacency, self.paths.graphs.graph_ptr
        return a.indptr, a.indices, self.paths.weights, graph_ptr, self.paths.pair_ptr, self.paths.distances

    def check_room(self) -> None:
        """Raise an error if the path counts of a graph do not fit into memory."""
        sizes, widths = self.paths.graphs.graph_sizes, self.most + 1
        for rows, columns in ((np.minimum(sizes, len(self.keys)), widths**2), (sizes, widths)):
            largest = int(np.argmax(rows * columns))
            check_room(int(rows[largest]), int(columns[largest]), 2, ways_out=WITHOUT_PAIRS)

    def pieces(self, n_jobs: int) -> list[Piece]:
        """Return runs of graphs, and the blocks of start nodes of graphs with much work."""
        from propkernels.codes.hops_compiled import FEW_ROOTS, ROOTS_OF_A_BLOCK

        graphs = self.paths.graphs
        sizes, n_stored = graphs.graph_sizes, np.diff(graphs.adjacency.indptr[graphs.graph_ptr])
        work = sizes * (sizes + n_stored) * (self.most + 1.0)
        most = work.sum() / (PIECES_OF_A_THREAD * n_jobs) if n_jobs > 1 else np.inf
        blocks = -(-sizes // ROOTS_OF_A_BLOCK)
        numbers = blocks * np.minimum(sizes, len(self.keys)) * (self.most + 1) ** 2
        is_cut = (work > most) & (sizes > FEW_ROOTS) & (numbers <= NUMBERS_OF_BLOCKS)
        pieces = []
        for first, last in run_bounds(work, most):
            if is_cut[first]:
                roots = range(0, int(sizes[first]), ROOTS_OF_A_BLOCK)
                pieces += [Piece(first, last, root, work[first] / len(roots)) for root in roots]
            else:
                pieces.append(Piece(first, last, None, work[first:last].sum()))
        return pieces

    def counted(self, piece: Piece) -> CodeList | Matrix:
        """Return the counts of a run of graphs, or the matrices of a block of start nodes."""
        from propkernels.codes.hops_compiled import ROOTS_OF_A_BLOCK, count_hops, hop_entries

        if piece.root is not None:
            edges, slots, keys = self._graph(piece.first)
            matrices = np.zeros((len(keys), self.most[piece.first] + 1, self.most[piece.first] + 1))
            count_hops(*edges, piece.root, piece.root + ROOTS_OF_A_BLOCK, slots, matrices)
            return matrices
        run = slice(piece.first, piece.last)
        sizes, widths = self.paths.graphs.graph_sizes[run], self.most[run] + 1
        if len(sizes) == 1 and self.paths.n_jobs != 1:
            edges, slots, keys = self._graph(piece.first)
            return _listed(
                _summed_blocks(edges, slots, len(keys), int(widths[0]) - 1, self.paths.n_jobs), keys
            )
        room = int((np.minimum(sizes, len(self.keys)) * widths * (widths + 1) // 2).sum())
        codes, counts = np.empty(room, dtype=np.int64), np.empty(room)  # unused parts take no memory
        lengths, search = np.zeros(len(sizes), dtype=np.int64), self._search(int(sizes.max()))
        labels = self.ids, self.keys, self.most, search
        n = hop_entries(*self.edges, piece.first, piece.last, *labels, codes, counts, lengths)
        return CodeList.of(lengths, codes[:n], counts[:n].copy())

    def joined(self, pieces: Sequence[Piece], found: Sequence[CodeList | Matrix]) -> list[CodeList]:
        """Return the counts of all graphs in order; the blocks of a graph are added in order."""
        lists: list[CodeList] = []
        total: Any = None
        for k, (piece, one) in enumerate(zip(pieces, found, strict=True)):
            if isinstance(one, CodeList):
                lists.append(one)
                continue
            total = one if piece.root == 0 else total + one
            if k + 1 == len(pieces) or pieces[k + 1].first != piece.first:
                lists.append(_listed(total, self._graph(piece.first)[2]))
        return lists

    def _search(self, n: int) -> Any:
        """Return the workspace to number the labels of n nodes."""
        from propkernels.codes.triplets_compiled import Search

        return Search.room(n, len(self.keys))

    def _graph(self, graph: int) -> tuple[tuple[Any, ...], NDArray[np.int64], NDArray[np.uint64]]:
        """Return edges and distances of one graph, the number of each node's label, and keys by number."""
        from propkernels.codes.triplets_compiled import number_labels

        graphs, pair_ptr = self.paths.graphs, self.paths.pair_ptr
        first, size = int(graphs.graph_ptr[graph]), int(graphs.graph_sizes[graph])
        distances = self.paths.distances[pair_ptr[graph] : pair_ptr[graph + 1]]
        search = self._search(size)
        n_labels = number_labels(self.ids, first, size, search)
        keys = self.keys[search.present[:n_labels]]
        return (*self.edges[:3], first, size, distances), search.labels, keys


def _listed(matrices: Matrix, keys: NDArray[np.uint64]) -> CodeList:
    """Return the path counts of one graph, given one matrix per label."""
    from propkernels.codes.hops_compiled import list_hops

    width = matrices.shape[1]
    codes, counts = np.empty((2, len(keys) * width * (width + 1) // 2))
    filled = list_hops(matrices, keys, codes.view(np.int64), counts)
    return CodeList.of(np.array([filled]), codes.view(np.int64)[:filled], counts[:filled].copy())


def _node_matrices(graphs: GraphDatabase, weighted: bool, n_jobs: int | None) -> Iterator[Matrix]:
    """Yield the path-count matrices of the nodes of each graph, (nodes, width, width)."""
    for part in runs_of_graphs(graphs):
        paths = path_lengths(part, weighted, n_jobs)

        def of_graph(i: int, paths: PathLengths = paths) -> Matrix:
            size = int(paths.graphs.graph_sizes[i])
            return _hop_counts(paths, i, np.arange(size), size, n_jobs)

        yield from run_threads(of_graph, range(len(part)), n_jobs)


def _hop_counts(
    paths: PathLengths, i: int, slots: NDArray[Any], n_slots: int, n_jobs: int | None = None
) -> Matrix:
    """Return the path-count matrices of graph i, summed by slot: (n_slots, width, width)."""
    from propkernels.codes.hops_compiled import most_hops

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
    return _summed_blocks(edges, slots.astype(np.int64), n_slots, most, n_jobs)


def _summed_blocks(
    edges: tuple[Any, ...], slots: NDArray[np.int64], n_slots: int, most: int, n_jobs: int | None
) -> Matrix:
    """Return path-count matrices for paths with at most ``most`` edges; ``edges`` as of ``count_hops``.

    Threads take blocks of roots, whose sums are added in order.
    """
    from propkernels.codes.hops_compiled import FEW_ROOTS, ROOTS_OF_A_BLOCK, count_hops

    shape, size = (n_slots, most + 1, most + 1), len(slots)
    length = max(size, 1) if size <= FEW_ROOTS else ROOTS_OF_A_BLOCK

    def one_block(root: int) -> Matrix:
        counts = np.zeros(shape)
        count_hops(*edges, root, root + length, slots, counts)
        return counts

    total = np.zeros(shape)
    roots, at_once = list(range(0, size, length)), thread_count(n_jobs)
    for first in range(0, len(roots), at_once):  # few matrices are in memory at a time
        for counts in run_threads(one_block, roots[first : first + at_once], n_jobs):
            total += counts
    return total


class Hops(NamedTuple):
    """Nodes of several graphs, and one matrix of path counts per graph, with one row per node.

    Column b (b + 1) / 2 + a counts the paths with b edges on which the node has position a; graphs with
    shorter paths have fewer columns.
    """

    nodes: Nodes
    counts: list[Matrix]

    def _check_parts(self) -> None:
        """Raise unless counts have one row per node of each graph."""
        require(all(is_array(counts, "f", 2) for counts in self.counts), "counts must be matrices")
        sizes = [len(counts) for counts in self.counts]
        require(sizes == np.diff(self.nodes.ptr).tolist(), "every node needs a row of counts")


@dataclass(frozen=True)
class HopComparison(TiledComparison):
    """Sum over pairs of nodes of <M(u), M(v)> k(u, v) (Feragen et al. 2013, Equation 5)."""

    nodes: NodeComparison
    weighted: bool
    prepared_type: ClassVar[type] = Hops

    def prepare(self, graphs: GraphDatabase, n_jobs: int | None = None) -> Hops:
        """Return labels, attributes and path counts."""
        counts = [_packed(matrices) for matrices in _node_matrices(graphs, self.weighted, n_jobs)]
        return Hops(self.nodes.nodes(graphs), counts)

    def tile(self, left: Hops, rows: slice, right: Hops, columns: slice) -> Matrix:
        """Return the kernel between two runs of graphs; products of counts are exact integers."""
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
    """Return the entries a <= b of each matrix, ordered by b, then a."""
    b, a = np.tril_indices(counts.shape[1])
    return np.ascontiguousarray(counts[:, a, b])


def _stacked(counts: list[Matrix], width: int) -> Matrix:
    """Return the rows of several graphs, cut or padded with 0 to the same width."""
    stacked = np.zeros((sum(map(len, counts)), width))
    first = 0
    for part in counts:
        shared = min(width, part.shape[1])
        stacked[first : first + len(part), :shared] = part[:, :shared]
        first += len(part)
    return stacked


class GraphHopper(PairwiseKernel):
    """GraphHopper kernel (Feragen et al., NIPS 2013).

    Pairs of shortest paths with equally many nodes are compared node by node: the kernel is the sum of the
    node kernels of nodes at the same position (Equation 2). It is computed from matrices that count the
    positions of each node on paths (Equation 5). Paths count in both directions, all shortest paths between
    two nodes count, and a single node is a path. Graphs may have isolated nodes and several components.

    With labels only, the matrices are summed per label and are explicit features; with attributes, pairs of
    graphs are compared directly.

    Parameters
    ----------
    labels : {"auto", "node", "degree", None}, default="auto"
        Labels that nodes must share: node labels, degrees, or none. "auto": node labels where the graphs
        have them; else degrees, or none if there are attributes. Unobserved labels form one more label.
    attributes : {None, "gaussian", "linear", "truncated"}, default=None
        Kernel between attributes, multiplied by that of labels: ``exp(-gamma |x - y|^2)``; x . y; or the
        Gaussian if ``|x - y| <= 1``, else 0.
    weighted : bool, default=True
        Whether edge weights are lengths; else each edge has length 1. Positions on paths are numbers of edges
        in either case.
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
    ShortestPath : Compares the end points and lengths of shortest paths.

    References
    ----------
    .. [1] A. Feragen, N. Kasenburg, J. Petersen, M. de Bruijne and K. Borgwardt (2013). Scalable kernels for
       graphs with continuous attributes. Advances in Neural Information Processing Systems 26, 216-224.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> edge, path = np.array([[0, 1], [1, 0]]), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.kernels.GraphHopper().fit_transform([(edge, ["C", "O"]), (path, ["C", "O", "C"])])
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
        n_jobs: int | None = None,
    ) -> None:
        self.labels = labels
        self.attributes = attributes
        self.weighted = weighted
        self.gamma = gamma
        self.standardize = standardize
        self.normalize = normalize
        self.n_jobs = n_jobs

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts, which holds without attributes."""
        return self.attributes is None

    def _learn(self, graphs: GraphDatabase) -> TiledComparison | CountedComparison:
        check_choice(self.weighted, (True, False), "weighted")
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0:
            return CountedComparison(HopCounter(nodes.source, self.weighted))
        return HopComparison(nodes, self.weighted)
