"""Schemes that return to P_0: label propagation, absorbing walks and label spreading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from propkernels._utils.checks import check_choice, check_fraction, check_positive, shown
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import canonical_label
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.schemes import (
    SCHEMES,
    AffineOperator,
    AffineScheme,
    directed_adjacency,
    reciprocal,
    row_sums,
    symmetrically_normalized,
    walk_operator,
)


@dataclass(eq=False, repr=False)
class AbsorbingWalk(AffineScheme):
    """Random walk absorbed at the nodes of a set S, Eqs. (trans) and (lp): P' = T^ P.

    Parameters
    ----------
    absorbing : "observed", collection of labels, or callable, default="observed"
        The set S: nodes with an observed label (label propagation); nodes whose observed label is certain
        and in the collection (degrees, if the kernel uses degrees as labels); or a function that maps a
        GraphDatabase to one bool per node.
    alpha : float in (0, 1], default=1
        Probability that a walk at a node of S ends there; otherwise it moves on, [2]_.
    direction : {"follow", "reverse", "both"}, default="follow"
        Direction in which walks cross directed edges.

    See Also
    --------
    propkernels.propagation.LabelPropagation : Absorption at observed labels.
    propkernels.propagation.PartialAbsorption : Absorption at every node, with a probability.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.2.
    .. [2] M. Neumann, R. Garnett and K. Kersting (2013). Coinciding walk kernels: parallel absorbing random
       walks for learning with graphs and few labels. Asian Conference on Machine Learning, 357-372.

    Examples
    --------
    Walks through a molecule that end at the first hetero atom:

    >>> import propkernels as pk
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.AbsorbingWalk({"N", "O"}))
    """

    absorbing: str | Collection[Hashable] | Callable[[GraphDatabase], ArrayLike] = "observed"
    _: KW_ONLY
    alpha: float = 1.0
    direction: str = "follow"

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        alpha = check_positive(self.alpha, "alpha")
        if alpha > 1:
            raise ValueError(f"alpha must be at most 1, got {shown(self.alpha)}")
        return absorbing_operator(graphs, self._set(graphs, initial), self.direction, alpha)

    def _set(self, graphs: GraphDatabase, initial: InitialDistributions) -> NDArray[np.bool_]:
        """Return the mask of absorbing nodes."""
        if isinstance(self.absorbing, str) and self.absorbing == "observed":
            return initial.observed
        if callable(self.absorbing):
            mask = np.asarray(self.absorbing(graphs))
            if mask.dtype != bool or mask.shape != (graphs.n_nodes,):
                raise ValueError("the function absorbing must return one bool per node")
            return mask
        named = self.absorbing.tolist() if isinstance(self.absorbing, np.ndarray) else self.absorbing
        if isinstance(named, (str, bytes)) or not isinstance(named, Collection):
            raise TypeError(
                "absorbing must be 'observed', a collection of labels, or a function of the graphs; "
                f"got {shown(self.absorbing)}"
            )
        return _has_label(initial, named)


def _has_label(initial: InitialDistributions, labels: Collection[Hashable]) -> NDArray[np.bool_]:
    """Return the mask of nodes whose observed label is certain and among ``labels``."""
    wanted = {canonical_label(label) for label in labels}
    column_wanted = np.array([value in wanted for value in initial.values], dtype=bool)
    table = initial.table
    hit = column_wanted[table.indices] & (table.data == 1.0)
    row_hit = np.zeros(table.shape[0], dtype=bool)
    row_hit[np.repeat(np.arange(len(row_hit)), np.diff(table.indptr))[hit]] = True
    return np.asarray(row_hit[initial.rows] & initial.observed)


def absorbing_operator(
    graphs: GraphDatabase, held: NDArray[np.bool_], direction: str, alpha: float = 1.0
) -> AffineOperator:
    """Return the walk T^ that is absorbed at the held nodes with probability alpha, else moves on."""
    adjacency = directed_adjacency(graphs, direction)
    spread = reciprocal(row_sums(adjacency))
    stuck = spread == 0.0
    if alpha < 1:
        absorbed = np.where(held & ~stuck, alpha, 0.0)
        return AffineOperator(adjacency, (1 - absorbed) * spread, stuck.astype(np.float64), restart=absorbed)
    held = held | stuck
    return AffineOperator(adjacency, np.where(held, 0.0, spread), held.astype(np.float64))


LARGEST_RATE = 1e300
CLAMPS = ("after", "before")


@dataclass(eq=False, repr=False)
class LabelPropagation(AffineScheme):
    """Label propagation for partially labeled graphs: walks are absorbed at observed labels.

    Parameters
    ----------
    clamp : {"after", "before"}, default="after"
        "after": observed nodes are deltas at every t, the absorbing walk of Eq. (lp), P' = T^ P.
        "before": Eq. (LP) taken literally, observed labels are pushed back before the step, so that an
        observed node has the mean of its neighbors. The two options give different kernels.
    direction : {"follow", "reverse", "both"}, default="follow"
        Direction in which walks cross directed edges.

    See Also
    --------
    propkernels.propagation.AbsorbingWalk : Absorption at any set of nodes.
    propkernels.propagation.LabelImputer : Runs a scheme until it converges.

    References
    ----------
    .. [1] X. Zhu, Z. Ghahramani and J. Lafferty (2003). Semi-supervised learning using Gaussian fields and
       harmonic functions. International Conference on Machine Learning, 912-919.
    .. [2] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.2.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1)
    >>> graphs = [(path, ["C", None, "O"]), (path, ["C", None, "C"])]
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.LabelPropagation(), t_max=1, random_state=0)
    >>> kernel.fit_transform(graphs)[0, 1]  # at t = 1 the middle node of the second path is C
    np.float64(6.0)
    """

    clamp: str = "after"
    _: KW_ONLY
    direction: str = "follow"

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        check_choice(self.clamp, CLAMPS, "clamp")
        if self.clamp == "after":
            return absorbing_operator(graphs, initial.observed, self.direction)
        return replace(walk_operator(graphs, 0.0, self.direction), pushed_back=initial.observed)


@dataclass(eq=False, repr=False)
class PartialAbsorption(AffineScheme):
    """Walk that ends at node i with probability a_i, and otherwise moves on.

    P'_i = a_i (P_0)_i + (1 - a_i) (T P)_i.

    Parameters
    ----------
    alpha : float in [0, 1), default=0.2
        The absorption a_i, the same for all nodes; 0 is diffusion.
    rate : float or None, default=None
        If given, a_i = rate / (rate + d_i), with rate the lambda of Wu et al.: nodes of small degree absorb
        more. ``alpha`` is then ignored.
    direction : {"follow", "reverse", "both"}, default="follow"
        Direction in which walks cross directed edges.

    See Also
    --------
    propkernels.propagation.AbsorbingWalk : Absorption with probability 1 at some nodes.
    propkernels.propagation.LabelSpreading : Also damps the influence of hubs.

    References
    ----------
    .. [1] X.-M. Wu, Z. Li, A. M.-C. So, J. Wright and S.-F. Chang (2012). Learning with partially absorbing
       random walks. Advances in Neural Information Processing Systems 25, 3077-3085.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1)
    >>> scheme = pk.propagation.PartialAbsorption(alpha=0.3)
    >>> kernel = pk.PropagationKernel(propagation=scheme, t_max=2, random_state=0)
    >>> kernel.fit_transform([(path, ["C", "N", "O"]), (path, ["O", "N", "C"])]).shape
    (2, 2)
    """

    alpha: float = 0.2
    _: KW_ONLY
    rate: float | None = None
    direction: str = "follow"

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        adjacency = directed_adjacency(graphs, self.direction)
        degrees = row_sums(adjacency)
        absorbed = np.full(len(degrees), check_fraction(self.alpha, "alpha"))
        if self.rate is not None:
            rate = check_positive(self.rate, "rate")
            with np.errstate(over="ignore"):  # the second form avoids the overflow of rate + degrees
                absorbed = rate / (rate + degrees) if rate < LARGEST_RATE else 1 / (1 + degrees / rate)
        stuck = degrees == 0
        return AffineOperator(
            adjacency,
            (1.0 - absorbed) * reciprocal(degrees),
            stuck.astype(np.float64),
            restart=np.where(stuck, 0.0, absorbed),
        )


@dataclass(eq=False, repr=False)
class LabelSpreading(AffineScheme):
    """Label spreading: P' = alpha S P + (1 - alpha) P_0 with S = D^{-1/2} A D^{-1/2}.

    Rows of P need not sum to 1, since S does not preserve sums.

    Parameters
    ----------
    alpha : float in [0, 1), default=0.8
        Weight of the neighbors; the initial distribution has weight 1 - alpha.
    direction : {"follow", "reverse", "both"}, default="follow"
        Direction in which information crosses directed edges.

    See Also
    --------
    propkernels.propagation.PartialAbsorption : A random walk that may end at every node.

    References
    ----------
    .. [1] D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schölkopf (2004). Learning with local and global
       consistency. Advances in Neural Information Processing Systems 16, 321-328.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1)
    >>> scheme = pk.propagation.LabelSpreading(alpha=0.9)
    >>> kernel = pk.PropagationKernel(propagation=scheme, t_max=2, random_state=0)
    >>> kernel.fit_transform([(path, ["C", None, "O"]), (path, ["O", None, "C"])]).shape
    (2, 2)
    """

    alpha: float = 0.8
    _: KW_ONLY
    direction: str = "follow"

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        alpha = check_fraction(self.alpha, "alpha")
        adjacency = symmetrically_normalized(directed_adjacency(graphs, self.direction))
        stuck = np.diff(adjacency.indptr) == 0
        return AffineOperator(
            adjacency,
            np.where(stuck, 0.0, alpha),
            stuck.astype(np.float64),
            restart=np.where(stuck, 0.0, 1.0 - alpha),
        )


SCHEMES |= {
    "label_propagation": LabelPropagation,
    "push_back": partial(LabelPropagation, clamp="before"),
    "absorbing_walk": AbsorbingWalk,
    "partial_absorption": PartialAbsorption,
    "label_spreading": LabelSpreading,
}
