"""PropagationKernel: the estimator that a user meets first."""

from __future__ import annotations

from typing import Any

from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.coder import PropagationCoder
from propkernels.kernels.count_kernel import CountKernel


class PropagationKernel(CountKernel):
    """Propagation kernel between graphs (Algorithms 1 to 3).

    Information spreads along the edges; after each step, nodes with similar distributions fall into one
    bin of a locality sensitive hash, and graphs are compared by how many nodes they have in each bin.

    Parameters
    ----------
    propagation : str or PropagationScheme, default="auto"
        How information spreads. "auto": convolution on grids, label propagation where node labels are
        missing, else diffusion. A name ("diffusion", "lazy_diffusion", "label_propagation",
        "absorbing_walk", "partial_absorption", "label_spreading", "belief_propagation", "convolution"),
        an object such as ``Diffusion(laziness=0.5)`` or ``Convolution((1, 8))``, or a scheme of your own
        (see :class:`PropagationScheme`).
    labels : {"auto", "node", "degree", None}, default="auto"
        What nodes know at first: their labels, their (weighted) degree, or nothing (one constant label).
        "auto": node labels where the graphs have them, else degrees.
    prior : {"uniform", "frequency"}, mapping or sequence, default="uniform"
        How nodes start whose label is not observed: all labels known at fit alike, or as often as they
        occur there, or a mapping from labels to weights, or one weight for each of
        ``graphs.label_values``. A prior of each node's own goes in as :class:`LabelDistributions`.
    attributes : None, {"sum", "product", "joint"} or object, default=None
        How continuous node attributes enter. A node's label bin is joined with attribute bins of a fresh hash
        per iteration. "sum": one kernel contribution for each attribute dimension (the paper's
        experiments); "product": nodes must agree in all dimensions (the paper's equation); "joint": one
        hash of the whole vector. In these three a missing value (NaN) has a bin of its own, so that
        missing agrees with missing only; for "joint", a vector with any missing value is missing.
        :class:`PropagatedAttributes` diffuses the attributes along the edges, :class:`GaussianMixtures`
        their distributions (P2K); both fill missing values.
    t_max : int, default=10
        Number of propagation steps; iterations t = 0, ..., t_max contribute.
    metric : {"tv", "hellinger", "l1", "l2"}, default="tv"
        Distance between distributions that the hash preserves.
    bin_width : float, default=1e-5
        Width w of the hash's bins: larger bins take more different distributions together.
    n_hashes : int, default=1
        Independent hashes per iteration, whose kernels are averaged: more lower the variance.
    attribute_metric : {"l1", "l2", "tv", "hellinger"}, default="l1"
        Distance that the hash of attributes preserves. "tv" hashes as "l1" does; "hellinger" takes square
        roots and is for densities (P2K): values below 0 count as 0.
    attribute_bin_width : float, default=1.0
        Bin width of attributes, in standard deviations.
    standardize : bool, default=True
        Bring each attribute to mean 0 and standard deviation 1 over the nodes of the training graphs.
    base_kernel : str or callable, default="linear"
        How counts are compared: "linear", "rbf", "intersection", "tanimoto", "jaccard", or a function
        of two sparse count matrices; applied per iteration, and summed.
    normalize : bool, default=False
        Divide by the square roots of both graphs' self-similarities.
    random_state : int, RandomState or None, default=None
        Seed of the hash functions. The same integer gives the same kernel, whatever the order or
        batch of graphs, process or number of threads.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores.

    Attributes
    ----------
    diagonal_ : ndarray of shape (n,)
        Self-similarity of each training graph, before normalisation.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> graphs = [(triangle, ["C", "C", "O"]), (path, ["C", "O", "C"])]
    >>> kernel = pk.PropagationKernel(t_max=1, random_state=0)
    >>> kernel.fit_transform(graphs)
    array([[10.,  6.],
           [ 6., 10.]])
    >>> kernel.transform([(path, ["C", "C", "N"])])
    array([[6., 6.]])
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
        self.base_kernel = base_kernel
        self.normalize = normalize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn_coder(self, graphs: GraphDatabase) -> PropagationCoder:
        return PropagationCoder.learn(graphs, self, self.attributes)
