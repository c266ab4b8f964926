"""DescriptorKernel: compares whole graphs by their descriptors."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import GraphInput, check_positive
from propkernels._utils.stored import SOMETIMES, is_array, require
from propkernels.convert.check import check_edges
from propkernels.graphs.descriptors import Descriptors, descriptors_of
from propkernels.graphs.grid_database import Graphs
from propkernels.kernels.count_kernel import check_options

Matrix = NDArray[np.float64]
UNKNOWN = 0.5  # rank of an unknown number: the middle of the training graphs


class DescriptorKernel(GraphInput, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Laplacian kernel of the descriptors of whole graphs, compared by their ranks.

    The kernel is ``exp(-gamma * mean_j |r_j(x) - r_j(y)|)``, where r_j is the share of training graphs with a
    smaller descriptor j (equal ones count half), over all descriptors that differ between training graphs.
    Ranks do not depend on units and outliers. An unknown number has the rank 1/2.

    Parameters
    ----------
    gamma : float, default=3.0
        Factor in the exponent.
    normalize : bool, default=False
        Has no effect: k(x, x) = 1.
    n_jobs : int or None, default=None
        Not used.

    Attributes
    ----------
    names_ : tuple of str
        Names of the descriptors.

    See Also
    --------
    GraphDatabase.with_descriptors : Adds descriptors to graphs.
    MoleculesToGraphs : Computes descriptors of molecules.
    SumKernel : Compares graphs by their neighborhoods and by their descriptors.

    Notes
    -----
    Graphs without descriptors are described by their numbers of nodes, edges, connected parts and
    independent cycles. The kernel has no explicit features: default models of more than 20,000 graphs, which
    are linear, leave descriptors out.

    References
    ----------
    .. [1] B. Schölkopf and A. J. Smola (2002). Learning with Kernels. MIT Press. The Laplacian kernel.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.from_smiles(["CCO", "CCN", "CCCCCC"]).with_descriptors([[46.0], [45.0], [86.0]], ["mass"])
    >>> pk.kernels.DescriptorKernel().fit_transform(graphs).round(3)
    array([[1.   , 0.368, 0.368],
           [0.368, 1.   , 0.135],
           [0.368, 0.135, 1.   ]])
    """

    names_: tuple[str, ...]
    _ranks: Matrix  # (training graphs, descriptors)
    _sorted: Matrix  # each descriptor of the training graphs, ascending; NaN last
    _n_features_out: Annotated[int, SOMETIMES]
    _has_constant_diagonal = True
    _is_dot_product = False
    _reads_whole_graphs = True

    def __init__(self, *, gamma: float = 3.0, normalize: bool = False, n_jobs: int | None = None) -> None:
        self.gamma = gamma
        self.normalize = normalize
        self.n_jobs = n_jobs

    def fit(self, X: Graphs, y: object = None) -> Self:
        """Learn the ranks of the training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        graphs = check_edges(X)
        check_options(self)
        check_positive(self.gamma, "gamma")
        described = descriptors_of(graphs)
        self.names_, self._sorted = described.names, np.sort(described.values, axis=0)
        self._ranks = self._ranked(described)
        self._n_features_out = len(graphs)
        return self

    def fit_transform(self, X: Graphs, y: object = None, **fit_params: object) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n)
        """
        graphs = check_edges(X)
        check_room(len(graphs), len(graphs), 2)  # before fit, so that nothing is half fitted
        return self._compare(self.fit(graphs)._ranks)

    def transform(self, X: Graphs) -> Matrix:
        """Return the kernel of new graphs against the training graphs.

        Returns
        -------
        ndarray of shape (m, n)
        """
        check_is_fitted(self, "_ranks")
        return self._compare(self._ranked(descriptors_of(check_edges(X))))

    def self_similarities(self, X: Graphs) -> Matrix:
        """Return k(x, x) = 1 of new graphs.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "_ranks")
        return np.ones(len(check_edges(X)))

    def _restricted(self, t: int | None, normalize: bool) -> Self:
        """Return the kernel itself; t must be None."""
        if t is not None:
            raise ValueError(f"DescriptorKernel has no iterations, got t = {t}")
        return self

    def _ranked(self, described: Descriptors) -> Matrix:
        """Return the share of training graphs with smaller descriptors; equal ones count half."""
        if described.names != self.names_:
            raise ValueError(
                f"graphs have {len(described.names)} descriptors, but the training graphs have "
                f"{len(self.names_)}: compute the same for all"
            )
        ranks = np.full(described.values.shape, UNKNOWN)
        for column, known, rank in zip(described.values.T, self._sorted.T, ranks.T, strict=True):
            training = known[~np.isnan(known)]
            given = ~np.isnan(column)
            if len(training):
                below, upto = (np.searchsorted(training, column[given], side) for side in ("left", "right"))
                rank[given] = (below + upto) / (2 * len(training))
        return ranks

    def _compare(self, ranks: Matrix) -> Matrix:
        """Return the kernel of graphs against the training graphs from their ranks."""
        check_room(len(ranks), len(self._ranks), 2)
        differs = (self._ranks != self._ranks[:1]).any(axis=0)
        distances = cdist(ranks[:, differs], self._ranks[:, differs], "cityblock")
        return np.asarray(np.exp(-self.gamma / max(int(differs.sum()), 1) * distances))

    def _check_parts(self) -> None:
        """Raise unless ranks and sorted descriptors match."""
        if hasattr(self, "_ranks"):
            shape = (self._n_features_out, len(self.names_))
            fits = all(is_array(part, "f", 2) and part.shape == shape for part in (self._ranks, self._sorted))
            require(fits, "every training graph needs its descriptors")
