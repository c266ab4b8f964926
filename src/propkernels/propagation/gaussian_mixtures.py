"""Gaussian mixtures, the attribute distributions of P2K (Algorithm 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice, check_fraction, check_integer, check_nonnegative
from propkernels._utils.parallel import by_rows, one_blas_thread
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_whole, require
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.attributes import (
    AttributeTreatment,
    Spread,
    Way,
    attribute_walk,
    check_way,
    fill_missing,
    walk_steps,
)
from propkernels.propagation.edge_labels import EdgeFactors
from propkernels.propagation.schemes import walk_operator

Matrix = NDArray[np.float64]
SCALES = (None, "initial", "each")
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
        "sum": one kernel contribution per point, as in the paper's experiments; "product": nodes must agree
        at all points; "joint": one hash of the whole vector.
    scale : {"initial", "each", None}, default=None
        Unit of densities, relative to the bin width. None: no scaling, as in the paper; "initial": the
        standard deviation per point over the training nodes at t = 0; "each": the one at every t.
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

    def learn(
        self,
        graphs: GraphDatabase,
        attributes: Matrix,
        t_max: int,
        direction: Way,
        seed: int,
        edge_factors: EdgeFactors | None = None,
    ) -> SpreadingMixtures:
        """Draw the sample points and learn covariances and scales from the training graphs."""
        check_choice(self.scale, SCALES, "scale")
        number = check_integer(self.n_sample_points, "n_sample_points", 1)
        laziness = check_fraction(self.laziness, "laziness")
        ridge = check_nonnegative(self.ridge, "ridge")
        refit = None if self.refit_every is None else check_integer(self.refit_every, "refit_every", 1)
        observed = attributes[~np.isnan(attributes).any(axis=1)]
        if not len(observed):
            raise ValueError("every node has a missing attribute: sample points need complete nodes")
        first = GaussianFamily.learn(observed, ridge)
        points = draw_points(observed, number, seed)
        start, centre = first.densities(observed, points), observed.mean(axis=0)
        overall = np.ascontiguousarray(start).mean(axis=0)
        learned = SpreadingMixtures(
            points, {0: first}, overall, centre, refit, laziness, direction, edge_factors=edge_factors
        )
        known = start if len(observed) == len(attributes) else None
        return learned.with_scales(graphs, attributes, t_max, ridge, self.scale, known)


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
class SpreadingMixtures:
    """Learned state of :class:`GaussianMixtures`.

    Attributes
    ----------
    points : ndarray, (M, D)
        The sample points.
    families : dict
        Gaussians by iteration, for iteration 0 and each refit.
    overall : ndarray, (M,)
        Densities of the mixture of all training nodes, used for graphs without any attribute.
    centre : ndarray, (D,)
        Mean of the training attributes.
    scales : ndarray, (t_max + 1, M)
        Divisors of the densities.
    edge_factors : EdgeFactors or None
        Factors of densities that cross an edge, if edge labels count.
    """

    points: Matrix
    families: dict[int, GaussianFamily]
    overall: Matrix
    centre: Matrix
    refit_every: int | None
    laziness: float
    direction: Way
    scales: Matrix = field(default_factory=lambda: np.ones((1, 1)))
    edge_factors: EdgeFactors | None = None

    def _check_parts(self) -> None:
        """Raise an error if points, Gaussians and scales differ in number or dimension."""
        check_way(self.laziness, self.direction)
        require(self.refit_every is None or is_whole(self.refit_every, 1), "steps between fits are 1 or more")
        n_points, dimensions = self.points.shape
        require(
            self.scales.ndim == 2 and self.scales.shape[1] == n_points, "every sample point needs a scale"
        )
        require(self.overall.shape == (n_points,), "every sample point needs a density")
        require(self.centre.shape == (dimensions,), "the centre has the dimension of the points")
        n_steps = len(self.scales)
        fitted_at = range(0, n_steps, self.refit_every or n_steps) if n_steps else (0,)
        require(set(fitted_at) <= set(self.families), "every fit needs its Gaussians")
        sizes = {len(family.whitening) for family in self.families.values()}
        require(sizes <= {dimensions}, "Gaussians have the dimension of the points")

    def matrices(self, graphs: GraphDatabase, attributes: Matrix) -> Iterator[Matrix]:
        """Yield the scaled densities Q_0, Q_1, ..."""
        densities = self._densities(graphs, attributes, lambda t, _: self.families[t])
        for scale, current in zip(self.scales, densities, strict=False):
            yield _divided(current, scale)

    @property
    def spreads(self) -> bool:
        """Whether densities spread along edges, each point by itself: no refits, edge labels or grids."""
        return self.refit_every is None and self.edge_factors is None and isinstance(self.direction, str)

    def spread(self, graphs: GraphDatabase, attributes: Matrix) -> Spread:
        """Return the densities of t = 0, and their step and scales."""
        start = self._start(graphs, attributes, self.families[0])
        return Spread(start, walk_operator(graphs, self.laziness, str(self.direction)), self.scales)

    def with_scales(
        self,
        graphs: GraphDatabase,
        attributes: Matrix,
        t_max: int,
        ridge: float,
        scale: str | None,
        start: Matrix | None = None,
    ) -> SpreadingMixtures:
        """Return the state with scales and the Gaussians of later iterations, learned in one pass.

        ``start`` are the densities of t = 0, if known.
        """
        families = dict(self.families)

        def learn_family(t: int, centers: Matrix) -> GaussianFamily:
            families[t] = GaussianFamily.learn(centers, ridge) if t else families[0]
            return families[t]

        steps = 1 if scale != "each" and self.refit_every is None else t_max + 1
        densities = self._densities(graphs, attributes, learn_family, start)
        measured = np.array([_scales(current) for current in islice(densities, steps)])
        scales = np.broadcast_to(measured if scale == "each" else measured[:1], (t_max + 1, len(self.points)))
        scales = np.ones_like(scales) if scale is None else np.array(scales)
        return replace(self, families=families, scales=scales)

    def _start(self, graphs: GraphDatabase, attributes: Matrix, family: GaussianFamily) -> Matrix:
        """Return the densities of t = 0."""
        densities = family.densities(np.nan_to_num(attributes), self.points)
        missing = np.isnan(attributes).any(axis=1)
        if not missing.any():
            return densities
        densities[missing] = np.nan
        return fill_missing(densities, graphs, self.overall)

    def _densities(
        self,
        graphs: GraphDatabase,
        attributes: Matrix,
        family_at: Callable[[int, Matrix], GaussianFamily],
        start: Matrix | None = None,
    ) -> Iterator[Matrix]:
        """Yield the densities of t = 0, 1, ..., with refits by ``family_at(t, means)``."""
        walk = attribute_walk(graphs, self.laziness, self.direction)
        current = self._start(graphs, attributes, family_at(0, attributes)) if start is None else start
        centers = None if self.refit_every is None else fill_missing(attributes, graphs, self.centre)
        for t, step in enumerate(walk_steps(walk, graphs, self.direction, self.edge_factors), start=1):
            yield current
            if centers is None or self.refit_every is None:
                current = step.step(current, current)
                continue
            centers = walk.step(centers, centers)
            if t % self.refit_every == 0:
                current = family_at(t, centers).densities(centers, self.points)
            else:
                current = step.step(current, current)


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
