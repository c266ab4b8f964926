"""Partially absorbing walks (Wu et al., 2012): every node absorbs a little."""

from __future__ import annotations

import numpy as np

from propkernels.checks import check_fraction, check_positive
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.operator import AffineOperator
from propkernels.propagation.scheme import AffineScheme
from propkernels.propagation.transition import directed_adjacency, reciprocal, row_sums


class PartialAbsorption(AffineScheme):
    """Walk that ends at node i with probability a_i, and else moves on.

    P'_i = a_i (P_0)_i + (1 - a_i) (T P)_i.

    Parameters
    ----------
    alpha : float in [0, 1), default=0.2
        The absorption a_i, the same for all nodes; 0 is diffusion.
    rate : float or None, default=None
        If given, a_i = rate / (rate + d_i), the lambda of Wu et al.: nodes of small degree absorb more.
        ``alpha`` is then not used.
    direction : {"follow", "reverse", "both"}, default="follow"
        Which way a walk crosses directed edges.
    """

    def __init__(self, alpha: float = 0.2, *, rate: float | None = None, direction: str = "follow") -> None:
        self.alpha = alpha
        self.rate = rate
        self.direction = direction

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        adjacency = directed_adjacency(graphs, self.direction)
        degrees = row_sums(adjacency)
        absorbed = np.full(len(degrees), check_fraction(self.alpha, "alpha"))
        if self.rate is not None:
            rate = check_positive(self.rate, "rate")
            absorbed = rate / (rate + degrees)
        stuck = degrees == 0
        return AffineOperator(
            adjacency,
            (1.0 - absorbed) * reciprocal(degrees),
            stuck.astype(np.float64),
            restart=np.where(stuck, 0.0, absorbed),
        )
