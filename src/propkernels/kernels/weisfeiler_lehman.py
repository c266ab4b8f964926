"""WeisfeilerLehman: the subtree kernel."""

from __future__ import annotations

from typing import Any

from propkernels.checks import check_choice
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.refinement_coder import ExactCoder, RefinementCoder


class WeisfeilerLehman(CountKernel):
    """Weisfeiler-Lehman subtree kernel (Shervashidze et al., JMLR 2011, Definition 5).

    In each iteration a node's label becomes its label together with the multiset of its neighbours'; graphs
    are compared by how many nodes they have with each label, in all iterations together.

    Parameters
    ----------
    n_iter : int, default=10
        Number of refinements; iterations t = 0, ..., n_iter contribute.
    labels : {"auto", "node", "degree", None}, default="auto"
        Labels at t = 0: node labels, (weighted) degrees, or one constant label. "auto": node labels where
        the graphs have them, else degrees. Unobserved labels are one further label; to fill them in first
        (LP+WL in the paper), put :class:`LabelImputer` in front: see the second example.
    edge_labels : bool, default=False
        Whether neighbours across edges with different labels are different neighbours.
    edge_weights : bool, default=False
        The same for edges with different weights, which are otherwise ignored.
    exact : bool, default=False
        Number the neighbourhoods with a dictionary instead of hashing them to 64 bits. The kernel is the
        same unless two of the neighbourhoods collide, with a probability of about (number of
        neighbourhoods)^2 / 2^65; it takes longer.
    base_kernel : str or callable, default="linear"
        How counts are compared; see :class:`PropagationKernel`.
    normalize : bool, default=False
        Divide by the square roots of both graphs' self-similarities.
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
    >>> pk.WeisfeilerLehman(n_iter=1).fit_transform(graphs)
    array([[10.,  6.],
           [ 6., 10.]])

    Labels that are missing are filled in by label propagation, and then refined:

    >>> from sklearn.pipeline import make_pipeline
    >>> partial = [(triangle, ["C", None, "O"]), (path, ["C", "O", None])]
    >>> make_pipeline(pk.LabelImputer(), pk.WeisfeilerLehman(n_iter=1)).fit_transform(partial).shape
    (2, 2)
    """

    def __init__(
        self,
        *,
        n_iter: int = 10,
        labels: str | None = "auto",
        edge_labels: bool = False,
        edge_weights: bool = False,
        exact: bool = False,
        base_kernel: Any = "linear",
        normalize: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_iter = n_iter
        self.labels = labels
        self.edge_labels = edge_labels
        self.edge_weights = edge_weights
        self.exact = exact
        self.base_kernel = base_kernel
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _learn_coder(self, graphs: GraphDatabase) -> RefinementCoder:
        check_choice(self.exact, (False, True), "exact")
        return (ExactCoder if self.exact else RefinementCoder).learn(graphs, self)
