"""Propagated attributes: attribute values diffuse along edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_fraction
from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.attributes import (
    AttributeTreatment,
    Spread,
    Way,
    attribute_walk,
    check_way,
    fill_missing,
    observed_means,
    walk_steps,
)
from propkernels.propagation.edge_labels import EdgeFactors
from propkernels.propagation.schemes import walk_operator


class PropagatedAttributes(AttributeTreatment):
    """Diffusion of attribute values: X_{t+1} = (1 - l) T X_t + l X_t, hashed at every t.

    A missing value (NaN) starts as the mean of the observed values of its graph (else of all graphs) and
    then propagates like others. If edge labels count, two nodes have equal values at iteration t if, for each
    sequence of edge labels, the expected value at the end of a walk along it is the same.

    Parameters
    ----------
    laziness : float in [0, 1), default=0.5
        Share of its value that a node keeps in each step.
    combine : {"sum", "product", "joint"}, default="sum"
        See ``attributes`` of :class:`PropagationKernel`.

    See Also
    --------
    propkernels.propagation.GaussianMixtures : Propagates distributions of attributes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.3.

    Examples
    --------
    >>> import propkernels as pk
    >>> kernel = pk.PropagationKernel(attributes=pk.propagation.PropagatedAttributes(), t_max=3, n_hashes=5)
    """

    def __init__(self, *, laziness: float = 0.5, combine: str = "sum") -> None:
        self.laziness = laziness
        self.combine = combine

    def learn(
        self,
        graphs: GraphDatabase,
        attributes: NDArray[np.float64],
        t_max: int,
        direction: Way,
        seed: int,
        edge_factors: EdgeFactors | None = None,
    ) -> SpreadingAttributes:
        """Learn the mean over all nodes, which replaces missing values in graphs without any value."""
        laziness = check_fraction(self.laziness, "laziness")
        return SpreadingAttributes(laziness, direction, observed_means(attributes), edge_factors)


@dataclass(frozen=True)
class SpreadingAttributes:
    """Learned state of :class:`PropagatedAttributes`."""

    laziness: float
    direction: Way
    elsewhere: NDArray[np.float64]
    edge_factors: EdgeFactors | None = None

    def _check_parts(self) -> None:
        """Raise an error if laziness, direction or the mean attributes are invalid."""
        check_way(self.laziness, self.direction)
        require(self.elsewhere.ndim == 1, "attributes of nodes elsewhere are one row")

    def matrices(
        self, graphs: GraphDatabase, attributes: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Yield X_0, X_1, ..."""
        walk = attribute_walk(graphs, self.laziness, self.direction)
        current = fill_missing(attributes, graphs, self.elsewhere)
        for step in walk_steps(walk, graphs, self.direction, self.edge_factors):
            yield current
            current = step.step(current, current)

    @property
    def spreads(self) -> bool:
        """Whether attributes spread along edges, each dimension by itself: no edge labels or grids."""
        return self.edge_factors is None and isinstance(self.direction, str)

    def spread(self, graphs: GraphDatabase, attributes: NDArray[np.float64]) -> Spread:
        """Return the attributes of t = 0, and their step."""
        start = fill_missing(attributes, graphs, self.elsewhere)
        return Spread(start, walk_operator(graphs, self.laziness, str(self.direction)))
