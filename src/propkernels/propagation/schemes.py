"""Propagation schemes: protocol, affine steps M P + B P_0, diffusion P_{t+1} = T P_t, edge labels, names."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone

from propkernels import _core
from propkernels._utils.arrays import aligned_empty, check_room
from propkernels._utils.checks import Documented, check_choice, check_fraction, shown
from propkernels._utils.parallel import stage_pieces, threads_for
from propkernels._utils.randomness import label_keys, uniform
from propkernels.convert.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.propagation.initial import UNKNOWN, InitialDistributions

LARGEST_USUAL = 2.0**500  # larger (or smaller than 1 over this) weights are balanced
NORMALIZATIONS = ("row", "symmetric", "renormalized", "none")
ISOLATED = ("stay", "vanish")


@dataclass(frozen=True)
class AffineOperator:
    """One affine step in P, for a whole database:

    ``P'_i = spread_i * sum_j A_ij P_j + keep_i * P_i + restart_i * (P_0)_i``

    The step acts on nodes, not on labels, so it commutes with the projection of a hash: the engine
    applies it to ``P_0 v`` instead of ``P_0``.

    Attributes
    ----------
    adjacency : csr_array
        A, with its weights.
    spread, keep : ndarray, (N,)
        Weight of the neighbors' sum, and of the node itself.
    restart : ndarray, (N,), or None
        Weight of the node's initial distribution.
    pushed_back : ndarray of bool, (N,), or None
        Nodes that are reset to P_0 before each step (label push-back, Eq. LP taken literally).
    vanished : ndarray of bool, (N,), or None
        Nodes that are not counted from t = 1 on.
    is_unweighted : bool, optional
        Whether all entries of A are 1; by default, A tells.
    """  # noqa: D400

    adjacency: csr_array
    spread: NDArray[np.float64]
    keep: NDArray[np.float64]
    restart: NDArray[np.float64] | None = None
    pushed_back: NDArray[np.bool_] | None = None
    vanished: NDArray[np.bool_] | None = None
    is_unweighted: bool | None = None

    def scaled(self, factors: NDArray[np.float64]) -> AffineOperator:
        """Return the operator with entry e of A multiplied by ``factors[e]``."""
        a = self.adjacency
        scaled = csr_array((a.data * factors, a.indices, a.indptr), shape=a.shape)
        return replace(self, adjacency=scaled, is_unweighted=None)

    def __post_init__(self) -> None:
        data = self.adjacency.data
        if self.is_unweighted is None:
            object.__setattr__(self, "is_unweighted", bool((data == 1.0).all()))
        if not self.is_unweighted and not (data.min() > 1 / LARGEST_USUAL and data.max() < LARGEST_USUAL):
            self._balance()

    def _balance(self) -> None:
        """Shift powers of two from the rows of A to ``spread``, so that weights times values stay finite.

        Only rows with an extreme largest weight change. Scaling by powers of two is exact: results are
        bit-equal to those with weights of usual size.
        """
        matrix = self.adjacency
        rows = np.flatnonzero(np.diff(matrix.indptr))
        largest = np.zeros(matrix.shape[0])
        largest[rows] = np.maximum.reduceat(matrix.data, matrix.indptr[rows])
        exponents = np.where(largest > 0, np.frexp(largest)[1], 0)
        exponents[np.abs(exponents) < np.log2(LARGEST_USUAL)] = 0
        shifted = np.ldexp(matrix.data, -np.repeat(exponents, np.diff(matrix.indptr)))
        balanced = csr_array((shifted, matrix.indices, matrix.indptr), shape=matrix.shape)
        object.__setattr__(self, "adjacency", balanced)
        object.__setattr__(self, "spread", np.ldexp(self.spread, exponents))

    def step(
        self,
        current: NDArray[np.float64],
        initial: NDArray[np.float64],
        rows: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the columns (label probabilities, or projections of them) after one step.

        Threads take ranges of rows, so that their number changes no bit. If ``rows`` are given, only these
        are computed; the others are undefined.
        """
        if self.pushed_back is not None:
            current = np.where(self.pushed_back[:, None], initial, current)
        current = np.ascontiguousarray(current, dtype=np.float64)
        following = aligned_empty(current.shape)
        a, threads = self.adjacency, threads_for(self.adjacency.nnz * current.shape[1])
        written = np.arange(len(current)) if rows is None else rows
        bounds = np.array([0, len(written)])
        if threads > 1:  # runs have about as many edges as each other
            cuts = np.searchsorted(a.indptr[written], np.linspace(0, a.nnz, stage_pieces(threads) + 1)[1:-1])
            bounds = np.insert(bounds, 1, cuts)
        arrays = a.indptr, a.indices, a.data, self.spread, self.keep
        _core.affine_step(*arrays, current, following, written, bounds, threads)
        if self.restart is not None:
            following += self.restart[:, None] * initial
        return following


def check_step(values: NDArray[np.float64], t: int, scheme: Any) -> None:
    """Raise an error if a step returned an infinite or undefined value.

    Raises
    ------
    ValueError
    """
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(values.sum())
    if suspect and not np.isfinite(values).all():
        raise ValueError(f"step {t} of {type(scheme).__name__} returned a value that is not finite")


Prepared: TypeAlias = Any  # whatever ``prepare`` of a scheme returns


class PropagationScheme(Documented, BaseEstimator, ABC):
    """Base class of propagation schemes, which compute P_{t+1} from P_t. Subclass it to define a scheme.

    A scheme has two methods: ``prepare``, called once per run of graphs, returns the data of the steps
    (for example, a transition matrix); ``step`` computes P_{t+1}. Graphs arrive in runs of any length, so
    a node may depend on nodes of the same graph only.

    Attributes
    ----------
    affine : bool
        Whether a step is affine in P with coefficients that depend on nodes only, that is
        ``step(P) = M P + B P_0``. Then the engine passes projections of the distributions to ``step``,
        which is faster: any columns, not only probabilities. False, the default, is always correct, and
        required if a step uses the probabilities (products, normalization over labels, ...).

    See Also
    --------
    propkernels.propagation.check_scheme : Checks a scheme against this protocol.
    propkernels.propagation.Diffusion : The scheme for labeled graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 1.

    Examples
    --------
    Each node takes the distribution of the neighbor across its heaviest edge, or the mean if there are ties:

    >>> import numpy as np, propkernels as pk
    >>> class HeaviestEdge(pk.propagation.PropagationScheme):
    ...     affine = True
    ...     def prepare(self, graphs, initial):
    ...         adjacency = graphs.adjacency.copy()
    ...         for node in range(graphs.n_nodes):
    ...             edges = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
    ...             heaviest = adjacency.data[edges] == adjacency.data[edges].max(initial=0)
    ...             adjacency.data[edges] = heaviest / max(heaviest.sum(), 1)
    ...         return adjacency
    ...     def step(self, prepared, current, initial):
    ...         stuck = np.diff(prepared.indptr) == 0
    ...         return np.where(stuck[:, None], current, prepared @ current)
    >>> pk.propagation.check_scheme(HeaviestEdge())
    >>> path = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    >>> pk.PropagationKernel(propagation=HeaviestEdge(), t_max=2, random_state=0).fit_transform(
    ...     [(path, ["C", "O", "N"])])
    array([[13.]])
    """

    affine: bool = False

    @abstractmethod
    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> Prepared:
        """Return the data of the steps; ``initial`` contains P_0, its labels, and the observed nodes.

        The returned object serves one run of graphs, so ``step`` may modify it.
        """

    @abstractmethod
    def step(
        self, prepared: Prepared, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return P_{t+1}, given P_t (``current``) and P_0 (``initial``), each of shape (N, columns)."""


class AffineScheme(PropagationScheme):
    """Base class of schemes whose ``prepare`` returns an :class:`AffineOperator`."""

    affine = True

    @abstractmethod
    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""

    def step(
        self, prepared: AffineOperator, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the result of the operator."""
        return prepared.step(current, initial)


DIRECTIONS = ("follow", "reverse", "both")


def directed_adjacency(graphs: GraphDatabase, direction: str) -> csr_array:
    """Return A (follow), its transpose (reverse), or the elementwise maximum of the two (both)."""
    check_choice(direction, DIRECTIONS, "direction")
    if direction == "follow":
        return graphs.adjacency
    if direction == "both" and not graphs.has_parallel_edges and not graphs.is_directed:
        return graphs.adjacency
    reverse = csr_array(graphs.adjacency.T)
    reverse.sort_indices()
    return reverse if direction == "reverse" else csr_array(graphs.adjacency.maximum(reverse))


def row_sums(adjacency: csr_array, is_unweighted: bool | None = None) -> NDArray[np.float64]:
    """Return the degree of each node, ``d_i = sum_j A_ij``."""
    if (adjacency.data == 1.0).all() if is_unweighted is None else is_unweighted:
        return np.diff(adjacency.indptr).astype(np.float64)
    return np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()


def reciprocal(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / d, and 0 where d is 0."""
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)


def symmetrically_normalized(adjacency: csr_array) -> csr_array:
    """Return D^{-1/2} A D^{-1/2}; for directed edges, out-degrees on the left and in-degrees on the right."""
    out = np.sqrt(reciprocal(row_sums(adjacency)))
    return _scaled(adjacency, out, np.sqrt(reciprocal(_column_sums(adjacency))))


def renormalized(adjacency: csr_array) -> tuple[csr_array, NDArray[np.float64]]:
    """Return the entries A_ij / sqrt((d_i + 1) (e_j + 1)) with in-degrees e, and those of the added loops."""
    out, into = 1 / np.sqrt(row_sums(adjacency) + 1), 1 / np.sqrt(_column_sums(adjacency) + 1)
    return _scaled(adjacency, out, into), out * into


def _column_sums(adjacency: csr_array) -> NDArray[np.float64]:
    return np.asarray(adjacency.sum(axis=0), dtype=np.float64).ravel()


def _scaled(adjacency: csr_array, out: NDArray[np.float64], into: NDArray[np.float64]) -> csr_array:
    """Return A_ij times the factors of its row and of its column."""
    data = adjacency.data * np.repeat(out, np.diff(adjacency.indptr)) * into[adjacency.indices]
    return csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def transition_matrix(graphs: Graphs, direction: str = "follow") -> csr_array:
    """Return T = D^{-1} A of all graphs, block-diagonal; T_ii = 1 for a node without outgoing edges.

    See Also
    --------
    propkernels.propagation.Diffusion : The scheme that multiplies by this matrix.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 3.2, T = D^{-1} A.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> star, dot = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), np.zeros((1, 1))
    >>> pk.propagation.transition_matrix([star, dot]).toarray()
    array([[0. , 0.5, 0.5, 0. ],
           [1. , 0. , 0. , 0. ],
           [1. , 0. , 0. , 0. ],
           [0. , 0. , 0. , 1. ]])
    """
    adjacency = directed_adjacency(check_graphs(graphs), direction)
    degrees = row_sums(adjacency)
    data = adjacency.data * np.repeat(reciprocal(degrees), np.diff(adjacency.indptr))
    walk = csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    stuck = (degrees == 0).astype(np.float64)
    if not stuck.any():
        return walk.copy()  # indices of its own, which may be changed
    return csr_array(walk + csr_array((stuck, (np.arange(len(stuck)),) * 2), shape=walk.shape))


@dataclass(eq=False, repr=False)
class Diffusion(AffineScheme):
    """Label diffusion, Eq. (diff): each node takes the mean of its neighbors' distributions.

    Parameters
    ----------
    laziness : float in [0, 1), default=0
        Probability l that the walk stays at its node; 0 is the paper's walk.
        ``P' = (1 - l) T P + l P``.
    normalization : {"row", "symmetric", "renormalized", "none"}, default="row"
        "row": T = D^{-1} A, as in the paper. "symmetric": D^{-1/2} A D^{-1/2}. "renormalized": the same with
        a loop at each node, (D + I)^{-1/2} (A + I) (D + I)^{-1/2} [2]_. "none": neighbors are
        summed instead of averaged, ``P' = (A + l I) P / 2``, which distinguishes degrees; the factor 1/2
        keeps values on molecule-like graphs at the scale of the bin width.
    isolated : {"stay", "vanish"}, default="stay"
        Treatment of nodes without outgoing edges: they keep their distribution, or are not counted from
        t = 1 on.
    direction : {"follow", "reverse", "both"}, default="follow"
        Direction in which walks cross directed edges.

    See Also
    --------
    propkernels.propagation.LabelPropagation : The scheme for partially labeled graphs.
    propkernels.propagation.PropagationScheme : The base class of all schemes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.1, P_{t+1} = T P_t.
    .. [2] T. N. Kipf and M. Welling (2017). Semi-supervised classification with graph convolutional networks.
       International Conference on Learning Representations. Section 2.2.

    Examples
    --------
    >>> import propkernels as pk
    >>> kernel = pk.PropagationKernel(propagation=pk.propagation.Diffusion(laziness=0.5))
    """

    laziness: float = 0.0
    normalization: str = "row"
    _: KW_ONLY
    isolated: str = "stay"
    direction: str = "follow"

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> AffineOperator:
        """Return the operator of these graphs."""
        laziness = check_fraction(self.laziness, "laziness")
        check_choice(self.normalization, NORMALIZATIONS, "normalization")
        check_choice(self.isolated, ISOLATED, "isolated")
        operator = walk_operator(graphs, laziness, self.direction, self.normalization)
        if self.isolated == "stay":
            return operator
        return replace(operator, vanished=np.diff(operator.adjacency.indptr) == 0)


def walk_operator(
    graphs: GraphDatabase, laziness: float, direction: str, normalization: str = "row"
) -> AffineOperator:
    """Return the lazy random walk ``(1 - l) T + l I``, or with another normalization of :class:`Diffusion`.

    Nodes without outgoing edges keep their values.
    """
    adjacency = directed_adjacency(graphs, direction)
    is_unweighted = graphs.is_unweighted if adjacency is graphs.adjacency else None  # graphs remember it
    degrees = row_sums(adjacency, is_unweighted)
    ones = np.ones_like(degrees)
    spread, keep = (1 - laziness) * ones, laziness * ones
    if normalization == "row":
        spread = (1 - laziness) * reciprocal(degrees)
    elif normalization == "none":
        spread, keep = ones / 2, laziness / 2 * ones
    elif normalization == "symmetric":
        adjacency, is_unweighted = symmetrically_normalized(adjacency), None
    else:
        (adjacency, loops), is_unweighted = renormalized(adjacency), None
        keep = (1 - laziness) * loops + keep
    keep = np.where(degrees == 0, 1.0, keep)
    return AffineOperator(adjacency, spread, keep, is_unweighted=is_unweighted)


_FACTOR = 4  # separates these random numbers from others with the same seed


@dataclass(frozen=True)
class EdgeFactors:
    """Factors between 1/2 and 3/2, pure functions of (seed, purpose, stream, step, edge label).

    A walk contributes the product of the factors of its edges, times the projection of the label at its
    end. Sums over walks are polynomials in independent continuous variables, one per step and edge label:
    with probability 1 two sums are equal only if their coefficients are, that is, the probabilities of all
    sequences of edge labels with all end labels. With one factor for all steps, the order of edge labels
    would be lost. Positive factors around 1 do not cancel, and values neither grow nor vanish.

    Attributes
    ----------
    seed : int
    purpose : int
        Separates families with the same seed (labels, attributes).
    """

    seed: int
    purpose: int

    def draw(
        self, keys: NDArray[np.uint64], streams: NDArray[np.int64], steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the factors of steps, edge labels and streams, (steps, keys, streams).

        Step k of a stream is the k-th step of its values: the last edge of its walks is step 1. Factors do
        not depend on t_max, so the streams of a smaller t_max are a subset of those of a larger one.
        """
        check_room(len(steps) * len(keys), len(streams), 2, ways_out="take a smaller t_max")
        words = (streams[None, None, :], steps[:, None, None], keys[None, :, None])
        return 0.5 + uniform(self.seed, self.purpose, _FACTOR, *words)


@dataclass(frozen=True)
class CrossedEdges:
    """Edge labels along a walk: entry e of the adjacency has the label with key ``keys[kinds[e]]``."""

    kinds: NDArray[np.int32]
    keys: NDArray[np.uint64]


def crossed_edges(graphs: GraphDatabase, direction: str) -> CrossedEdges:
    """Return the labels of the entries of ``directed_adjacency``; missing labels form one further label.

    If a walk crosses edges in both directions and the labels of the two directions differ, the label of the
    heavier direction counts; for equal weights, the label of the direction of the walk.
    """
    column = graphs.edge_label_column
    if column is None:
        ids, keys = np.zeros(graphs.adjacency.nnz, dtype=np.int32), label_keys((UNKNOWN,))
    else:
        keys = label_keys((*column.values, UNKNOWN))
        ids = np.where(column.ids < 0, len(column.values), column.ids).astype(np.int32)
    return CrossedEdges(ids[_stored_entries(graphs.adjacency, direction)], keys)


def _stored_entries(adjacency: csr_array, direction: str) -> NDArray[np.int64]:
    """Return, for each entry of the directed adjacency, the number of its stored entry."""
    numbers = np.arange(adjacency.nnz)
    if direction == "follow":
        return numbers
    numbered = csr_array((numbers, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    reverse = csr_array(numbered.T)
    reverse.sort_indices()
    if direction == "reverse":
        return np.asarray(reverse.data)
    there, back = _places(adjacency), _places(reverse)
    either = np.union1d(there, back)
    weight = np.full((2, len(either)), -np.inf)
    entry = np.zeros((2, len(either)), dtype=np.int64)
    for way, (places, entries) in enumerate([(there, numbers), (back, reverse.data)]):
        at = np.searchsorted(either, places)
        entry[way, at] = entries
        weight[way, at] = adjacency.data[entry[way, at]]
    return np.where(weight[0] >= weight[1], entry[0], entry[1])


def _places(matrix: csr_array) -> NDArray[np.int64]:
    """Return ``row * n_columns + column`` of each entry, ascending."""
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices


def edges_of_operator(graphs: GraphDatabase, operator: AffineOperator, direction: str) -> CrossedEdges:
    """Return the edge labels of an operator's adjacency, which must have the edges of the graphs."""
    expected, actual = directed_adjacency(graphs, direction), operator.adjacency
    if not (
        np.array_equal(expected.indptr, actual.indptr) and np.array_equal(expected.indices, actual.indices)
    ):
        raise ValueError(
            "edge_labels=True needs a propagation scheme that walks along the edges of the graphs"
        )
    return crossed_edges(graphs, direction)


StepLike: TypeAlias = Callable[[NDArray[np.float64], csr_array], ArrayLike]  # P_{t+1} of P_t and T


class StepFunction(PropagationScheme):
    """A function of P_t and T that returns P_{t+1}, as a scheme."""

    def __init__(self, function: StepLike) -> None:
        self.function = function

    def prepare(self, graphs: GraphDatabase, initial: InitialDistributions) -> csr_array:
        """Return T of these graphs."""
        return transition_matrix(graphs)

    def step(
        self, prepared: csr_array, current: NDArray[np.float64], initial: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the result of the function."""
        following = np.asarray(self.function(current.copy(), prepared), dtype=np.float64)
        if following.shape != current.shape:
            raise ValueError(
                f"the function of propagation= must return an array of the shape of P, {current.shape}; "
                f"got {following.shape}"
            )
        return following


SchemeLike: TypeAlias = str | PropagationScheme | StepLike

# Schemes by name; each module registers its schemes, and the package imports all modules.
SCHEMES: dict[str, Callable[[], PropagationScheme]] = {
    "diffusion": Diffusion,
    "lazy_diffusion": partial(Diffusion, laziness=0.5),
}


def resolve_scheme(propagation: Any, on_grids: bool = False) -> PropagationScheme:
    """Return the scheme of that name, or a copy of the given scheme; "auto" is diffusion or convolution."""
    if isinstance(propagation, str):
        check_choice(propagation, ("auto", *SCHEMES), "propagation")
        default = "convolution" if on_grids else "diffusion"
        return SCHEMES[default if propagation == "auto" else propagation]()
    if isinstance(propagation, type) or not all(hasattr(propagation, m) for m in ("prepare", "step")):
        if not callable(propagation) or isinstance(propagation, type):
            raise TypeError(
                "propagation must be a name, a scheme with the methods prepare and step, or a function of "
                f"P and T; got {shown(propagation)}"
            )
        return StepFunction(propagation)
    if isinstance(propagation, BaseEstimator):
        return clone(propagation)
    copied: Any = copy.deepcopy(propagation)
    copied.affine = getattr(copied, "affine", False)
    return copied
