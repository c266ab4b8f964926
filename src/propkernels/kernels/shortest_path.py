"""ShortestPath: graphs compared by their shortest paths."""

from __future__ import annotations

from typing import Any

from propkernels.checks import check_choice
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import CountedComparison, TiledComparison
from propkernels.kernels.equal_lengths import EqualLengths
from propkernels.kernels.label_keys import check_edge_labels
from propkernels.kernels.node_comparison import NodeComparison
from propkernels.kernels.pairwise import PairwiseKernel
from propkernels.kernels.triplet_coder import TripletCoder


class ShortestPath(PairwiseKernel):
    """Shortest-path kernel (Borgwardt and Kriegel, ICDM 2005, Definition 6).

    All pairs of shortest paths of two graphs are compared: their lengths must be equal, and both ends are
    compared by a node kernel. Pairs of nodes are ordered, so that in an undirected graph each path counts in
    both directions, and a node alone is not a path: the same values as GraKeL's ``ShortestPath``.

    With labels only, this is the dot product of counts of (label, length, label); see
    :class:`ShortestPathFeatures`. With attributes, pairs of graphs are compared directly.

    Parameters
    ----------
    labels : {"auto", "node", "degree", None}, default="auto"
        Labels that both ends must share: node labels, degrees, or none. "auto": node labels where the graphs
        have them; else degrees, or none if there are attributes. Unobserved labels are one further label.
    attributes : {None, "gaussian", "linear", "truncated"}, default=None
        Kernel between the ends' attributes, multiplied with the labels': exp(-gamma |x - y|^2); x . y; or
        the Gaussian where |x - y| <= 1 and 0 beyond.
    weighted : bool, default=True
        Whether weights are the edges' lengths; else each edge has length 1.
    edge_labels : bool, default=False
        Paths must also agree in their edge labels: the multisets of label sequences along all shortest paths
        between the two ends must be the same. Not together with attributes.
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

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pk.ShortestPath().fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "O"])])
    array([[12.,  4.],
           [ 4.,  8.]])
    """

    def __init__(
        self,
        *,
        labels: str | None = "auto",
        attributes: str | None = None,
        weighted: bool = True,
        edge_labels: bool = False,
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
        self.edge_labels = edge_labels
        self.gamma = gamma
        self.standardize = standardize
        self.normalize = normalize
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    def _learn(self, graphs: GraphDatabase) -> TiledComparison | CountedComparison:
        check_choice(self.weighted, (True, False), "weighted")
        check_choice(self.edge_labels, (True, False), "edge_labels")
        check_edge_labels(graphs, self.edge_labels)
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0:
            return CountedComparison(TripletCoder(nodes.source, self.weighted, self.edge_labels))
        if self.edge_labels:
            raise ValueError("edge_labels=True and attributes cannot be combined in ShortestPath")
        return EqualLengths(nodes, self.weighted)
