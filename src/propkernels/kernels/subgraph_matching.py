"""SubgraphMatching: a kernel on common subgraphs, by cliques of the product graph or by counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels import _core
from propkernels._utils.arrays import check_room, offsets
from propkernels._utils.checks import check_choice, check_integer, shown
from propkernels._utils.parallel import threaded
from propkernels._utils.randomness import mix
from propkernels._utils.stored import ANY_NUMBER, Offsets, require
from propkernels._utils.typing import Floats
from propkernels.convert.check import check_edges
from propkernels.counts.products import normalized
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.node_kernel import NodeComparison, Nodes
from propkernels.kernels.pairwise_kernel import CountedComparison, PairwiseKernel, TiledComparison
from propkernels.kernels.subgraph_counts import SubgraphCounter, SubgraphCounts
from propkernels.propagation.initial import check_edge_labels, edge_keys


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
    """Weighted sums over matched subgraphs; layer s is the kernel with sizes 1..s+1.

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
    prepared_type: ClassVar[type] = Wired

    def _check_parts(self) -> None:
        """Raise unless there is one weight per size."""
        require(self.lambdas.ndim == 1 and len(self.lambdas) >= 1, "every size needs a weight")

    @property
    def depth(self) -> int:  # type: ignore[override]
        """Number of kernels: one per maximum size."""
        return len(self.lambdas)

    def prepare(self, graphs: GraphDatabase) -> Wired:
        """Return labels, attributes and edges."""
        pair_ptr = offsets(graphs.graph_sizes**2)
        keys = edge_keys(graphs, self.edge_labels, self.edge_weights)
        return Wired(self.nodes.nodes(graphs), pair_ptr, _edge_words(graphs, pair_ptr, keys))

    def tile(self, left: Wired, rows: slice, right: Wired, columns: slice) -> NDArray[np.float64]:
        """Return the kernel between two runs of graphs, (depth, rows, columns)."""
        a, b = left.some(rows), right.some(columns)
        sides = [(side.nodes.ptr, side.pair_ptr, side.edges) for side in (a, b)]
        out = np.empty((self.depth, len(a.nodes.ptr) - 1, len(b.nodes.ptr) - 1))
        settings = (self.depth, self.connected, self.nodes.kind == 0)
        _core.match_subgraphs(self.nodes.matrix(a.nodes, b.nodes), *sides, *settings, out)
        return np.asarray(np.cumsum(out * self.lambdas[:, None, None], axis=0))


def _edge_words(
    graphs: GraphDatabase, pair_ptr: NDArray[np.int64], keys: NDArray[np.uint64] | None
) -> NDArray[np.uint64]:
    """Return, per ordered pair (u, v), a word for the edges u -> v and v -> u; 0 without edges."""
    words = np.zeros(pair_ptr[-1], dtype=np.uint64)
    entries: coo_array = csr_array(graphs.adjacency).tocoo()
    rows, columns = entries.coords
    edge_words = mix(1, 0 if keys is None else keys) * np.ones(len(rows), dtype=np.uint64)
    graph = graphs.graph_ids[rows]
    first, size = graphs.graph_ptr[graph], graphs.graph_sizes[graph]
    there = pair_ptr[graph] + (rows - first) * size + (columns - first)
    back = pair_ptr[graph] + (columns - first) * size + (rows - first)
    np.add.at(words, there, mix(2, edge_words))  # a sum, so that the order of parallel edges does not matter
    np.add.at(words, back, mix(3, edge_words))
    return words


LARGEST_SUBGRAPH = 1000  # limit of k, far beyond feasible searches


class SubgraphMatching(PairwiseKernel):
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

    def __init__(
        self,
        *,
        k: int = 5,
        labels: str | None = "auto",
        attributes: str | None = None,
        edge_labels: bool = False,
        edge_weights: bool = False,
        connected: bool = True,
        lambdas: Floats | None = None,
        gamma: float | None = None,
        standardize: bool = True,
        normalize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.labels = labels
        self.attributes = attributes
        self.edge_labels = edge_labels
        self.edge_weights = edge_weights
        self.connected = connected
        self.lambdas = lambdas
        self.gamma = gamma
        self.standardize = standardize
        self.normalize = normalize
        self.n_jobs = n_jobs

    @threaded
    def fit_transform_cumulative(self, X: Graphs, y: object = None) -> NDArray[np.float64]:
        """Fit, and return the kernel matrices of k = 1, 2, ... from one pass.

        Returns
        -------
        ndarray of shape (k, n, n)
            Entry ``s`` is the kernel matrix with ``k=s + 1``.
        """
        kernels = self._fit_kernels(X, cumulative=True)
        if self.normalize:
            for kernel in kernels:
                diagonal = kernel.diagonal().copy()
                normalized(kernel, diagonal, diagonal)
                np.fill_diagonal(kernel, diagonal > 0)
        return kernels

    def _fit_kernels(self, graphs: Any, cumulative: bool = False) -> NDArray[np.float64]:
        """Fit, and return the kernel, or the kernels of every maximum size, without normalization."""
        database = check_edges(graphs)
        comparison = self._check_and_learn(database)
        if not isinstance(comparison, SubgraphCounts):
            return super()._fit_kernels(database)
        check_room(len(database), len(database), len(comparison.lambdas) + 1 if cumulative else 2)
        counts = comparison.prepare(database)
        if cumulative:
            kernels = comparison.cumulative(counts)
        else:
            kernels = comparison.square(counts)[None]
        self._keep(database, comparison, counts, kernels[-1].diagonal().copy())
        return kernels

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts: no attributes, connected subgraphs only."""
        return self.attributes is None and bool(self.connected)

    def _learn(self, graphs: GraphDatabase) -> TiledComparison | CountedComparison:
        for name in ("edge_labels", "edge_weights", "connected"):
            check_choice(getattr(self, name), (True, False), name)
        check_edge_labels(graphs, self.edge_labels)
        lambdas = _check_lambdas(self.lambdas, check_integer(self.k, "k", 1, LARGEST_SUBGRAPH))
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0 and self.connected:
            counter = SubgraphCounter(nodes.source, len(lambdas), self.edge_labels, self.edge_weights)
            return SubgraphCounts(counter, lambdas)
        return SubgraphComparison(nodes, lambdas, self.edge_labels, self.edge_weights, self.connected)


def _check_lambdas(lambdas: Any, k: int) -> NDArray[np.float64]:
    """Return the weight of each size; raise unless there are k finite, nonnegative numbers."""
    try:
        with np.errstate(over="ignore"):  # infinite values are rejected below
            values = np.ones(k) if lambdas is None else np.asarray(lambdas, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    if values.shape != (k,) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"lambdas must be k = {k} finite numbers, not negative; got {shown(lambdas)}")
    return values
