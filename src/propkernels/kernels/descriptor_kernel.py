"""DescriptorKernel: compares whole graphs by their descriptors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from propkernels._utils.checks import check_positive
from propkernels._utils.stored import NOT_FINITE, is_array, require
from propkernels.convert.check import check_edges
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.descriptors import descriptors_of
from propkernels.kernels.count_kernel import Comparison, CountKernel

Matrix = NDArray[np.float64]
UNKNOWN = 0.5  # rank of an unknown number: the middle of the training graphs


class DescriptorKernel(CountKernel):
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

    _has_constant_diagonal = True
    _is_dot_product = False
    _reads_whole_graphs = True

    def __init__(self, *, gamma: float = 3.0, normalize: bool = False, n_jobs: int | None = None) -> None:
        self.gamma = gamma
        self.normalize = normalize
        self.n_jobs = n_jobs

    @property
    def names_(self) -> tuple[str, ...]:
        """Names of the descriptors."""
        names: tuple[str, ...] = self._coder.names
        return names

    def _learn_coder(self, graphs: GraphDatabase) -> Ranks:
        gamma, described = check_positive(self.gamma, "gamma"), descriptors_of(check_edges(graphs))
        return Ranks(described.names, np.sort(described.values, axis=0), gamma)


@dataclass(frozen=True)
class Ranks(Comparison):
    """Comparison of graphs by the ranks of their descriptors among those of the training graphs.

    Attributes
    ----------
    names : tuple of str
    descriptors : ndarray, (training graphs, descriptors)
        Each column is ascending; NaN last.
    gamma : float
    """

    names: tuple[str, ...]
    descriptors: Annotated[Matrix, NOT_FINITE]
    gamma: float

    def _check_parts(self) -> None:
        """Raise unless every descriptor has a name."""
        fits = self.descriptors.ndim == 2 and self.descriptors.shape[1] == len(self.names)
        require(fits, "every descriptor needs a name")

    def check_data(self, data: Any, n_graphs: int) -> None:
        """Raise unless every training graph has its ranks."""
        fits = is_array(data, "f", 2) and data.shape == self.descriptors.shape
        require(fits and n_graphs == len(self.descriptors), "every training graph needs its descriptors")

    def count(self, graphs: GraphDatabase, known: None) -> Matrix:
        """Return the share of training graphs with smaller descriptors; equal ones count half."""
        described = descriptors_of(check_edges(graphs))
        if described.names != self.names:
            raise ValueError(
                f"graphs have {len(described.names)} descriptors, but the training graphs have "
                f"{len(self.names)}: compute the same for all"
            )
        ranks = np.full(described.values.shape, UNKNOWN)
        for column, known_values, rank in zip(described.values.T, self.descriptors.T, ranks.T, strict=True):
            training = known_values[~np.isnan(known_values)]
            given = ~np.isnan(column)
            if len(training):
                below, upto = (np.searchsorted(training, column[given], side) for side in ("left", "right"))
                rank[given] = (below + upto) / (2 * len(training))
        return ranks

    def matrices_at_once(self, data: Matrix) -> int:
        """Return 2: the distances and the kernel."""
        return 2

    def square(self, data: Matrix) -> Matrix:
        """Return the kernel among training graphs."""
        return self.cross(data, data)

    def cross(self, new: Matrix, train: Matrix) -> Matrix:
        """Return the kernel of new against training graphs."""
        differs = (train != train[:1]).any(axis=0)
        distances = cdist(new[:, differs], train[:, differs], "cityblock")
        return np.asarray(np.exp(-self.gamma / max(int(differs.sum()), 1) * distances))

    def diagonal(self, data: Matrix) -> Matrix:
        """Return 1 for each graph."""
        return np.ones(len(data))
