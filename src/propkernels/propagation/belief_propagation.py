"""Loopy belief propagation, the scheme for graphical models."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import check_room, offsets
from propkernels._utils.checks import check_fraction, check_positive
from propkernels._utils.typing import Array
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.label_distributions import distinct_labels
from propkernels.propagation.initial import WITHOUT_DISTRIBUTIONS, InitialDistributions
from propkernels.propagation.schemes import SCHEMES, PropagationScheme

MOST_PRODUCTS = 2**37  # per round: some minutes
SMALLEST = 1e-100  # lower bound on messages, so that the cavity division stays finite


@dataclass(eq=False, repr=False)
class BeliefPropagation(PropagationScheme):
    """Sum-product belief propagation on the graph as a pairwise Markov random field.

    A node's potential is its initial distribution; neighbors are coupled by the compatibility of their
    labels. At iteration t the distributions are the beliefs after t rounds of messages, which are
    exact marginals on a tree once t reaches its diameter (and converge to them with damping). The weight
    of an edge is the exponent of its compatibility, so that weight 2 equals two edges; directions and
    self-loops are ignored.

    Parameters
    ----------
    compatibility : symmetric array of shape (k, k) or None, default=None
        Compatibility of the labels of adjacent nodes: entry (a, b) is the potential of label a at one end
        and b at the other. None: ``homophily`` for equal labels, 1 for others.
    labels : sequence of length k, optional
        The labels of the rows and columns of ``compatibility``; 0, ..., k - 1 by default.
        Other labels have compatibility 1 with every label.
    homophily : float, default=4
        Compatibility of equal labels, relative to different ones, if no matrix is given.
    damping : float in [0, 1), default=0
        Share of the old message that is kept in each round; reduces oscillation on cycles.

    See Also
    --------
    propkernels.propagation.LabelPropagation : A linear scheme for missing labels.

    References
    ----------
    .. [1] J. Pearl (1988). Probabilistic Reasoning in Intelligent Systems: Networks of Plausible Inference.
       Morgan Kaufmann.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1)
    >>> scheme = pk.propagation.BeliefPropagation(homophily=2.0)
    >>> kernel = pk.PropagationKernel(propagation=scheme, t_max=2, random_state=0)
    >>> kernel.fit_transform([(path, ["C", None, "O"]), (path, ["O", None, "C"])]).shape
    (2, 2)
    """

    affine = False

    compatibility: Sequence[Sequence[float]] | Array | None = None
    _: KW_ONLY
    labels: Sequence[Hashable] | Array | None = None
    homophily: float = 4.0
    damping: float = 0.0

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> Messages:
        """Return the uniform messages of round 0."""
        damping = check_fraction(self.damping, "damping")
        _check_work(graphs.adjacency.nnz, len(initial.values))
        return Messages(graphs, initial.to_dense(), self._couplings(initial), damping)

    def step(
        self, prepared: Messages, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Send one round of messages and return the beliefs."""
        return prepared.round(initial)

    def _couplings(self, initial: InitialDistributions) -> NDArray[np.float64]:
        """Return the compatibility of the labels of P_0, scaled to at most 1 so that no power overflows."""
        k = len(initial.values)
        if self.compatibility is None:
            if self.labels is not None:
                raise ValueError("labels name the rows of compatibility, which is not given")
            homophily = check_positive(self.homophily, "homophily")
            return (np.ones((k, k)) + (homophily - 1.0) * np.eye(k)) / max(homophily, 1.0)
        given = check_compatibility(self.compatibility)
        names = distinct_labels(range(len(given)) if self.labels is None else self.labels, "labels")
        if len(names) != len(given):
            raise ValueError(f"compatibility has {len(given)} rows but {len(names)} labels name them")
        position = {value: i for i, value in enumerate(names)}
        rows = np.array([position.get(value, -1) for value in initial.values], dtype=int)
        couplings = np.ones((k, k))
        listed = (rows[:, None] >= 0) & (rows[None, :] >= 0)
        couplings[listed] = given[rows[:, None], rows[None, :]][listed]
        return np.asarray(couplings / max(given.max(), 1.0))


def _check_work(n_entries: int, n_labels: int) -> None:
    """Raise an error if a round of messages would take minutes or would not fit into memory."""
    if n_entries * n_labels**2 > MOST_PRODUCTS:
        raise ValueError(
            f"belief propagation of {n_labels} labels along {n_entries} edges takes "
            f"{n_entries * n_labels**2:.1e} products per round: give rare labels one name, or use "
            "LabelPropagation"
        )
    check_room(n_entries, n_labels, 5, ways_out=WITHOUT_DISTRIBUTIONS)


def check_compatibility(compatibility: Any) -> NDArray[np.float64]:
    """Return the compatibility as a square symmetric matrix of finite, nonnegative numbers."""
    matrix = np.asarray(compatibility)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise ValueError(f"compatibility must be a square matrix of numbers, got shape {matrix.shape}")
    if not ((matrix >= 0) & (matrix < np.inf)).all():
        raise ValueError("compatibility must contain finite, nonnegative numbers")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
        raise ValueError("compatibility must be symmetric: edges have no direction")
    if not matrix.any(axis=1).all():
        raise ValueError("compatibility has a row of zeros: that label is compatible with no other")
    return matrix.astype(np.float64)


class Messages:
    """Messages along all edges in both directions: m_{i -> j} is a distribution over the labels of j.

    Labels with probability 0 at j are excluded, so that labels of other graphs have no influence.
    """

    def __init__(
        self,
        graphs: GraphDatabase,
        initial: NDArray[np.float64],
        couplings: NDArray[np.float64],
        damping: float,
    ) -> None:
        edges = _undirected(graphs.adjacency)
        self.sources, self.targets = edges.coords
        self.weights = np.empty(0) if (edges.data == 1.0).all() else edges.data
        # entries are sorted by (source, target), so sorting by (target, source) pairs each with its reverse
        self.reverse = np.lexsort((self.sources, self.targets))
        self.couplings, self.damping = couplings, damping
        self.possible = initial[self.targets] > 0
        self.logs = _logarithm(_normalized(self.possible.astype(np.float64)))
        counts = np.bincount(self.sources, minlength=graphs.n_nodes)
        indptr = offsets(counts)
        arrays = (np.ones(len(self.reverse)), self.reverse, indptr)
        self.gather = csr_array(arrays, shape=(graphs.n_nodes, len(self.reverse)))

    def round(self, initial: NDArray[np.float64]) -> NDArray[np.float64]:
        """Send m_{i->j}(b) = sum_a psi(a, b)^A_ij phi_i(a) prod_{l != j} m_{l->i}(a); return the beliefs."""
        cavity = (self.gather @ self.logs)[self.sources] - self.logs[self.reverse]
        weighed = _multiplied(_belief(initial[self.sources], cavity), self.couplings, self.weights)
        fresh = _normalized(np.where(self.possible, weighed, 0.0))
        if self.damping:
            fresh = (1.0 - self.damping) * fresh + self.damping * np.exp(self.logs)
        self.logs = _logarithm(fresh)
        return _belief(initial, self.gather @ self.logs)


def _logarithm(messages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of messages, bounded below by that of ``SMALLEST``."""
    return np.asarray(np.log(np.maximum(messages, SMALLEST)))


def _undirected(adjacency: csr_array) -> Any:
    """Return the larger weight of both directions of each edge, without self-loops, as a COO array."""
    entries = csr_array(adjacency.maximum(adjacency.T)).tocoo()
    row, col = entries.coords
    keep = row != col
    matrix = csr_array((entries.data[keep], (row[keep], col[keep])), shape=adjacency.shape)
    matrix.sort_indices()
    return matrix.tocoo()


def _belief(potential: NDArray[np.float64], logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalize potential * exp(logs), scaled so that the best possible label does not underflow."""
    possible = np.where(potential > 0, logs, -np.inf)
    top = possible.max(axis=1, keepdims=True, initial=-np.inf)
    scaled = np.exp(possible - np.where(np.isfinite(top), top, 0.0))
    return _normalized(potential * scaled)


def _multiplied(
    points: NDArray[np.float64], matrix: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return points @ matrix**weight, summed label by label so that empty columns change no rounding."""
    total = np.zeros((len(points), matrix.shape[1]))
    for label in range(len(matrix)):
        row = matrix[label] ** weights[:, None] if len(weights) else matrix[label]
        total += points[:, label, None] * row
    return total


def _normalized(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide rows by their sums, added up label by label."""
    sums = np.zeros(len(points))
    for label in range(points.shape[1]):
        sums += points[:, label]
    return np.asarray(points / np.where(sums > 0, sums, 1.0)[:, None])


SCHEMES["belief_propagation"] = BeliefPropagation
