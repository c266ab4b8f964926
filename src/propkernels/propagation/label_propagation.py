"""Label propagation, Eqs. (lp) and (LP): observed labels are held while the rest is filled in."""

from __future__ import annotations

import numpy as np

from propkernels.checks import check_choice
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.absorbing import absorbing_operator
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.operator import AffineOperator
from propkernels.propagation.scheme import AffineScheme
from propkernels.propagation.transition import directed_adjacency, reciprocal, row_sums

CLAMPS = ("after", "before")


class LabelPropagation(AffineScheme):
    """Label propagation for partially labelled graphs: walks are absorbed at observed labels.

    Parameters
    ----------
    clamp : {"after", "before"}, default="after"
        "after": observed nodes are deltas at every t, the absorbing walk of Eq. (lp), P' = T^ P.
        "before": Eq. (LP) read literally, observed labels are pushed back before the step, so that
        an observed node shows the mean of its neighbours. The two are different kernels.
    direction : {"follow", "reverse", "both"}, default="follow"
        Which way a walk crosses directed edges.
    """

    def __init__(self, clamp: str = "after", *, direction: str = "follow") -> None:
        self.clamp = clamp
        self.direction = direction

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        check_choice(self.clamp, CLAMPS, "clamp")
        if self.clamp == "after":
            return absorbing_operator(graphs, initial.observed, self.direction)
        adjacency = directed_adjacency(graphs, self.direction)
        spread = reciprocal(row_sums(adjacency))
        stuck = (spread == 0.0).astype(np.float64)
        return AffineOperator(adjacency, spread, stuck, pushed_back=initial.observed)
