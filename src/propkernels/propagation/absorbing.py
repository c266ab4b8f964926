"""Absorbing walks, Eq. (trans): walks end at the nodes of a chosen set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import canonical_label
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.operator import AffineOperator
from propkernels.propagation.scheme import AffineScheme
from propkernels.propagation.transition import directed_adjacency, reciprocal, row_sums


class AbsorbingWalk(AffineScheme):
    """Random walk that never leaves the nodes of a set S, Eqs. (trans) and (lp): P' = T^ P.

    Parameters
    ----------
    absorbing : "observed", collection of labels, or callable, default="observed"
        The set S: nodes with an observed label (then this is label propagation), nodes whose observed
        label is certain and one of these (degrees, where the kernel takes degrees as labels), or a function
        of a GraphDatabase that returns one True or False a node.
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
        return absorbing_operator(graphs, self._set(graphs, initial), self.direction)

    def _set(self, graphs: GraphDatabase, initial: InitialDistributions) -> NDArray[np.bool_]:
        if isinstance(self.absorbing, str) and self.absorbing == "observed":
            return initial.observed
        if callable(self.absorbing):
            mask = np.asarray(self.absorbing(graphs))
            if mask.dtype != bool or mask.shape != (graphs.n_nodes,):
                raise ValueError("the function absorbing must return one True or False a node")
            return mask
        if isinstance(self.absorbing, str) or not isinstance(self.absorbing, Collection):
            raise TypeError(
                "absorbing must be 'observed', a collection of labels, or a function of the graphs; "
                f"got {self.absorbing!r}"
            )
        return _carries(initial, self.absorbing)


def _carries(initial: InitialDistributions, labels: Collection[Hashable]) -> NDArray[np.bool_]:
    """Nodes whose observed label is certain and among the given ones."""
    wanted = {canonical_label(label) for label in labels}
    column_wanted = np.array([value in wanted for value in initial.values], dtype=bool)
    table = initial.table
    hit = column_wanted[table.indices] & (table.data == 1.0)
    carrying = np.zeros(table.shape[0], dtype=bool)
    carrying[np.repeat(np.arange(len(carrying)), np.diff(table.indptr))[hit]] = True
    return np.asarray(carrying[initial.rows] & initial.observed)


def absorbing_operator(graphs: GraphDatabase, held: NDArray[np.bool_], direction: str) -> AffineOperator:
    """Return the walk T^ that never leaves the held nodes."""
    adjacency = directed_adjacency(graphs, direction)
    spread = reciprocal(row_sums(adjacency))
    held = held | (spread == 0.0)
    return AffineOperator(adjacency, np.where(held, 0.0, spread), held.astype(np.float64))
