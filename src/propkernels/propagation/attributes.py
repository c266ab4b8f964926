"""Treatments of attributes: fixed, propagated along edges, or mixtures of Gaussians (P2K, Algorithm 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from itertools import count, islice, repeat
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from propkernels._utils.checks import (
    Documented,
    check_choice,
    check_fraction,
    check_integer,
    check_nonnegative,
    shown,
)
from propkernels._utils.parallel import by_rows, one_blas_thread
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_whole, require
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.propagation.convolution import Convolution, GridOperator
from propkernels.propagation.schemes import (
    DIRECTIONS,
    AffineOperator,
    EdgeFactors,
    PropagationScheme,
    crossed_edges,
    walk_operator,
)

Matrix = NDArray[np.float64]
COMBINATIONS = ("sum", "product", "joint")


class LearnedAttributes(Protocol):
    """State that an attribute treatment learned in fit."""

    def matrices(self, graphs: GraphDatabase, attributes: Matrix) -> Iterator[Matrix]:
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

    start: Matrix
    walk: AffineOperator
    scales: Matrix | None = None


class Training(NamedTuple):
    """What treatments of attributes learn from.

    Attributes
    ----------
    graphs : GraphDatabase
    attributes : ndarray, (N, D)
        Standardized.
    t_max : int
    direction : str or Convolution
        How attributes move.
    seed : int
    edge_factors : EdgeFactors or None
        Factors of values that cross an edge, if edge labels count.
    """

    graphs: GraphDatabase
    attributes: Matrix
    t_max: int
    direction: Way
    seed: int
    edge_factors: EdgeFactors | None = None


class AttributeTreatment(Documented, BaseEstimator, ABC):
    """Base class of attribute treatments: :class:`PropagatedAttributes`, :class:`GaussianMixtures`."""

    combine: str

    @abstractmethod
    def learn(self, training: Training) -> LearnedAttributes:
        """Learn from the standardized attributes of the training graphs."""


@dataclass(eq=False, repr=False)
class FixedAttributes(AttributeTreatment):
    """Unchanged attributes, with a new hash function at every iteration.

    Parameters
    ----------
    combine : {"sum", "product", "joint"}, default="sum"
        See ``attributes`` of :class:`PropagationKernel`.
    """

    combine: str = "sum"

    def learn(self, training: Training) -> FixedAttributes:
        """Return self: there is nothing to learn."""
        return self

    def matrices(self, graphs: GraphDatabase, attributes: Matrix) -> Iterator[Matrix]:
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

    mean: Matrix
    deviation: Matrix

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

    def __call__(self, graphs: GraphDatabase) -> Matrix:
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


def _check_extent(smallest: Matrix, largest: Matrix) -> None:
    """Raise an error if the deviation of a dimension would overflow or underflow."""
    for dimension, (low, high) in enumerate(zip(smallest.tolist(), largest.tolist(), strict=True)):
        extent = f"attribute dimension {dimension} runs from {low:g} to {high:g}"
        if low < high and max(abs(low), abs(high)) > LARGEST_VALUE:
            raise ValueError(f"{extent}, too far for its deviation: divide it by a constant")
        if low < high and high - low < SMALLEST_EXTENT:
            raise ValueError(f"{extent}, too little for its deviation: multiply it by a constant")


def _check_size(values: Matrix) -> None:
    """Raise an error if the square of a value would overflow; NaN (missing) is allowed."""
    low, high = (float(reduce(values, axis=None, initial=0.0)) for reduce in (np.fmin.reduce, np.fmax.reduce))
    if max(-low, high) > LARGEST_VALUE:
        worst = low if -low > high else high
        raise ValueError(
            f"a node attribute is {worst:g} (after standardization, if enabled): "
            f"attributes must lie between -{LARGEST_VALUE:g} and {LARGEST_VALUE:g}"
        )


def required_attributes(graphs: GraphDatabase | GridDatabase) -> Matrix:
    """Return the node attributes; raise an error if there are none."""
    if graphs.node_attributes is None or graphs.node_attributes.shape[1] == 0:
        way_out = (
            "GridDatabase(images, attributes=...)" if isinstance(graphs, GridDatabase) else "with_attributes"
        )
        raise ValueError(f"attributes are requested, but the graphs have no node attributes: use {way_out}")
    return graphs.node_attributes


def observed_means(values: Matrix) -> Matrix:
    """Return the mean of the observed values of each column; 0 for a column without any."""
    counts = np.count_nonzero(~np.isnan(values), axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.maximum(counts, 1))


def fill_missing(values: Matrix, graphs: GraphDatabase, elsewhere: Matrix) -> Matrix:
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

    def step(self, current: Matrix, initial: Matrix) -> Matrix:
        """Return the columns after one step."""
        following = self.operator.step(current, initial)
        return (1 - self.laziness) * following + self.laziness * current if self.laziness else following


def way_of(scheme: PropagationScheme, graphs: GraphDatabase | GridDatabase) -> Way:
    """Return how attributes move where labels move by a scheme: along the same edges, by the same filter."""
    if not isinstance(graphs, GridDatabase):
        return str(getattr(scheme, "direction", "follow"))
    if not isinstance(scheme, Convolution):
        return Convolution()
    return Convolution(scheme.neighborhood, scheme.boundary, mirror=scheme.mirror)  # values are never reset


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

    def learn(self, training: Training) -> SpreadingAttributes:
        """Learn the mean over all nodes, which replaces missing values in graphs without any value."""
        laziness, elsewhere = check_fraction(self.laziness, "laziness"), observed_means(training.attributes)
        return SpreadingAttributes(laziness, training.direction, elsewhere, training.edge_factors)


@dataclass(frozen=True)
class SpreadingAttributes:
    """Learned state of :class:`PropagatedAttributes`.

    Attributes
    ----------
    laziness : float
    direction : str or Convolution
    elsewhere : ndarray, (D,)
        Replaces missing values in graphs without any value.
    edge_factors : EdgeFactors or None
        Factors of values that cross an edge, if edge labels count.
    scales : ndarray, (t_max + 1, columns), or None
        Divisors of the values; None: 1.
    """

    laziness: float
    direction: Way
    elsewhere: Matrix
    edge_factors: EdgeFactors | None = None
    scales: Matrix | None = None

    def _check_parts(self) -> None:
        """Raise an error if laziness, direction or the mean attributes are invalid."""
        way = self.direction
        is_known = way in DIRECTIONS if isinstance(way, str) else isinstance(way, Convolution)
        require(0 <= self.laziness <= 1 and is_known, "laziness or direction is unknown")
        require(self.elsewhere.ndim == 1, "attributes of nodes elsewhere are one row")

    def start(self, graphs: GraphDatabase, attributes: Matrix) -> Matrix:
        """Return X_0: the attributes without gaps."""
        return fill_missing(attributes, graphs, self.elsewhere)

    def matrices(self, graphs: GraphDatabase, attributes: Matrix) -> Iterator[Matrix]:
        """Yield X_0, X_1, ..."""
        current = self.start(graphs, attributes)
        for step in self.steps(graphs):
            yield current
            current = step.step(current, current)

    def walk(self, graphs: GraphDatabase) -> AffineOperator | PixelWalk:
        """Return the lazy random walk of attributes, along edges or over pixels."""
        if isinstance(self.direction, str):
            return walk_operator(graphs, self.laziness, self.direction)
        return PixelWalk(self.direction.operator(graphs), self.laziness)

    def steps(self, graphs: GraphDatabase) -> Iterator[AffineOperator | PixelWalk]:
        """Yield the operators of steps 1, 2, ...: the walk, with new factors where edge labels count."""
        walk = self.walk(graphs)
        if self.edge_factors is None or isinstance(walk, PixelWalk):
            yield from repeat(walk)
            return
        edges, stream = crossed_edges(graphs, str(self.direction)), np.zeros(1, dtype=np.int64)
        for step in count(1):
            drawn = self.edge_factors.draw(edges.keys, stream, np.array([step]))[0, :, 0]
            yield walk.scaled(drawn[edges.kinds])

    @property
    def spreads(self) -> bool:
        """Whether values spread along edges, each column by itself: no edge labels or grids."""
        return self.edge_factors is None and isinstance(self.direction, str)

    def spread(self, graphs: GraphDatabase, attributes: Matrix) -> Spread:
        """Return the values of t = 0, their step and their scales."""
        walk = walk_operator(graphs, self.laziness, str(self.direction))
        return Spread(self.start(graphs, attributes), walk, self.scales)


ROUNDING = 1e-10  # bound on the relative rounding error of a sum of densities, with a wide margin

LARGEST_LOG = 600.0  # densities and their sums stay finite


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianMixtures(AttributeTreatment):
    """Mixtures of Gaussians that spread over the graph (P2K, Algorithm 4 and Eq. mixture_approx).

    Each node starts with a Gaussian around its attributes, with the covariance of all attributes; a step
    mixes the neighbors' distributions. Nodes are compared by their densities at sample points, drawn
    from the training attributes. The N x N weights W_t are never formed: Q_{t+1} = T Q_t.

    A node with a missing attribute (NaN) starts as the mixture of the other nodes of its graph (else of all
    nodes). If edge labels count, densities that cross an edge are multiplied by a factor of its label; a
    refit replaces them by one Gaussian at the unweighted mean, which discards earlier edge labels.
    The defaults are those of the paper.

    Parameters
    ----------
    n_sample_points : int, default=100
        Number of points at which densities are compared.
    combine : {"sum", "product", "joint"}, default="sum"
        "sum": one hash per point, as in the paper's experiments, and one kernel contribution for each, as in
        the authors' program; "product": nodes must agree at all points; "joint": one hash of the vector.
    scale : {"initial", None}, default=None
        Unit of densities, relative to the bin width. None: no scaling, as in the paper; "initial": the
        standard deviation per point over the training nodes at t = 0.
    ridge : float, default=0
        Added to the diagonal of the covariance, in units of the mean variance of the attributes (1 if they
        are standardized). With 0, as in the paper, directions in which attributes do not vary are left out;
        in many dimensions Gaussians then hardly overlap, and 1 widens them.
    refit_every : int or None, default=None
        Number of steps after which each mixture is replaced by one Gaussian at its mean, with the
        covariance of these means. None: never.
    laziness : float in [0, 1), default=0
        Share of its distribution that a node keeps in each step.

    See Also
    --------
    P2K : The kernel that uses these mixtures.
    propkernels.propagation.PropagatedAttributes : Spreads the attributes themselves.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 4.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1)
    >>> values = np.array([[0.1], [0.2], [0.9]])
    >>> graphs = [(path, ["C", "C", "O"], values), (path, ["C", "O", "C"], 1 - values)]
    >>> mixtures = pk.propagation.GaussianMixtures(n_sample_points=3)
    >>> pk.PropagationKernel(attributes=mixtures, t_max=2, random_state=0).fit_transform(graphs).shape
    (2, 2)
    """

    n_sample_points: int = 100
    combine: str = "sum"
    scale: str | None = None
    ridge: float = 0.0
    refit_every: int | None = None
    laziness: float = 0.0

    def learn(self, training: Training) -> SpreadingMixtures:
        """Draw the sample points and learn covariances and scales from the training graphs."""
        check_choice(self.scale, (None, "initial"), "scale")
        number = check_integer(self.n_sample_points, "n_sample_points", 1)
        laziness = check_fraction(self.laziness, "laziness")
        ridge = check_nonnegative(self.ridge, "ridge")
        refit = None if self.refit_every is None else check_integer(self.refit_every, "refit_every", 1)
        attributes = training.attributes
        observed = attributes[~np.isnan(attributes).any(axis=1)]
        if not len(observed):
            raise ValueError("every node has a missing attribute: sample points need complete nodes")
        families = {0: GaussianFamily.learn(observed, ridge)}
        points = draw_points(observed, number, training.seed)
        start = families[0].densities(observed, points)
        learned = SpreadingMixtures(
            laziness,
            training.direction,
            observed.mean(axis=0),
            training.edge_factors,
            scales=np.ones((1, 1)),
            points=points,
            families=families,
            overall=np.ascontiguousarray(start).mean(axis=0),
            refit_every=refit,
        )

        def learn_family(t: int, centers: Matrix) -> GaussianFamily:
            if t:
                families[t] = GaussianFamily.learn(centers, ridge)
            return families[t]

        t_max, known = training.t_max, start if len(observed) == len(attributes) else None
        densities = learned.densities(training.graphs, attributes, learn_family, known)
        first = next(densities)
        if refit is not None:  # Gaussians of later steps are learned on the way
            deque(islice(densities, t_max), maxlen=0)
        scale = np.ones(len(points)) if self.scale is None else _scales(first)
        return replace(learned, scales=np.repeat(scale[None], t_max + 1, axis=0))


@dataclass(frozen=True)
class GaussianFamily:
    """Gaussians with a shared covariance, represented by a whitening map.

    Attributes
    ----------
    whitening : ndarray, (D, rank)
        Maps attributes to coordinates in which the covariance is the identity.
    log_height : float
        Logarithm of the density at the center.
    """

    whitening: Matrix
    log_height: float

    def _check_parts(self) -> None:
        """Raise an error if the whitening is not a matrix with at most D columns."""
        require(self.whitening.ndim == 2, "the whitening is a matrix")
        require(len(self.whitening) >= self.whitening.shape[1], "whitening adds no directions")

    @classmethod
    def learn(cls, attributes: Matrix, ridge: float) -> GaussianFamily:
        """Learn the covariance (ddof = 1) plus ridge times mean variance, without constant directions."""
        dimensions = attributes.shape[1]
        covariance = np.zeros((dimensions, dimensions))
        if len(attributes) > 1:
            with one_blas_thread():  # otherwise bits depend on the number of threads
                covariance = np.cov(attributes, rowvar=False, ddof=1).reshape(dimensions, dimensions)
        widening = ridge * np.trace(covariance) / dimensions
        variances, directions = np.linalg.eigh(covariance + widening * np.eye(dimensions))
        kept = variances > 1e-10 * max(variances.max(initial=0.0), 1e-300)
        log_height = -0.5 * (kept.sum() * np.log(2 * np.pi) + np.log(variances[kept]).sum())
        return cls(directions[:, kept] / np.sqrt(variances[kept]), float(log_height))

    def densities(self, centers: Matrix, points: Matrix) -> Matrix:
        """Return the density of a Gaussian around each center at each point, (centers, points)."""
        from scipy.spatial.distance import cdist

        if self.log_height > LARGEST_LOG:
            raise ValueError(
                f"attributes vary so little that densities reach exp({self.log_height:.0f}): "
                "set standardize=True, or multiply them by a constant"
            )
        with one_blas_thread():  # threads of BLAS spin after a product, beside ours
            whitened, places = centers @ self.whitening, points @ self.whitening
        values = np.empty((len(centers), len(points)))

        def fill(rows: slice) -> None:
            distances = cdist(whitened[rows], places, "sqeuclidean")
            np.exp(self.log_height - 0.5 * distances, out=values[rows])

        by_rows(fill, values.shape)
        return values


def draw_points(attributes: Matrix, number: int, seed: int) -> Matrix:
    """Return the attribute vectors of nodes drawn uniformly without replacement.

    Nodes are ranked by a hash of their vector and of the number of earlier nodes with the same vector, so
    that the order of nodes and graphs does not matter.
    """
    keys = np.zeros(len(attributes), dtype=np.uint64)
    for column in np.ascontiguousarray(attributes.T + 0.0):  # -0.0 becomes 0.0
        keys = mix(seed, keys, column.view(np.uint64))
    order = np.argsort(keys)
    ordered = keys[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ranks = np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))
    hashes = mix(seed, ordered, ranks)
    least = np.argpartition(hashes, number - 1)[:number] if number < len(keys) else np.arange(len(keys))
    return attributes[order[least[np.argsort(hashes[least])]]]


@dataclass(frozen=True)
class SpreadingMixtures(SpreadingAttributes):
    """Learned state of :class:`GaussianMixtures`; the scales are those of the densities.

    Attributes
    ----------
    points : ndarray, (M, D)
        The sample points.
    families : dict
        Gaussians by iteration, for iteration 0 and each refit.
    overall : ndarray, (M,)
        Densities of the mixture of all training nodes, used for graphs without any attribute.
    refit_every : int or None
    """

    _: KW_ONLY
    scales: Matrix
    points: Matrix
    families: dict[int, GaussianFamily]
    overall: Matrix
    refit_every: int | None

    def _check_parts(self) -> None:
        """Raise an error if points, Gaussians and scales differ in number or dimension."""
        super()._check_parts()
        require(self.refit_every is None or is_whole(self.refit_every, 1), "steps between fits are 1 or more")
        n_points, dimensions = self.points.shape
        require(
            self.scales.ndim == 2 and self.scales.shape[1] == n_points, "every sample point needs a scale"
        )
        require(self.overall.shape == (n_points,), "every sample point needs a density")
        require(self.elsewhere.shape == (dimensions,), "the mean has the dimension of the points")
        n_steps = len(self.scales)
        fitted_at = range(0, n_steps, self.refit_every or n_steps) if n_steps else (0,)
        require(set(fitted_at) <= set(self.families), "every fit needs its Gaussians")
        sizes = {len(family.whitening) for family in self.families.values()}
        require(sizes <= {dimensions}, "Gaussians have the dimension of the points")

    def start(self, graphs: GraphDatabase, attributes: Matrix) -> Matrix:
        """Return the densities of t = 0."""
        densities = self.families[0].densities(np.nan_to_num(attributes), self.points)
        missing = np.isnan(attributes).any(axis=1)
        if not missing.any():
            return densities
        densities[missing] = np.nan
        return fill_missing(densities, graphs, self.overall)

    def matrices(self, graphs: GraphDatabase, attributes: Matrix) -> Iterator[Matrix]:
        """Yield the scaled densities Q_0, Q_1, ..."""
        densities = self.densities(graphs, attributes, lambda t, _: self.families[t])
        for scale, current in zip(self.scales, densities, strict=False):
            yield _divided(current, scale)

    def densities(
        self,
        graphs: GraphDatabase,
        attributes: Matrix,
        family_at: Callable[[int, Matrix], GaussianFamily],
        start: Matrix | None = None,
    ) -> Iterator[Matrix]:
        """Yield the densities of t = 0 (``start`` if known), 1, ...; refits are ``family_at(t, means)``."""
        walk, current = self.walk(graphs), self.start(graphs, attributes) if start is None else start
        centers = None if self.refit_every is None else super().start(graphs, attributes)
        for t, step in enumerate(self.steps(graphs), start=1):
            yield current
            if centers is None or self.refit_every is None:
                current = step.step(current, current)
                continue
            centers = walk.step(centers, centers)
            if t % self.refit_every == 0:
                current = family_at(t, centers).densities(centers, self.points)
            else:
                current = step.step(current, current)

    @property
    def spreads(self) -> bool:
        """Whether densities spread along edges, each point by itself: no refits, edge labels or grids."""
        return self.refit_every is None and super().spreads


def _divided(values: Matrix, scale: Matrix) -> Matrix:
    """Return values divided by the scale of their column, in threads."""
    quotients = np.empty_like(values)
    by_rows(lambda rows: np.divide(values[rows], scale, out=quotients[rows]), values.shape)
    return quotients


def _scales(values: Matrix) -> Matrix:
    """Return the standard deviation of each column (ddof = 1); 1 for those that vary by rounding only."""
    values = np.ascontiguousarray(values)  # sums of numpy depend on the order in memory
    deviations = values.std(axis=0, ddof=min(len(values) - 1, 1))
    return np.where(deviations > ROUNDING * np.abs(values).max(axis=0), deviations, 1.0)
