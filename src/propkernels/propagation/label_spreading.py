"""Label spreading (Zhou et al., 2004)."""

from __future__ import annotations

import numpy as np

from propkernels.checks import check_fraction
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.operator import AffineOperator
from propkernels.propagation.scheme import AffineScheme
from propkernels.propagation.transition import directed_adjacency, symmetrically_normalized


class LabelSpreading(AffineScheme):
    """Label spreading: P' = alpha S P + (1 - alpha) P_0 with S = D^{-1/2} A D^{-1/2}.

    Rows need not stay distributions: S does not keep sums.

    Parameters
    ----------
    alpha : float in [0, 1), default=0.8
        How much a node takes from its neighbours; the rest comes from its own start.
    direction : {"follow", "reverse", "both"}, default="follow"
        Which way information crosses directed edges.
    """

    def __init__(self, alpha: float = 0.8, *, direction: str = "follow") -> None:
        self.alpha = alpha
        self.direction = direction

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
