"""P2K: the propagation kernel that propagates labels and attributes (Algorithm 4)."""

from __future__ import annotations

from typing import Any

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.coder import PropagationCoder
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.propagation.gaussian_mixtures import GaussianMixtures


class P2K(PropagationKernel):
    """Propagation kernel with propagated attribute distributions (P2K, Algorithm 4).

    It is :class:`PropagationKernel` with ``attributes=GaussianMixtures()``.

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
        base_kernel: Any = "linear",
        normalize: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            propagation=propagation,
            labels=labels,
            prior=prior,
            attributes=attributes,
            t_max=t_max,
            metric=metric,
            bin_width=bin_width,
            n_hashes=n_hashes,
            attribute_metric=attribute_metric,
            attribute_bin_width=attribute_bin_width,
            standardize=standardize,
            base_kernel=base_kernel,
            normalize=normalize,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _learn_coder(self, graphs: GraphDatabase) -> PropagationCoder:
        mixtures = GaussianMixtures() if self.attributes is None else self.attributes
        return PropagationCoder.learn(graphs, self, mixtures)
