"""GraphHopper: graphs compared by the nodes along their shortest paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import check_room, offsets
from propkernels._utils.parallel import (
    equal_work,
    run_threads,
    stage_pieces,
    thread_count,
    threads_for,
    workers,
)
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_array, require
from propkernels.codes.distances import (
    PAIRS_IN_MEMORY,
    WITHOUT_PAIRS,
    PathLengths,
    path_lengths,
    run_bounds,
    runs_of_graphs,
    threads_for_pairs,
)
from propkernels.convert.check import check_edges
from propkernels.counts.counters import CodeList, Counter, Known, Occurrences, StreamCounts, count_lists
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.pairs import NodeComparison, Nodes, TiledComparison
from propkernels.propagation.initial import node_keys, numbered_keys, plain_labels

Matrix = NDArray[np.float64]
STEPS_OF_A_PAIR = 4  # work per pair of nodes, compared with a breadth-first search
RUNS_IN_MEMORY = 4  # times the distances that other kernels list at once: threads share them


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
    edge_labels: ClassVar[bool] = False

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return counts of (label, position, number of edges); known codes have the first columns."""
        runs = run_bounds(graphs.graph_sizes**2, RUNS_IN_MEMORY * PAIRS_IN_MEMORY)
        parts = [graphs] if len(runs) == 1 else (graphs[first:last] for first, last in runs)
        with workers(threads_for_pairs(graphs, STEPS_OF_A_PAIR)):
            lists = [one for part in parts for one in self._lists(part)]
            return [count_lists(lists, None if known is None else known[0])]

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield nodes with their positions on paths, and how often each occurs."""
        keys = node_keys(graphs, self.source)
        firsts = iter(graphs.graph_ptr.tolist())

        def listed(matrices: Matrix) -> tuple[Any, Any, Any]:
            first = next(firsts)
            node, a, b = np.nonzero(matrices)
            codes = mix(keys[first + node], a, b).view(np.int64)
            return codes, first + node, matrices[node, a, b]

        parts = [listed(matrices) for matrices in _node_matrices(graphs, self.weighted)]
        codes, nodes, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        yield Occurrences(codes, nodes[:, None], 0, 1.0, numbers)

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Return runs of graphs whose pairs of nodes fit in memory."""
        return runs_of_graphs(graphs)

    def _lists(self, graphs: GraphDatabase) -> list[CodeList]:
        """Return the counts of runs of graphs; threads share the start nodes of graphs with much work."""
        hops = Hopped.of(graphs, self.weighted)
        keys, ids = numbered_keys(plain_labels(graphs, self.source))
        n_labels, widths = np.minimum(graphs.graph_sizes, len(keys)), hops.most + 1
        hops.check_room(n_labels)
        work = (
            graphs.graph_sizes
            * (graphs.graph_sizes + np.diff(graphs.adjacency.indptr[graphs.graph_ptr]))
            * widths
        )
        threads = thread_count()
        most = work.sum() / stage_pieces(threads) if threads > 1 else np.inf
        runs = run_bounds(work, most)
        bounds = offsets([last - first for first, last in runs])
        is_shared = (np.diff(bounds) == 1) & (work[bounds[:-1]] > most)
        ends = offsets(n_labels * widths * (widths + 1) // 2)
        codes, counts = np.empty(ends[-1], dtype=np.int64), np.empty(ends[-1])  # unused parts take no memory
        lengths = np.empty(len(graphs), dtype=np.int64)
        labels, out = (ids, keys, hops.most), (codes, counts, lengths)
        paths = hops.paths.arrays, hops.paths.distances
        _core.list_hops(*paths, *labels, bounds, is_shared, ends, *out, threads)

        def one_run(run: tuple[int, int]) -> CodeList:
            own = lengths[slice(*run)]
            entries = slice(ends[run[0]], ends[run[0]] + own.sum())
            return CodeList.of(own, codes[entries], counts[entries].copy())

        return run_threads(one_run, runs)


@dataclass(frozen=True)
class Hopped:
    """Distances in graphs, and the largest number of edges on a shortest path of each, (graphs,)."""

    paths: PathLengths
    most: NDArray[np.int64]

    @classmethod
    def of(cls, graphs: GraphDatabase, weighted: bool) -> Hopped:
        """Find all distances; threads take start nodes, then graphs."""
        paths, most = path_lengths(graphs, weighted), np.empty(len(graphs), dtype=np.int64)
        if paths.has_hops:  # distances are numbers of edges
            longest = np.append(np.where(paths.distances == np.inf, 0.0, paths.distances), 0.0)
            most[:] = np.maximum.reduceat(longest, paths.pair_ptr[:-1]) * (graphs.graph_sizes > 0)
            return cls(paths, most)
        steps = graphs.graph_sizes**2
        threads = threads_for(int(steps.sum()))
        bounds = equal_work(offsets(steps), stage_pieces(threads))
        _core.widest_hops(paths.arrays, paths.distances, bounds, most, threads)
        return cls(paths, most)

    def check_room(self, n_slots: NDArray[Any]) -> None:
        """Raise an error if the path counts of a graph, summed by slot, do not fit into memory."""
        sizes, widths = self.paths.graphs.graph_sizes, self.most + 1
        for rows, columns in ((n_slots, widths**2), (sizes, widths)):
            largest = int(np.argmax(rows * columns))
            check_room(int(rows[largest]), int(columns[largest]), 2, ways_out=WITHOUT_PAIRS)


def _node_matrices(graphs: GraphDatabase, weighted: bool) -> Iterator[Matrix]:
    """Yield the path-count matrices of the nodes of each graph, (nodes, width, width)."""
    for part in runs_of_graphs(graphs):
        hops = Hopped.of(part, weighted)
        hops.check_room(part.graph_sizes)

        def of_graph(i: int, hops: Hopped = hops) -> Matrix:
            size, width = int(hops.paths.graphs.graph_sizes[i]), int(hops.most[i]) + 1
            counts = np.empty((size, width, width))
            every, threads = np.arange(size), thread_count()
            _core.count_hops(hops.paths.arrays, hops.paths.distances, i, every, counts, threads)
            return counts

        yield from run_threads(of_graph, range(len(part)))


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
    data_type: ClassVar[type] = Hops

    def count(self, graphs: GraphDatabase, known: None) -> Hops:
        """Return labels, attributes and path counts."""
        counts = [_packed(matrices) for matrices in _node_matrices(graphs, self.weighted)]
        return Hops(self.nodes.nodes(graphs), counts)

    def tile(self, left: Hops, rows: slice, right: Hops, columns: slice) -> Matrix:
        """Return the kernel between two runs of graphs; products of counts are exact integers."""
        a, b = left.nodes.some(rows), right.nodes.some(columns)
        sides = left.counts[rows], right.counts[columns]
        width = min(max(counts.shape[1] for counts in side) for side in sides)
        values = _stacked(sides[0], width) @ _stacked(sides[1], width).T
        values *= self.nodes.matrix(a, b)
        out = np.empty((len(a.ptr) - 1, len(b.ptr) - 1))
        _core.sum_blocks(values, a.ptr, b.ptr, out)
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


@dataclass(kw_only=True, eq=False, repr=False)
class GraphHopper(CountKernel):
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

    labels: str | None = "auto"
    attributes: str | None = None
    weighted: bool = True
    gamma: float | None = None
    standardize: bool = True
    normalize: bool = False
    n_jobs: int | None = None

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts, which holds without attributes."""
        return self.attributes is None

    def _learn_coder(self, graphs: GraphDatabase) -> HopCounter | HopComparison:
        check_edges(graphs)
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0:
            return HopCounter(nodes.source, bool(self.weighted))
        return HopComparison(nodes, bool(self.weighted))
