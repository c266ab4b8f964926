"""Treatments of attributes: fixed or propagated along edges, standardized, with missing values imputed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, repeat
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from propkernels._utils.checks import Documented, check_fraction, shown
from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.propagation.convolution import Convolution, GridOperator
from propkernels.propagation.edge_labels import EdgeFactors, crossed_edges
from propkernels.propagation.schemes import DIRECTIONS, AffineOperator, PropagationScheme, walk_operator

COMBINATIONS = ("sum", "product", "joint")


class LearnedAttributes(Protocol):
    """State that an attribute treatment learned in fit."""

    def matrices(
        self, graphs: GraphDatabase, attributes: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the matrices (N, M) to hash at t = 0, 1, 2, ..., given the standardized attributes."""


class Spread(NamedTuple):
    """Columns that spread along edges, each independent of the others.

    Attributes
    ----------
    start : ndarray, (N, columns)
        Values at t = 0.
    walk : AffineOperator
        The step.
    scales : ndarray, (iterations, columns), or None
        Divisors of the values at each t; None: 1.
    """

    start: NDArray[np.float64]
    walk: AffineOperator
    scales: NDArray[np.float64] | None = None


class AttributeTreatment(Documented, BaseEstimator, ABC):
    """Base class of attribute treatments: :class:`PropagatedAttributes`, :class:`GaussianMixtures`."""

    combine: str

    @abstractmethod
    def learn(
        self,
        graphs: GraphDatabase,
        attributes: NDArray[np.float64],
        t_max: int,
        direction: Way,
        seed: int,
        edge_factors: EdgeFactors | None = None,
    ) -> LearnedAttributes:
        """Learn from the standardized attributes of the training graphs.

        ``edge_factors``, if edge labels count, multiply the values that cross an edge.
        """


@dataclass(eq=False, repr=False)
class FixedAttributes(AttributeTreatment):
    """Unchanged attributes, with a new hash function at every iteration.

    Parameters
    ----------
    combine : {"sum", "product", "joint"}, default="sum"
        See ``attributes`` of :class:`PropagationKernel`.
    """

    combine: str = "sum"

    def learn(
        self,
        graphs: GraphDatabase,
        attributes: NDArray[np.float64],
        t_max: int,
        direction: Way,
        seed: int,
        edge_factors: EdgeFactors | None = None,
    ) -> FixedAttributes:
        """Return self: there is nothing to learn."""
        return self

    def matrices(
        self, graphs: GraphDatabase, attributes: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the attributes at every iteration."""
        return repeat(attributes)


def resolve_attributes(attributes: Any) -> AttributeTreatment:
    """Return the treatment for the parameter ``attributes``, a name or a treatment."""
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


LARGEST_VALUE = 1e150  # sums of squares stay finite
SMALLEST_EXTENT = 1e-150  # squares of deviations stay normal numbers


@dataclass(frozen=True)
class Standardizer:
    """Shift and scale of each attribute dimension, learned over all nodes in fit (ddof = 1).

    Attributes
    ----------
    mean, deviation : ndarray, (D,)
        Missing values (NaN) are left out of both; a dimension that does not vary is only shifted, to 0.
        Neither depends, in any bit, on the order of the nodes.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def _check_parts(self) -> None:
        """Raise an error if means and deviations differ in dimension, or cannot shift and scale."""
        fits = self.mean.ndim == 1 and self.mean.shape == self.deviation.shape
        require(fits, "every mean needs a deviation")
        usable = np.isfinite(self.mean).all() and ((self.deviation > 0) & (self.deviation < np.inf)).all()
        require(bool(usable), "means are finite and deviations are positive")

    @classmethod
    def learn(cls, graphs: GraphDatabase, standardize: bool) -> Standardizer:
        """Learn from the training graphs; without ``standardize``, attributes stay unchanged."""
        attributes = required_attributes(graphs)
        dimensions = attributes.shape[1]
        if not standardize:
            return cls(np.zeros(dimensions), np.ones(dimensions))
        columns = np.sort(np.ascontiguousarray(attributes.T), axis=1)  # sums do not depend on node order
        smallest = np.fmin.reduce(columns, axis=1, initial=np.inf)
        largest = np.fmax.reduce(columns, axis=1, initial=-np.inf)
        _check_extent(smallest, largest)
        counts = np.count_nonzero(~np.isnan(columns), axis=1)
        mean = np.nansum(columns, axis=1) / np.maximum(counts, 1)
        squares = np.nansum((columns - mean[:, None]) ** 2, axis=1)
        deviation = np.sqrt(squares / np.maximum(counts - 1, 1))
        varies = (largest > smallest) & (deviation > 0)
        shift = np.where(varies | (counts == 0), mean, smallest)
        return cls(shift, np.where(varies, deviation, 1.0))

    def __call__(self, graphs: GraphDatabase) -> NDArray[np.float64]:
        """Return the standardized attributes of graphs with the fitted number of dimensions."""
        if graphs.n_nodes == 0:
            return np.empty((0, len(self.mean)))
        attributes = required_attributes(graphs)
        if attributes.shape[1] != len(self.mean):
            number = attributes.shape[1]
            dimensions = f"{number} attribute dimension{'' if number == 1 else 's'}"
            raise ValueError(f"the graphs have {dimensions}, but the kernel was fitted to {len(self.mean)}")
        with np.errstate(over="ignore"):  # _check_size rejects overflows
            values = (attributes - self.mean) / self.deviation
        _check_size(values)
        return values


def _check_extent(smallest: NDArray[np.float64], largest: NDArray[np.float64]) -> None:
    """Raise an error if the deviation of a dimension would overflow or underflow."""
    for dimension, (low, high) in enumerate(zip(smallest.tolist(), largest.tolist(), strict=True)):
        extent = f"attribute dimension {dimension} runs from {low:g} to {high:g}"
        if low < high and max(abs(low), abs(high)) > LARGEST_VALUE:
            raise ValueError(f"{extent}, too far for its deviation: divide it by a constant")
        if low < high and high - low < SMALLEST_EXTENT:
            raise ValueError(f"{extent}, too little for its deviation: multiply it by a constant")


def _check_size(values: NDArray[np.float64]) -> None:
    """Raise an error if the square of a value would overflow; NaN (missing) is allowed."""
    low, high = (float(reduce(values, axis=None, initial=0.0)) for reduce in (np.fmin.reduce, np.fmax.reduce))
    if max(-low, high) > LARGEST_VALUE:
        worst = low if -low > high else high
        raise ValueError(
            f"a node attribute is {worst:g} (after standardization, if enabled): "
            f"attributes must lie between -{LARGEST_VALUE:g} and {LARGEST_VALUE:g}"
        )


def required_attributes(graphs: GraphDatabase | GridDatabase) -> NDArray[np.float64]:
    """Return the node attributes; raise an error if there are none."""
    if graphs.node_attributes is None or graphs.node_attributes.shape[1] == 0:
        way_out = (
            "GridDatabase(images, attributes=...)" if isinstance(graphs, GridDatabase) else "with_attributes"
        )
        raise ValueError(f"attributes are requested, but the graphs have no node attributes: use {way_out}")
    return graphs.node_attributes


def observed_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the observed values of each column; 0 for a column without any."""
    counts = np.count_nonzero(~np.isnan(values), axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.maximum(counts, 1))


def fill_missing(
    values: NDArray[np.float64], graphs: GraphDatabase, elsewhere: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Replace NaN by the mean of the observed values in the same graph and column, else by ``elsewhere``."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    sums, counts = np.zeros((len(graphs), values.shape[1])), np.zeros((len(graphs), values.shape[1]))
    np.add.at(sums, graphs.graph_ids, np.where(missing, 0.0, values))
    np.add.at(counts, graphs.graph_ids, ~missing)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), elsewhere)
    return np.where(missing, means[graphs.graph_ids], values)


Way: TypeAlias = str | Convolution  # along edges in a direction, or, on grids, by a filter


class PixelWalk(NamedTuple):
    """Lazy convolution of the columns of grids: X' = (1 - l) X * B + l X."""

    operator: GridOperator
    laziness: float

    def step(self, current: NDArray[np.float64], initial: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns after one step."""
        following = self.operator.step(current, initial)
        return (1 - self.laziness) * following + self.laziness * current if self.laziness else following


def way_of(scheme: PropagationScheme, graphs: GraphDatabase | GridDatabase) -> Way:
    """Return how attributes move where labels move by a scheme: along the same edges, by the same filter."""
    if not isinstance(graphs, GridDatabase):
        return str(getattr(scheme, "direction", "follow"))
    return scheme.without_clamp() if isinstance(scheme, Convolution) else Convolution()


def attribute_walk(graphs: GraphDatabase, laziness: float, way: Way) -> AffineOperator | PixelWalk:
    """Return the lazy random walk of attributes, along edges or over pixels."""
    if isinstance(way, str):
        return walk_operator(graphs, laziness, way)
    return PixelWalk(way.operator(graphs), laziness)


def check_way(laziness: float, way: Way) -> None:
    """Raise an error if stored parts of a walk are invalid."""
    is_known = way in DIRECTIONS if isinstance(way, str) else isinstance(way, Convolution)
    require(0 <= laziness <= 1 and is_known, "laziness or direction is unknown")


def walk_steps(
    walk: AffineOperator | PixelWalk, graphs: GraphDatabase, direction: Way, factors: EdgeFactors | None
) -> Iterator[AffineOperator | PixelWalk]:
    """Yield the operators of steps 1, 2, ...: the walk or, with edge labels, the walk with new factors."""
    if factors is None or isinstance(walk, PixelWalk) or not isinstance(direction, str):
        yield from repeat(walk)
        return
    edges, stream = crossed_edges(graphs, direction), np.zeros(1, dtype=np.int64)
    for step in count(1):
        drawn = factors.draw(edges.keys, stream, np.array([step]))[0, :, 0]
        yield walk.scaled(drawn[edges.kinds])


@dataclass(kw_only=True, eq=False, repr=False)
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

    laziness: float = 0.5
    combine: str = "sum"

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
