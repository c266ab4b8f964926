"""ShortestPathFeatures: the shortest-path kernel's explicit feature map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.checks import check_choice
from propkernels.counting.counts import StreamCounts
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.label_keys import LABEL_SOURCES, check_edge_labels, resolve_source
from propkernels.kernels.triplet_coder import TripletCoder


class ShortestPathFeatures(CountFeatures):
    """Sparse features whose dot product is the shortest-path kernel on labels.

    One row a graph, one column a triplet (label, length, label): how many ordered pairs of nodes have such a
    shortest path between them.

    Parameters
    ----------
    labels, weighted, edge_labels, normalize, n_jobs
        As in :class:`ShortestPath`.
    n_features : int or None, default=None
        None: one column for each triplet seen in fit. A number (2**20 is usual): triplets are hashed into
        that many columns, so that those never seen in fit have columns too.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> phi = pk.ShortestPathFeatures().fit_transform([(path, ["C", "O", "C"])])
    >>> phi.sum(), phi.shape
    (np.float64(6.0), (1, 3))
    """

    def __init__(
        self,
        *,
        labels: str | None = "auto",
        weighted: bool = True,
        edge_labels: bool = False,
        normalize: bool = False,
        n_features: int | None = None,
        sparse_output: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.labels = labels
        self.weighted = weighted
        self.edge_labels = edge_labels
        self.normalize = normalize
        self.n_features = n_features
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs

    def _learn_coder(self, graphs: GraphDatabase) -> Any:
        check_choice(self.labels, LABEL_SOURCES, "labels")
        check_choice(self.weighted, (True, False), "weighted")
        check_choice(self.edge_labels, (True, False), "edge_labels")
        check_edge_labels(graphs, self.edge_labels)
        return TripletCoder(resolve_source(graphs, self.labels), self.weighted, self.edge_labels)

    def _count(
        self, coder: Any, graphs: GraphDatabase, known: Sequence[NDArray[np.int64]] | None = None
    ) -> list[StreamCounts]:
        counted: list[StreamCounts] = coder.count(graphs, known, self.n_jobs)
        return counted
