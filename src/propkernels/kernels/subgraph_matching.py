"""SubgraphMatching: a kernel on common subgraphs, by cliques of the product graph or by counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial, isqrt
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array
from sklearn.base import clone

from propkernels import _core
from propkernels._utils.arrays import check_room, index_dtype, offsets, sum_in_order
from propkernels._utils.checks import check_integer, check_weights
from propkernels._utils.parallel import threaded, threads_for, whole_runs
from propkernels._utils.progress import ProgressBar
from propkernels._utils.randomness import mix
from propkernels._utils.stored import ANY_NUMBER, Offsets, require
from propkernels._utils.typing import Floats
from propkernels.convert.check import check_edges, check_graphs
from propkernels.counts.base_kernels import BaseKernel, Linear
from propkernels.counts.counters import (
    Counter,
    Known,
    Occurrences,
    StreamCounts,
    after_known,
    count_codes,
    looked_up,
)
from propkernels.counts.products import square_gram
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.kernels.count_kernel import Comparison, CountKernel
from propkernels.kernels.pairs import NodeComparison, Nodes, TiledComparison
from propkernels.propagation.initial import check_edge_labels, edge_keys, node_keys


class Wired(NamedTuple):
    """Nodes of several graphs, and one word per ordered pair of nodes for the edges between them."""

    nodes: Nodes
    pair_ptr: Annotated[NDArray[np.int64], Offsets("edges")]
    edges: Annotated[NDArray[np.uint64], ANY_NUMBER]

    def _check_parts(self) -> None:
        """Raise unless there is one word per ordered pair of nodes of each graph."""
        self.nodes.check_pairs(self.pair_ptr, self.edges)

    def some(self, graphs: slice) -> Wired:
        """Return a run of graphs."""
        ptr = self.pair_ptr[graphs.start : graphs.stop + 1]
        return Wired(self.nodes.some(graphs), ptr - ptr[0], self.edges[ptr[0] : ptr[-1]])


@dataclass(frozen=True)
class SubgraphComparison(TiledComparison):
    """Weighted sum over matched subgraphs.

    Attributes
    ----------
    nodes : NodeComparison
    lambdas : ndarray, (k,)
        Weight of each size.
    edge_labels, edge_weights : bool
        Whether matched edges must have equal labels, and equal weights.
    connected : bool
        Whether only connected subgraphs are matched.
    """

    nodes: NodeComparison
    lambdas: NDArray[np.float64]
    edge_labels: bool
    edge_weights: bool
    connected: bool
    data_type: ClassVar[type] = Wired

    def _check_parts(self) -> None:
        """Raise unless there is one weight per size."""
        require(self.lambdas.ndim == 1 and len(self.lambdas) >= 1, "every size needs a weight")

    def count(self, graphs: GraphDatabase, known: None) -> Wired:
        """Return labels, attributes and edges."""
        pair_ptr = offsets(graphs.graph_sizes**2)
        there = edge_words(graphs, self.edge_labels, self.edge_weights).tocoo()
        rows, columns = there.coords
        graph = graphs.graph_ids[rows]
        first, words = graphs.graph_ptr[graph], np.zeros(pair_ptr[-1], dtype=np.uint64)
        words[pair_ptr[graph] + (rows - first) * graphs.graph_sizes[graph] + (columns - first)] = there.data
        return Wired(self.nodes.nodes(graphs), pair_ptr, words)

    def tile(self, left: Wired, rows: slice, right: Wired, columns: slice) -> NDArray[np.float64]:
        """Return the kernel between two runs of graphs, (rows, columns)."""
        a, b = left.some(rows), right.some(columns)
        sides = [(side.nodes.ptr, side.pair_ptr, side.edges) for side in (a, b)]
        out = np.empty((len(self.lambdas), len(a.nodes.ptr) - 1, len(b.nodes.ptr) - 1))
        settings = (len(self.lambdas), self.connected, self.nodes.kind == 0)
        _core.match_subgraphs(self.nodes.matrix(a.nodes, b.nodes), *sides, *settings, out)
        return sum_in_order(out * self.lambdas[:, None, None])


def edge_words(graphs: GraphDatabase, edge_labels: bool, edge_weights: bool) -> csr_array:
    """Return a matrix of words for the edges u -> v and v -> u between nodes u and v, as seen from u.

    Words of parallel edges are added, so that their order does not matter; self-loops are left out.
    """
    keys = edge_keys(graphs, edge_labels, edge_weights)
    entries: coo_array = csr_array(graphs.adjacency).tocoo()
    rows, columns = entries.coords
    words = mix(1, 0 if keys is None else keys) * np.ones(len(rows), dtype=np.uint64)
    is_edge = rows != columns
    rows, columns, words = rows[is_edge], columns[is_edge], words[is_edge]
    ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    there = coo_array((np.concatenate([mix(2, words), mix(3, words)]), ends), shape=entries.shape).tocsr()
    there.sum_duplicates()
    return there


LARGEST_SUBGRAPH = 1000  # limit of k, far beyond feasible searches


@dataclass(kw_only=True, eq=False, repr=False)
class SubgraphMatching(CountKernel):
    """Common subgraph matching kernel (CSM; Kriege and Mutzel, ICML 2012, Definition 4).

    The kernel is the sum, over all bijections between induced subgraphs of two graphs with at most k nodes
    that preserve edges and non-edges, of the product of the node kernels of matched nodes. Such bijections
    are the cliques of a product graph (Theorem 1), which are enumerated for each pair of graphs.

    With labels only and connected subgraphs, pairs are not compared: the connected subgraphs of each graph
    are counted up to isomorphism, and two isomorphic subgraphs have as many bijections as symmetries. The
    values are the same; the time grows with the number of graphs instead of the number of pairs.

    Parameters
    ----------
    k : int, default=5
        Largest number of nodes of a subgraph; the time grows steeply with k. The propagation kernel paper
        learns k up to 7.
    labels : {"auto", "node", "degree", None}, default="auto"
        Labels that matched nodes must share: node labels, degrees, or none. "auto": node labels where the
        graphs have them; else degrees, or none if there are attributes. Unobserved labels form one more
        label.
    attributes : {None, "gaussian", "linear", "truncated"}, default=None
        Kernel between attributes, multiplied by that of labels: ``exp(-gamma |x - y|^2)``; x . y; or the
        Gaussian if ``|x - y| <= 1``, else 0. This truncated Gaussian keeps product graphs sparse (the
        propagation kernel paper used it for larger data), but it is not positive definite.
    edge_labels : bool, default=False
        Whether matched edges must have the same label.
    edge_weights : bool, default=False
        Whether matched edges must have the same weight.
    connected : bool, default=True
        Whether only connected subgraphs are matched, as in GraKeL and in Section 3.3 of the paper. False
        matches many more subgraphs.
    lambdas : sequence of k numbers or None, default=None
        Weight of subgraphs with 1, 2, ..., k nodes; None: 1 each.
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
    ShortestPath : A much faster kernel on pairs of nodes.
    WeisfeilerLehman : Counts subtree patterns instead of subgraphs.

    References
    ----------
    .. [1] N. Kriege and P. Mutzel (2012). Subgraph matching kernels for attributed graphs. International
       Conference on Machine Learning. arXiv:1206.6483.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> kernel = pk.kernels.SubgraphMatching(k=3, labels=None)
    >>> kernel.fit_transform([triangle, path])
    array([[33., 21.],
           [21., 19.]])
    >>> kernel.fit_transform_cumulative([triangle, path])[:, 0, 0]
    array([ 9., 27., 33.])
    """

    k: int = 5
    labels: str | None = "auto"
    attributes: str | None = None
    edge_labels: bool = False
    edge_weights: bool = False
    connected: bool = True
    lambdas: Floats | None = None
    gamma: float | None = None
    standardize: bool = True
    normalize: bool = False
    n_jobs: int | None = None

    @threaded
    def fit_transform_cumulative(self, X: Graphs, y: object = None) -> NDArray[np.float64]:
        """Fit, and return the kernel matrices of k = 1, 2, ....

        Returns
        -------
        ndarray of shape (k, n, n)
            Entry ``s`` is the kernel matrix with ``k=s + 1``.
        """
        graphs, k = check_graphs(X), check_integer(self.k, "k", 1, LARGEST_SUBGRAPH)
        lambdas = check_weights(self.lambdas, k, "lambdas")
        check_room(len(graphs), len(graphs), k)
        smaller = [clone(self).set_params(k=size, lambdas=lambdas[:size]) for size in range(1, k)]
        return np.stack([kernel.fit_transform(graphs) for kernel in (*smaller, self)])

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts: no attributes, connected subgraphs only."""
        return self.attributes is None and bool(self.connected)

    def _learn_coder(self, graphs: GraphDatabase) -> SubgraphCounter | SubgraphComparison:
        check_edges(graphs)
        edges = bool(self.edge_labels), bool(self.edge_weights)
        check_edge_labels(graphs, edges[0])
        lambdas = check_weights(self.lambdas, check_integer(self.k, "k", 1, LARGEST_SUBGRAPH), "lambdas")
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0 and self.connected:
            return SubgraphCounter(nodes.source, lambdas, *edges)
        return SubgraphComparison(nodes, lambdas, *edges, bool(self.connected))

    def _learn(self, graphs: GraphDatabase) -> tuple[BaseKernel | Comparison, Any, Any]:
        base_kernel, coder, counts = super()._learn(graphs)
        if isinstance(coder, SubgraphCounter):
            base_kernel = SizesWeighed(coder.lambdas)
        return base_kernel, coder, counts


@dataclass(frozen=True)
class SizesWeighed(Linear):
    """Dot product of counts of subgraphs: whole numbers are summed before they are weighted by lambda.

    Two isomorphic subgraphs have as many bijections that preserve labels and edges as symmetries; other pairs
    have none. So the sum over all pairs of subgraphs is the sum over all kinds of subgraphs of (symmetries x
    occurrences in one graph x occurrences in the other), weighted by lambda_s for s nodes.

    Attributes
    ----------
    lambdas : ndarray, (k,)
        Weight of each size.
    """

    lambdas: NDArray[np.float64]

    def square(self, streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
        """Return the kernel matrix of the training graphs, by one product per distinct lambda."""
        found = list(zip((s.counts for s in streams), kinds(len(self.lambdas)), strict=True))

        def part(weight: float) -> NDArray[np.float64]:
            group = [(counts, kind[1]) for counts, kind in found if self.lambdas[kind[0] - 1] == weight]
            counts, symmetries = zip(*([one for one in group if one[0].nnz] or group[:1]), strict=True)
            gram = square_gram(counts, np.array(symmetries))
            gram *= weight
            return gram

        return sum_in_order(map(part, np.unique(self.lambdas)))


# a kind of subgraph in a graph, as ``count_subgraphs`` returns it
FOUND = np.dtype([("code", np.int64), ("count", np.float64), ("size", np.int64), ("symmetries", np.int64)])
STEPS_OF_A_NODE = 2**8  # estimated steps per node
NODES_OF_A_BATCH = 2**9
Kind = tuple[int, int]  # number of nodes, number of symmetries


def kinds(k: int) -> list[Kind]:
    """Return all possible pairs (number of nodes, at most k, and number of symmetries).

    The symmetries of s nodes form a subgroup of the s! permutations, so their number divides s!.
    """
    return [(size, number) for size in range(1, k + 1) for number in _divisors(factorial(size))]


@dataclass(frozen=True)
class SubgraphCounter(Counter):
    """Counter of the connected induced subgraphs of each graph, up to isomorphism.

    There is one stream per number of nodes and number of symmetries. Its iteration is the number of nodes
    minus 1, its weight the number of symmetries, times lambda of its size.

    Attributes
    ----------
    source : {"node", "degree", None}
        Source of labels.
    lambdas : ndarray, (k,)
        Weight of each number of nodes 1, ..., k.
    edge_labels, edge_weights : bool
        Whether edge labels, and edge weights, distinguish subgraphs.
    """

    source: str | None
    lambdas: NDArray[np.float64]
    edge_labels: bool
    edge_weights: bool

    def _check_parts(self) -> None:
        """Raise unless there is one weight per size."""
        require(self.lambdas.ndim == 1 and len(self.lambdas) >= 1, "every size needs a weight")

    @property
    def k(self) -> int:
        """Largest number of nodes."""
        return len(self.lambdas)

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return the counts of all graphs; known codes have the first columns."""
        lengths, found = self._search(graphs, graphs.graph_ptr, None)
        graph = np.repeat(np.arange(len(lengths)), lengths)
        streams = []
        for s, kind in enumerate(kinds(self.k)):
            chosen = _of_kind(found, kind)
            ptr = offsets(np.bincount(graph[chosen], minlength=len(lengths)))
            counted, bins = count_codes(found["code"][chosen], ptr)
            index = index_dtype(len(counted.indices))
            parts = found["count"][chosen], counted.indices.astype(index), ptr.astype(index)
            matrix = csr_array(parts, shape=(len(ptr) - 1, len(bins)))
            stream = StreamCounts(matrix, bins, kind[0] - 1, self._weight(kind))
            streams.append(stream if known is None else after_known(stream, known[s]))
        return streams

    def _search(
        self,
        graphs: GraphDatabase,
        ptr: NDArray[np.int64],
        nodes: NDArray[Any] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Return numbers of kinds, and the kinds themselves, of the graphs that sets of nodes induce.

        Set g is ``nodes[ptr[g]:ptr[g + 1]]``, ascending, or without ``nodes`` all from ``ptr[g]`` on.
        """
        there = edge_words(graphs, self.edge_labels, self.edge_weights)
        back = there.T.tocsr()
        if nodes is not None:
            nodes = nodes.astype(there.indices.dtype)
        wiring = there.indptr, there.indices, there.data, back.data, node_keys(graphs, self.source)
        bounds, lengths = whole_runs(ptr, NODES_OF_A_BATCH), np.empty(len(ptr) - 1, dtype=np.int64)
        threads = threads_for(int(ptr[-1]) * STEPS_OF_A_NODE)
        with ProgressBar("SubgraphMatching", len(bounds) - 1) as bar:
            found = _core.count_subgraphs(wiring, ptr, nodes, self.k, bounds, lengths, bar.step, threads)
        return lengths, np.frombuffer(found, FOUND)

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield nodes with the number of their subgraphs of each kind, divided by the number of nodes."""
        nodes, found = self._subgraphs_of_nodes(graphs)
        for kind in kinds(self.k):
            chosen = _of_kind(found, kind)
            codes, numbers = found["code"][chosen], found["count"][chosen] / kind[0]
            yield Occurrences(codes, nodes[chosen, None], kind[0] - 1, self._weight(kind), numbers)

    def _subgraphs_of_nodes(self, graphs: GraphDatabase) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Return nodes, and the kinds of subgraphs that contain them.

        Subgraphs that contain node v are those of the graph, minus those of the graph without v. Nodes more
        than k - 1 edges away from v share no connected subgraph with v, and are left out.
        """
        near, n = _balls(edge_words(graphs, False, False), self.k - 1), graphs.n_nodes
        is_other = near.indices != np.repeat(np.arange(n), np.diff(near.indptr))
        members = np.concatenate([near.indices, near.indices[is_other]])
        sizes = np.diff(near.indptr)
        lengths, found = self._search(graphs, offsets(np.concatenate([sizes, sizes - 1])), members)
        parts = np.split(found, np.cumsum(lengths)[:-1])
        rest = [_difference(parts[v], parts[n + v]) for v in range(n)]
        nodes = np.repeat(np.arange(n), [len(part) for part in rest])
        return nodes, np.concatenate([np.empty(0, FOUND), *rest])

    def _weight(self, kind: Kind) -> float:
        return float(self.lambdas[kind[0] - 1] * kind[1])


@cache
def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _balls(there: csr_array, radius: int) -> csr_array:
    """Return, for each node, the nodes at most ``radius`` edges away, including the node."""
    steps = csr_array((np.ones(there.nnz, dtype=np.bool_), there.indices, there.indptr), shape=there.shape)
    near = csr_array(eye_array(there.shape[0], dtype=np.bool_))
    for _ in range(radius):
        near = csr_array(near + near @ steps)
    near.sort_indices()
    return near


def _difference(whole: NDArray[np.void], part: NDArray[np.void]) -> NDArray[np.void]:
    """Return the kinds of subgraphs of a graph, minus those of a part of it."""
    more = whole["count"] - looked_up(whole["code"], part["code"], part["count"])
    rest = whole[more != 0]
    rest["count"] = more[more != 0]
    return rest


def _of_kind(found: NDArray[np.void], kind: Kind) -> NDArray[np.int64]:
    """Return the places of a kind."""
    return np.flatnonzero((found["size"] == kind[0]) & (found["symmetries"] == kind[1]))
