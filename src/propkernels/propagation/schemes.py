"""Schemes by name, and the usual one: label diffusion, Eq. (diff), P_{t+1} = T P_t, and its variants."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.base import (
    AffineOperator,
    AffineScheme,
    PropagationScheme,
    directed_adjacency,
    reciprocal,
    row_sums,
    symmetrically_normalized,
)
from propkernels.propagation.belief_propagation import BeliefPropagation
from propkernels.propagation.grids.anisotropic import AnisotropicDiffusion
from propkernels.propagation.grids.convolution import Convolution
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.walks import AbsorbingWalk, LabelPropagation, LabelSpreading, PartialAbsorption
from propkernels.utils.checks import check_choice, check_fraction, shown

NORMALIZATIONS = ("row", "symmetric", "none")
ISOLATED = ("stay", "vanish")


class Diffusion(AffineScheme):
    """Label diffusion: each node takes the mean of its neighbors' distributions, Eq. (diff).

    Parameters
    ----------
    laziness : float in [0, 1), default=0
        0 is the paper's walk. With l > 0 the walk stays put with probability l:
        ``P' = (1 - l) T P + l P``.
    normalization : {"row", "symmetric", "none"}, default="row"
        "row": T = D^{-1} A, the paper's. "symmetric": D^{-1/2} A D^{-1/2}. "none": neighbors are
        summed instead of averaged, ``P' = (A + l I) P / 2``, which keeps degrees apart; the constant
        keeps molecule-like graphs at the scale of the bin width.
    isolated : {"stay", "vanish"}, default="stay"
        What a node that cannot move does: it keeps its distribution, or it is not counted from t = 1 on.
    direction : {"follow", "reverse", "both"}, default="follow"
        Which way a walk crosses directed edges.

    See Also
    --------
    LabelPropagation : For partially labeled graphs.
    PropagationScheme : The base class of all schemes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.1, P_{t+1} = T P_t.

    Examples
    --------
    >>> import propkernels as pk
    >>> kernel = pk.PropagationKernel(propagation=pk.Diffusion(laziness=0.5))
    """

    def __init__(
        self,
        laziness: float = 0.0,
        normalization: str = "row",
        *,
        isolated: str = "stay",
        direction: str = "follow",
    ) -> None:
        self.laziness = laziness
        self.normalization = normalization
        self.isolated = isolated
        self.direction = direction

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        laziness = check_fraction(self.laziness, "laziness")
        check_choice(self.normalization, NORMALIZATIONS, "normalization")
        check_choice(self.isolated, ISOLATED, "isolated")
        adjacency = directed_adjacency(graphs, self.direction)
        degrees = row_sums(adjacency)
        if self.normalization == "symmetric":
            adjacency = symmetrically_normalized(adjacency)
        spread, keep = affine_weights(self.normalization, laziness, degrees)
        stuck = degrees == 0
        vanished = stuck if self.isolated == "vanish" else None
        return AffineOperator(adjacency, spread, np.where(stuck, 1.0, keep), vanished=vanished)


def walk_operator(graphs: GraphDatabase, laziness: float, direction: str) -> AffineOperator:
    """Return the lazy row walk, ``(1 - l) T + l I``; a node that cannot move stays."""
    adjacency = directed_adjacency(graphs, direction)
    degrees = row_sums(adjacency)
    spread, keep = affine_weights("row", laziness, degrees)
    return AffineOperator(adjacency, spread, np.where(degrees == 0, 1.0, keep))


def affine_weights(
    normalization: str, laziness: float, degrees: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how much of the neighbors' sum, and how much of itself, a node of each degree takes."""
    ones = np.ones_like(degrees)
    if normalization == "row":
        return (1 - laziness) * reciprocal(degrees), laziness * ones
    if normalization == "symmetric":
        return (1 - laziness) * ones, laziness * ones
    return ones / 2, laziness / 2 * ones


_BY_NAME: dict[str, Callable[[], PropagationScheme]] = {
    "diffusion": Diffusion,
    "lazy_diffusion": partial(Diffusion, laziness=0.5),
    "label_propagation": LabelPropagation,
    "absorbing_walk": AbsorbingWalk,
    "partial_absorption": PartialAbsorption,
    "label_spreading": LabelSpreading,
    "belief_propagation": BeliefPropagation,
    "convolution": Convolution,
    "anisotropic_diffusion": AnisotropicDiffusion,
}


def resolve_scheme(propagation: Any, labels_missing: bool, on_grids: bool = False) -> PropagationScheme:
    """Find a scheme by name, or take the user's own; "auto" depends on the graphs: grids, labels missing."""
    if isinstance(propagation, str):
        check_choice(propagation, ("auto", *_BY_NAME), "propagation")
        usual = "convolution" if on_grids else "label_propagation" if labels_missing else "diffusion"
        return _BY_NAME[usual if propagation == "auto" else propagation]()
    if isinstance(propagation, type) or not all(hasattr(propagation, m) for m in ("prepare", "step")):
        raise TypeError(
            "propagation must be a name or a scheme with the methods prepare and step, "
            f"got {shown(propagation)}"
        )
    return clone(propagation) if isinstance(propagation, BaseEstimator) else _copied(propagation)


def _copied(scheme: Any) -> Any:
    """Copy of a scheme that is not an estimator; one that does not say that it is affine is not."""
    copied = copy.deepcopy(scheme)
    if not hasattr(copied, "affine"):
        copied.affine = False
    return copied
