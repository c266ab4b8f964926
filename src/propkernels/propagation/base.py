"""The protocol of propagation schemes; affine steps M P + B P_0 as operators; transition matrices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from propkernels.graphs.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import InitialDistributions
from propkernels.utils.arrays import freeze
from propkernels.utils.checks import Documented, check_choice

LARGEST_USUAL = 2.0**500


@dataclass(frozen=True)
class AffineOperator:
    """One step of a scheme that is affine in P, for a whole database:

    ``P'_i = spread_i * sum_j A_ij P_j + keep_i * P_i + restart_i * (P_0)_i``

    Since it acts on nodes and not on labels, it commutes with the projection of a hash: the engine
    runs it on ``P_0 v`` instead of on ``P_0``.

    Attributes
    ----------
    adjacency : csr_array
        A, with its weights.
    spread, keep : ndarray, (N,)
        Weight of the neighbours' sum, and of the node itself.
    restart : ndarray, (N,), or None
        Weight of the node's initial distribution.
    pushed_back : ndarray of bool, (N,), or None
        Nodes that are reset to P_0 before each step (label push-back read literally, Eq. LP).
    vanished : ndarray of bool, (N,), or None
        Nodes that are not counted from t = 1 on.
    """  # noqa: D400

    adjacency: csr_array
    spread: NDArray[np.float64]
    keep: NDArray[np.float64]
    restart: NDArray[np.float64] | None = None
    pushed_back: NDArray[np.bool_] | None = None
    vanished: NDArray[np.bool_] | None = None

    def scaled(self, factors: NDArray[np.float64]) -> AffineOperator:
        """Return the operator whose A is multiplied by one factor for each entry."""
        a = self.adjacency
        return replace(self, adjacency=csr_array((a.data * factors, a.indices, a.indptr), shape=a.shape))

    def __post_init__(self) -> None:
        data = self.adjacency.data
        if len(data) and not (data.min() > 1 / LARGEST_USUAL and data.max() < LARGEST_USUAL):
            self._balance()
        freeze(self.adjacency)  # as a database's own is: compiled loops are compiled for one of the two only

    def _balance(self) -> None:
        """Shift powers of two from the rows of A to ``spread``, so that weights times values stay finite.

        Only rows whose largest weight is extreme are touched. Nothing is rounded by that: what spreads is the
        same, to the bit, as with weights of usual size.
        """
        matrix = self.adjacency
        rows = np.flatnonzero(np.diff(matrix.indptr))
        largest = np.zeros(matrix.shape[0])
        largest[rows] = np.maximum.reduceat(matrix.data, matrix.indptr[rows])
        exponents = np.where(largest > 0, np.frexp(largest)[1], 0)
        exponents[np.abs(exponents) < np.log2(LARGEST_USUAL)] = 0
        shifted = np.ldexp(matrix.data, -np.repeat(exponents, np.diff(matrix.indptr)))
        balanced = csr_array((shifted, matrix.indices, matrix.indptr), shape=matrix.shape)
        object.__setattr__(self, "adjacency", balanced)
        object.__setattr__(self, "spread", np.ldexp(self.spread, exponents))

    def step(self, current: NDArray[np.float64], initial: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the formula to any columns: label probabilities or projections of them."""
        from propkernels.propagation.compiled import affine_step

        if self.pushed_back is not None:
            current = np.where(self.pushed_back[:, None], initial, current)
        current = np.ascontiguousarray(current, dtype=np.float64)
        following = np.empty_like(current)
        a = self.adjacency
        affine_step(a.indptr, a.indices, a.data, self.spread, self.keep, current, following)
        if self.restart is not None:
            following += self.restart[:, None] * initial
        return following


def check_step(values: NDArray[np.float64], t: int, scheme: Any) -> None:
    """Refuse what a step gave where some of it is infinite or undefined.

    Raises
    ------
    ValueError
    """
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(values.sum())
    if suspect and not np.isfinite(values).all():
        raise ValueError(f"step {t} of {type(scheme).__name__} gave a value that is not finite")


class PropagationScheme(Documented, BaseEstimator, ABC):
    """How information spreads from P_t to P_{t+1}. Subclass it to bring a scheme of your own.

    Two methods make a scheme: ``prepare``, called once per run of graphs, gathers what the steps need
    (a transition matrix, say); ``step`` computes P_{t+1}. Graphs arrive in runs of any length, so a
    node may only be influenced by nodes of its own graph.

    Attributes
    ----------
    affine : bool
        Whether a step is affine in P with coefficients that depend on nodes alone, that is
        ``step(P) = M P + B P_0``. Then the engine hands ``step`` projections of the distributions
        instead of the distributions themselves, which is faster: any columns, not only probabilities.
        False, the default, is always right, and needed if a step looks at the probabilities
        (products, normalisation over labels, ...).

    See Also
    --------
    check_scheme : Tests a scheme of your own.
    Diffusion : The scheme for labeled graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 1.

    Examples
    --------
    Each node takes over what its neighbour across the heaviest edge knows; the mean where several are:

    >>> import numpy as np, propkernels as pk
    >>> class HeaviestEdge(pk.PropagationScheme):
    ...     affine = True
    ...     def prepare(self, graphs, initial):
    ...         adjacency = graphs.adjacency.copy()
    ...         for node in range(graphs.n_nodes):
    ...             edges = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
    ...             heaviest = adjacency.data[edges] == adjacency.data[edges].max(initial=0)
    ...             adjacency.data[edges] = heaviest / max(heaviest.sum(), 1)
    ...         return adjacency
    ...     def step(self, prepared, current, initial):
    ...         stuck = np.diff(prepared.indptr) == 0
    ...         return np.where(stuck[:, None], current, prepared @ current)
    >>> pk.check_scheme(HeaviestEdge())
    >>> path = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    >>> pk.PropagationKernel(propagation=HeaviestEdge(), t_max=2, random_state=0).fit_transform(
    ...     [(path, ["C", "O", "N"])])
    array([[13.]])
    """

    affine: bool = False

    @abstractmethod
    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> Any:
        """Gather what the steps need; ``initial`` tells P_0, its labels, and which nodes were observed.

        What is returned may change from step to step: it serves one run of graphs only.
        """

    @abstractmethod
    def step(self, prepared: Any, current: NDArray[np.float64], initial: NDArray[np.float64]) -> Any:
        """Return P_{t+1}, given P_t (``current``) and P_0 (``initial``), each of shape (N, columns)."""


class AffineScheme(PropagationScheme):
    """A scheme whose step is an :class:`AffineOperator`; ``prepare`` says which."""

    affine = True

    @abstractmethod
    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator for these graphs."""

    def step(
        self, prepared: AffineOperator, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Apply the operator."""
        return prepared.step(current, initial)


DIRECTIONS = ("follow", "reverse", "both")


def directed_adjacency(graphs: GraphDatabase, direction: str) -> csr_array:
    """Return A (follow), its transpose (reverse), or the heavier of the two ways of each edge (both)."""
    check_choice(direction, DIRECTIONS, "direction")
    if direction == "follow":
        return graphs.adjacency
    reverse = csr_array(graphs.adjacency.T)
    reverse.sort_indices()
    return reverse if direction == "reverse" else csr_array(graphs.adjacency.maximum(reverse))


def row_sums(adjacency: csr_array) -> NDArray[np.float64]:
    """Degree of each node, ``d_i = sum_j A_ij``."""
    if (adjacency.data == 1.0).all():
        return np.diff(adjacency.indptr).astype(np.float64)
    return np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()


def reciprocal(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / d, and 0 where d is 0."""
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)


def symmetrically_normalized(adjacency: csr_array) -> csr_array:
    """Return D^{-1/2} A D^{-1/2}; for directed edges, out-degrees on the left and in-degrees on the right."""
    out = np.sqrt(reciprocal(row_sums(adjacency)))
    into = np.sqrt(reciprocal(np.asarray(adjacency.sum(axis=0), dtype=np.float64).ravel()))
    data = adjacency.data * np.repeat(out, np.diff(adjacency.indptr)) * into[adjacency.indices]
    return csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def transition_matrix(graphs: Any, direction: str = "follow") -> csr_array:
    """Return T = D^{-1} A of all graphs, block-diagonal; a node that cannot move stays (T_ii = 1).

    See Also
    --------
    Diffusion : The scheme that multiplies by this matrix.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 3.2, T = D^{-1} A.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> star, dot = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), np.zeros((1, 1))
    >>> pk.transition_matrix([star, dot]).toarray()
    array([[0. , 0.5, 0.5, 0. ],
           [1. , 0. , 0. , 0. ],
           [1. , 0. , 0. , 0. ],
           [0. , 0. , 0. , 1. ]])
    """
    adjacency = directed_adjacency(check_graphs(graphs), direction)
    degrees = row_sums(adjacency)
    data = adjacency.data * np.repeat(reciprocal(degrees), np.diff(adjacency.indptr))
    walk = csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    stuck = (degrees == 0).astype(np.float64)
    return csr_array(walk + csr_array((stuck, (np.arange(len(stuck)),) * 2), shape=walk.shape))
