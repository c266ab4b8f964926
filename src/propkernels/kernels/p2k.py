"""P2K: the propagation kernel that propagates labels and attributes (Algorithm 4)."""

from __future__ import annotations

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.coder import PropagationCoder
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.propagation.gaussian_mixtures import GaussianMixtures


class P2K(PropagationKernel):
    """Propagation kernel with propagated attribute distributions (P2K, Algorithm 4).

    It is :class:`PropagationKernel` with ``attributes=GaussianMixtures()``; the paper's own setting is
    ``P2K(attributes=GaussianMixtures(scale=None, ridge=0))``.

    Parameters
    ----------
    attributes : GaussianMixtures or None, default=None
        The mixtures and their sample points; None: ``GaussianMixtures()``.
    propagation, labels, prior, t_max, metric, bin_width, n_hashes, attribute_metric, \
    attribute_bin_width, standardize, base_kernel, normalize, random_state, n_jobs
        As in :class:`PropagationKernel`.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> graphs = [(path, ["C", "O", "C"], [0.1, 0.2, 0.3]), (path, ["C", "O", "C"], [0.1, 0.2, 0.9])]
    >>> pk.P2K(t_max=2, random_state=0).fit_transform(graphs).shape
    (2, 2)
    """

    def _learn_coder(self, graphs: GraphDatabase) -> PropagationCoder:
        mixtures = GaussianMixtures() if self.attributes is None else self.attributes
        return PropagationCoder.learn(graphs, self, mixtures)
