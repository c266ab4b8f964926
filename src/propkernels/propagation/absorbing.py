"""Absorbing walks, Eq. (trans): walks end at the nodes of a chosen set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.checks import check_choice
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, canonical_label
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.operator import AffineOperator
from propkernels.propagation.scheme import AffineScheme
from propkernels.propagation.transition import DIRECTIONS, directed_adjacency, reciprocal, row_sums


class AbsorbingWalk(AffineScheme):
    """Random walk that never leaves the nodes of a set S, Eqs. (trans) and (lp): P' = T^ P.

    Parameters
    ----------
    absorbing : "observed", collection of labels, or callable, default="observed"
        The set S: nodes with an observed label (then this is label propagation), nodes that carry one
        of these labels, or a function of a GraphDatabase that returns one True or False a node.
    direction : {"follow", "reverse", "both"}, default="follow"
        Which way a walk crosses directed edges.

    Examples
    --------
    Walks through a molecule that end at the first hetero atom:

    >>> import propkernels as pk
    >>> kernel = pk.PropagationKernel(propagation=pk.AbsorbingWalk({"N", "O"}))
    """

    def __init__(
        self,
        absorbing: str | Collection[Hashable] | Callable[[GraphDatabase], Any] = "observed",
        *,
        direction: str = "follow",
    ) -> None:
        self.absorbing = absorbing
        self.direction = direction

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        check_choice(self.direction, DIRECTIONS, "direction")
        return absorbing_operator(graphs, self._set(graphs, initial), self.direction)

    def _set(self, graphs: GraphDatabase, initial: InitialDistributions) -> NDArray[np.bool_]:
        if isinstance(self.absorbing, str):
            check_choice(self.absorbing, ("observed",), "absorbing")
            return initial.observed
        if callable(self.absorbing):
            mask = np.asarray(self.absorbing(graphs))
            if mask.dtype != bool or mask.shape != (graphs.n_nodes,):
                raise ValueError("the function absorbing must return one True or False a node")
            return mask
        return _carries(graphs, self.absorbing)


def _carries(graphs: GraphDatabase, labels: Collection[Hashable]) -> NDArray[np.bool_]:
    """Nodes whose label is certain and among the given ones."""
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        raise ValueError("absorbing names labels, but the graphs have no certain node labels")
    wanted = {canonical_label(label) for label in labels}
    table = np.array([*(value in wanted for value in column.values), False])
    return table[column.ids]


def absorbing_operator(graphs: GraphDatabase, held: NDArray[np.bool_], direction: str) -> AffineOperator:
    """Return the walk T^ that never leaves the held nodes."""
    adjacency = directed_adjacency(graphs, direction)
    spread = reciprocal(row_sums(adjacency))
    held = held | (spread == 0.0)
    return AffineOperator(adjacency, np.where(held, 0.0, spread), held.astype(np.float64))
