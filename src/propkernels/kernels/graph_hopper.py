"""GraphHopper: shortest paths compared node by node."""

from __future__ import annotations

from typing import Any

from propkernels.checks import check_choice
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import CountedComparison, TiledComparison
from propkernels.kernels.hop_counts import HopComparison, HopCounter
from propkernels.kernels.node_comparison import NodeComparison
from propkernels.kernels.pairwise import PairwiseKernel


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
        Kernel between attributes, multiplied with the labels': exp(-gamma |x - y|^2); x . y; or the Gaussian
        where |x - y| <= 1 and 0 beyond.
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

    def _learn(self, graphs: GraphDatabase) -> TiledComparison | CountedComparison:
        check_choice(self.weighted, (True, False), "weighted")
        nodes = NodeComparison.learn(graphs, self)
        if nodes.kind == 0:
            return CountedComparison(HopCounter(nodes.source, self.weighted))
        return HopComparison(nodes, self.weighted)
