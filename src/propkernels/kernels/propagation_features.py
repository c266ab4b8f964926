"""PropagationFeatures: the kernel's explicit feature map."""

from __future__ import annotations

from typing import Any

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.coder import PropagationCoder
from propkernels.kernels.count_features import CountFeatures


class PropagationFeatures(CountFeatures):
    """Sparse features whose dot product is the propagation kernel.

    One row a graph, one column a bin, columns grouped by iteration: for linear models on many graphs,
    for inspection, and for anything in scikit-learn that takes a sparse matrix.

    Parameters
    ----------
    propagation, labels, prior, attributes, t_max, metric, bin_width, n_hashes, attribute_metric, \
    attribute_bin_width, standardize, normalize, random_state, n_jobs
        As in :class:`PropagationKernel`.
    n_features : int or None, default=None
        None: one column for each bin seen in fit. A number (2**20 is usual): bins are hashed into that
        many columns, so that no vocabulary is kept and bins never seen in fit have columns too.
    sparse_output : bool, default=True
        Return ``scipy.sparse.csr_array``; False: a dense array, which also allows ``set_output``.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> features = pk.PropagationFeatures(t_max=1, random_state=0)
    >>> phi = features.fit_transform([(path, ["C", "O", "C"]), (path, ["C", "C", "O"])])
    >>> phi.shape
    (2, 5)
    >>> (phi @ phi.T).toarray()
    array([[10.,  7.],
           [ 7., 10.]])
    """

    def __init__(
        self,
        *,
        propagation: Any = "auto",
        labels: str | None = "auto",
        prior: Any = "uniform",
        attributes: Any = None,
        t_max: int = 10,
        metric: str = "tv",
        bin_width: float = 1e-5,
        n_hashes: int = 1,
        attribute_metric: str = "l1",
        attribute_bin_width: float = 1.0,
        standardize: bool = True,
        normalize: bool = False,
        n_features: int | None = None,
        sparse_output: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.propagation = propagation
        self.labels = labels
        self.prior = prior
        self.attributes = attributes
        self.t_max = t_max
        self.metric = metric
        self.bin_width = bin_width
        self.n_hashes = n_hashes
        self.attribute_metric = attribute_metric
        self.attribute_bin_width = attribute_bin_width
        self.standardize = standardize
        self.normalize = normalize
        self.n_features = n_features
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn_coder(self, graphs: GraphDatabase) -> PropagationCoder:
        return PropagationCoder.learn(graphs, self, self.attributes)
