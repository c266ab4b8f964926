"""NodeIndex: nodes with similar surroundings, exactly; how common the surroundings of nodes are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_integer
from propkernels._utils.typing import Estimator, Seed
from propkernels.convert.check import check_graph
from propkernels.counts.counters import Coder, StreamCounts, count_streams, looked_up
from propkernels.counts.entries import Vocabulary
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.nodes.known import node_numbers
from propkernels.novelty.applicability import Applicability, applicability_of
from propkernels.novelty.rarity import SMOOTHING
from propkernels.search.inverted_file import InvertedFile
from propkernels.search.nearest import Neighbors, Query

Matrix = NDArray[np.float64]


class NodeIndex(GraphInput, BaseEstimator):
    """Index of the nodes of a graph by their surroundings: exact nearest nodes, and novelty of nodes.

    A node is described by its codes at t = 0..t_max, as in a kernel between graphs; the similarity of two
    nodes is the share of codes that are equal. The index is the inverted file of :class:`GraphIndex`, with
    nodes in place of graphs.

    Parameters
    ----------
    kernel : estimator or None, default=None
        A kernel of this library that gives each node a code per iteration; None:
        ``PropagationKernel(t_max=3, n_hashes=4, bin_width=0.1)``, with node labels or the order of magnitude
        of degrees.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Codes of the training graph, per stream.
    numbers_ : list of ndarray
        Number of nodes with each of these codes.
    n_nodes_ : int
        Number of nodes of the training graph.

    See Also
    --------
    GraphIndex : The same for graphs.
    NoveltyDetector : Novelty of graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 1: codes of nodes.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> index = pk.NodeIndex(random_state=0).fit(nx.path_graph(9))
    >>> index.query(nodes=[0], k=2).ids.tolist()  # the other end of the path is alike
    [[0, 8]]
    """

    _file: InvertedFile
    vocabulary_: Vocabulary
    numbers_: list[NDArray[np.float64]]
    n_nodes_: int
    graph_: GraphDatabase

    def __init__(
        self, *, kernel: Estimator | None = None, random_state: Seed = None, n_jobs: int | None = None
    ) -> None:
        self.kernel = kernel
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: OneGraph, y: None = None) -> Self:
        """Index all nodes of a graph; ``y`` is ignored."""
        graphs = check_graph(X)
        counter = self._counter(graphs)
        streams = self._counts(counter, graphs)
        self._file, self.n_nodes_, self.graph_ = InvertedFile.of(streams), graphs.n_nodes, graphs
        self.vocabulary_ = Vocabulary(counter, [stream.codes for stream in streams])
        self.numbers_ = [np.asarray(stream.counts.sum(axis=0)).ravel() for stream in streams]
        return self

    def _counter(self, graphs: GraphDatabase) -> Coder:
        """Return the coder of the kernel, learned from the graph."""
        kernel = self.kernel
        if kernel is None:
            source = "log_degree" if graphs.label_column is None else "node"
            settings = {"t_max": 3, "n_hashes": 4, "bin_width": 0.1, "random_state": self.random_state}
            kernel = PropagationKernel(labels=source, **settings)  # type: ignore[arg-type]
        counter = kernel._learn_coder(graphs) if hasattr(kernel, "_learn_coder") else None
        if not isinstance(counter, Coder):
            name = type(kernel).__name__
            raise TypeError(f"{name} gives nodes no codes: use PropagationKernel or WeisfeilerLehman")
        return counter

    def _counts(self, counter: Any, graphs: GraphDatabase) -> list[StreamCounts]:
        """Return the codes of nodes as counts, one row per node."""
        ptr = np.arange(graphs.n_nodes + 1)
        blocks = counter.codes(graphs, self.n_jobs)
        return count_streams(blocks, ptr, None, self.n_jobs)

    def query(self, X: OneGraph | None = None, nodes: ArrayLike | None = None, k: int = 10) -> Neighbors:
        """Return the nodes of the index with the most similar surroundings.

        Parameters
        ----------
        X : graph, optional
            Graph of the queried nodes; by default the training graph, whose nodes find themselves, too.
        nodes : mask or sequence of int, optional
            Queried nodes; by default all.
        k : int, default=10
            Number of neighbors; all nodes if there are fewer.

        Returns
        -------
        similarities : ndarray of shape (nodes, k)
            Share of equal codes, largest first; ties in the order of node numbers.
        ids : ndarray of the same shape
            Node numbers.
        """
        check_is_fitted(self, "_file")
        graphs = self.graph_ if X is None else check_graph(X)
        k = min(check_integer(k, "k", 1), self.n_nodes_)
        chosen = np.arange(graphs.n_nodes) if nodes is None else node_numbers(nodes, graphs.n_nodes, "nodes")
        streams = self._counts(self.vocabulary_.counter, graphs)
        rows = [StreamCounts(s.counts[chosen], s.codes, s.iteration, s.weight) for s in streams]
        found = self._file.nearest(Query.all(rows), k, self.n_jobs)
        similarities = np.array([values for values, _ in found]).reshape(len(chosen), k)
        return Neighbors(similarities, np.array([ids for _, ids in found], dtype=np.int64).reshape(-1, k))

    def score_samples(self, X: OneGraph | None = None) -> Matrix:
        """Return how common the surroundings of nodes are: minus their information content in nats.

        The mean over codes of the logarithm of their smoothed frequency among the training nodes, as in
        ``NoveltyDetector(score="rarity")``; the lower, the more novel.
        """
        check_is_fitted(self, "_file")
        graphs = self.graph_ if X is None else check_graph(X)
        total, n_streams = np.zeros(graphs.n_nodes), len(self.numbers_)
        known = zip(self._streams(graphs), self.vocabulary_.codes, self.numbers_, strict=True)
        for stream, codes, numbers in known:
            seen = looked_up(stream, codes, numbers)
            mass = self.n_nodes_ + SMOOTHING * (len(codes) + 1)
            total += np.log((seen + SMOOTHING) / mass)
        return total / n_streams

    def _streams(self, graphs: GraphDatabase) -> list[NDArray[np.int64]]:
        """Return the codes of all nodes, one array per stream."""
        blocks = self.vocabulary_.counter.codes(graphs, self.n_jobs)  # type: ignore[attr-defined]
        return [codes for block in blocks for _, _, codes in block.streams()]

    def p_values(self, X: OneGraph) -> Matrix:
        """Return, per node, the share of training nodes with surroundings at least as rare, plus one."""
        known = np.sort(self.score_samples())
        rank = np.searchsorted(known, self.score_samples(X), side="right")
        return np.asarray((rank + 1) / (len(known) + 1))

    def applicability(self, X: OneGraph) -> Applicability:
        """Return which surroundings of nodes did not occur in the training graph, per radius and node."""
        check_is_fitted(self, "_file")
        return applicability_of([self.vocabulary_], check_graph(X), self.n_jobs)
