"""WeisfeilerLehmanFeatures: the subtree kernel's explicit feature map."""

from __future__ import annotations

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.refinement_coder import RefinementCoder


class WeisfeilerLehmanFeatures(CountFeatures):
    """Sparse features whose dot product is the Weisfeiler-Lehman subtree kernel.

    One row a graph, one column a label of an iteration (Shervashidze et al., JMLR 2011, Definition 5).

    Parameters
    ----------
    n_iter, labels, edge_labels, edge_weights, normalize, n_jobs
        As in :class:`WeisfeilerLehman`.
    n_features : int or None, default=None
        None: one column for each label seen in fit. A number (2**20 is usual): labels are hashed into
        that many columns, so that labels never seen in fit have columns too.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> features = pk.WeisfeilerLehmanFeatures(n_iter=1)
    >>> features.fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "O"])]).shape
    (2, 7)
    """

    def __init__(
        self,
        *,
        n_iter: int = 10,
        labels: str | None = "auto",
        edge_labels: bool = False,
        edge_weights: bool = False,
        normalize: bool = False,
        n_features: int | None = None,
        sparse_output: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_iter = n_iter
        self.labels = labels
        self.edge_labels = edge_labels
        self.edge_weights = edge_weights
        self.normalize = normalize
        self.n_features = n_features
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs

    def _learn_coder(self, graphs: GraphDatabase) -> RefinementCoder:
        return RefinementCoder.learn(graphs, self)
