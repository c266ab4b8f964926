"""What the attributes of a node are at iteration t: the protocol, and the attributes as they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.edge_labels import EdgeFactors
from propkernels.utils.checks import shown

COMBINATIONS = ("sum", "product", "joint")


class LearnedAttributes(Protocol):
    """What a treatment of attributes learned in fit."""

    def matrices(
        self, graphs: GraphDatabase, attributes: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Matrices (N, M) to be hashed at t = 0, 1, 2, ..., given the standardized attributes."""


class AttributeTreatment(BaseEstimator, ABC):
    """How attributes enter the kernel; see :class:`PropagatedAttributes`, :class:`GaussianMixtures`."""

    combine: str

    @abstractmethod
    def learn(
        self,
        graphs: GraphDatabase,
        attributes: NDArray[np.float64],
        t_max: int,
        direction: str,
        seed: int,
        edge_factors: EdgeFactors | None = None,
    ) -> LearnedAttributes:
        """Learn from the standardized attributes of the training graphs.

        ``edge_factors``, where edge labels count, multiply what crosses an edge.
        """


class FixedAttributes(AttributeTreatment):
    """The attributes themselves, the same at every iteration, freshly hashed each time.

    Parameters
    ----------
    combine : {"sum", "product", "joint"}, default="sum"
        See ``attributes`` of :class:`PropagationKernel`.
    """

    def __init__(self, combine: str = "sum") -> None:
        self.combine = combine

    def learn(
        self,
        graphs: GraphDatabase,
        attributes: NDArray[np.float64],
        t_max: int,
        direction: str,
        seed: int,
        edge_factors: EdgeFactors | None = None,
    ) -> FixedAttributes:
        """Nothing is learned: the attributes cross no edges."""
        return self

    def matrices(
        self, graphs: GraphDatabase, attributes: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the attributes, again and again."""
        return repeat(attributes)


def resolve_attributes(attributes: Any) -> AttributeTreatment:
    """Find the treatment that the parameter ``attributes`` names or is."""
    if isinstance(attributes, str) and attributes in COMBINATIONS:
        return FixedAttributes(attributes)
    if isinstance(attributes, type) or not hasattr(attributes, "learn"):
        raise ValueError(
            "attributes must be None, 'sum', 'product', 'joint', PropagatedAttributes(...) or "
            f"GaussianMixtures(...); got {shown(attributes)}"
        )
    treatment: AttributeTreatment = attributes
    if treatment.combine not in COMBINATIONS:
        raise ValueError(f"combine must be 'sum', 'product' or 'joint'; got {shown(treatment.combine)}")
    return treatment
