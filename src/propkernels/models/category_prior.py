"""CategoryPrior: class probabilities from the nearest training graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice, check_integer, shown
from propkernels._utils.stored import Indices, require
from propkernels._utils.typing import Array, Estimator, Seed, Steps, Target
from propkernels.convert.check import check_graphs
from propkernels.counts.products import normalized
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.models.candidates import check_steps
from propkernels.models.folds import draw_seeds
from propkernels.models.kernel_sources import check_kernel, compute_stack, redrawn
from propkernels.models.targets import check_target, known_targets

Matrix = NDArray[np.float64]
Classes = NDArray[np.int64]
DIGITS = 12  # decimals of shares: rounding makes them independent of the order of summation


def class_shares(similarities: Matrix, classes: Classes, n_classes: int, n_neighbors: int) -> Matrix:
    """Return the sum of similarities to the nearest graphs, per class, normalized to sum 1.

    Parameters
    ----------
    similarities : ndarray, (m, n)
        Similarities of m graphs to n training graphs; -inf: ignored.
    classes : ndarray of int, (n,)
    n_classes : int
    n_neighbors : int
        Number of nearest graphs used; ties with the last one are included, so that order does not matter.

    Returns
    -------
    ndarray, (m, n_classes)
        Rows sum to 1. A graph without positive similarities gets the class frequencies.

    Examples
    --------
    >>> row, classes = np.array([[0.9, 0.1, 0.6, 0.3]]), np.array([0, 0, 1, 1])
    >>> class_shares(row, classes, 2, 3)
    array([[0.5, 0.5]])
    >>> class_shares(row, classes, 2, 2)
    array([[0.6, 0.4]])
    """
    return _shares(similarities, classes, n_classes, [n_neighbors])[0]


def leave_one_out(kernel: Matrix, classes: Classes, n_classes: int, sizes: Sequence[int]) -> list[float]:
    """Return the leave-one-out accuracy for each number of neighbors."""
    others = kernel.copy()
    np.fill_diagonal(others, -np.inf)
    possible = [min(size, len(classes) - 1) for size in sizes]
    shares = _shares(others, classes, n_classes, possible)
    return [float(np.mean(share.argmax(axis=1) == classes)) for share in shares]


def _shares(similarities: Matrix, classes: Classes, n_classes: int, sizes: Sequence[int]) -> list[Matrix]:
    """Return class shares for each number of neighbors; other similarities are skipped."""
    m, n = similarities.shape
    ranks = [n - min(size, n) for size in sizes]
    least = np.partition(similarities, sorted(set(ranks)), axis=1)[:, ranks]
    rows, columns = np.nonzero((similarities >= least.min(axis=1, keepdims=True)) & (similarities > 0))
    values, places = similarities[rows, columns], rows * n_classes + classes[columns]
    shares = []
    for i in range(len(sizes)):
        near = values >= least[rows, i]
        totals = np.bincount(places[near], values[near], m * n_classes).reshape(m, n_classes)
        isolated = totals.sum(axis=1) == 0
        totals[isolated] = np.isfinite(similarities[isolated]) @ np.eye(n_classes)[classes]
        shares.append(np.round(totals / totals.sum(axis=1, keepdims=True), DIGITS))
    return shares


class CategoryPrior(GraphInput, ClassifierMixin, BaseEstimator):
    """Class distribution of a graph from its row of the kernel matrix (the paper's 3-d object experiment).

    Each of the nearest training graphs votes for its class, weighted by its kernel value. The paper uses this
    as a prior on the category of objects given as point clouds; it needs no training beyond the kernel, and
    works with a handful of graphs per class. t_max and the
    number of neighbors are chosen by leave-one-out on the training graphs, from one pass of propagation.

    Parameters
    ----------
    kernel : estimator or None, default=None
        Any kernel of this library; None: a propagation kernel, with attributes if the graphs have them.
    n_neighbors : int or sequence of int, default=(1, 2, 3, 5, 10)
        Number of voting graphs, or candidates: the one with the best leave-one-out accuracy is chosen, the
        largest among equals. Ties with the last graph vote too.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own. Among equals the smallest.
    normalize : bool or None, default=True
        Whether to normalize the kernel, which makes the prior independent of the graphs' sizes; None: use the
        kernel's setting.
    random_state : int, RandomState or None, default=None
        Seed of hash functions.
    n_jobs : int or None, default=None
        Threads of the default kernel; None is one, -1 all cores.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    kernel_ : estimator
        The kernel, fitted on the training graphs.
    n_neighbors_, t_max_ : int
        Chosen values; ``t_max_`` is None for kernels without iterations.
    score_ : float
        Leave-one-out accuracy on the training graphs.
    target_ : ndarray
        Class number of each training graph.

    See Also
    --------
    PropagationClassifier : A discriminative model, for larger classes.
    GraphIndex : The nearest graphs themselves.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.4.2.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> kernel = pk.PropagationKernel(propagation=pk.Diffusion(0.5, "none"), t_max=3)
    >>> prior = pk.CategoryPrior(kernel=kernel, random_state=0).fit(data.graphs[:50], data.target[:50])
    >>> prior.predict_proba(data.graphs[50:]).shape
    (10, 2)
    """

    classes_: Any  # an array of numbers, texts or objects
    kernel_: Any
    n_neighbors_: int
    score_: float
    t_max_: int | None
    target_: Annotated[NDArray[Any], Indices("classes_")]

    def __init__(
        self,
        *,
        kernel: Estimator | None = None,
        n_neighbors: int | Sequence[int] | Array = (1, 2, 3, 5, 10),
        t_max: Steps = None,
        normalize: bool | None = True,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.t_max = t_max
        self.normalize = normalize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Graphs, y: Target) -> Self:
        """Choose t_max and the number of neighbors, and keep the training graphs' features.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : array-like of shape (n,)
            Class of each graph. Graphs with a missing class (None or NaN) are dropped, with a warning that
            gives their number.

        Returns
        -------
        self
        """
        check_choice(self.normalize, (True, False, None), "normalize")
        sizes, steps = _check_sizes(self.n_neighbors), check_steps(self.t_max)
        graphs = check_graphs(X)
        known = known_targets(y, len(graphs))
        known.warn()
        graphs, y = known.take(graphs), known.target
        target, classes = check_target(y, len(graphs)), np.unique(y)
        kernel = redrawn(self._resolved(graphs, steps), draw_seeds(self.random_state, 1)[0].kernel)
        best = max(_choices(kernel, graphs, target, sizes, steps), key=lambda choice: choice.rank)
        fitted = _with_steps(kernel, best.t_max).fit(graphs)
        self.kernel_, self.target_, self.classes_ = fitted, target, classes
        self.n_neighbors_, self.t_max_, self.score_ = best.n_neighbors, best.t_max, best.score
        return self

    def predict_proba(self, X: Graphs) -> Matrix:
        """Return class distributions, (graphs, classes), columns in the order of ``classes_``."""
        check_is_fitted(self, "kernel_")
        rows = np.asarray(self.kernel_.transform(check_graphs(X)), dtype=np.float64)
        return class_shares(rows, self.target_, len(self.classes_), self.n_neighbors_)

    def predict(self, X: Graphs) -> Array:
        """Return the most probable class of each graph; the first among equals."""
        largest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[largest])

    def score(self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on graphs with a known class."""
        graphs = check_graphs(X)
        known = known_targets(y, len(graphs))
        return float(super().score(known.take(graphs), known.target, known.take(sample_weight)))

    def _resolved(self, graphs: GraphDatabase, steps: tuple[int, ...] | None) -> Any:
        """Return a copy of the kernel, checked and normalized as requested."""
        attributes = None if graphs.node_attributes is None else "sum"
        default = PropagationKernel(attributes=attributes, n_jobs=self.n_jobs)
        kernel = default if self.kernel is None else self.kernel
        if isinstance(kernel, type) or not hasattr(kernel, "fit_transform"):
            raise TypeError(f"kernel must be an estimator with fit_transform, got {shown(kernel)}")
        check_kernel(kernel, steps)
        kernel = clone(kernel)
        if self.normalize is not None and "normalize" in kernel.get_params(deep=False):
            kernel.set_params(normalize=self.normalize)
        return kernel

    def _check_parts(self) -> None:
        """Refuse classes that do not match the training graphs."""
        if hasattr(self, "target_"):
            require(isinstance(self.kernel_, BaseEstimator), "a kernel is needed")
            require(self.classes_.ndim == self.target_.ndim == 1, "every training graph needs one class")
            n_graphs = getattr(self.kernel_, "_n_features_out", len(self.target_))
            require(len(self.target_) == n_graphs >= 1, "every training graph needs one class")
            require(self.n_neighbors_ >= 1, "at least one neighbor is needed")


class _Choice(NamedTuple):
    score: float
    n_neighbors: int
    t_max: int | None

    @property
    def rank(self) -> tuple[float, int, int]:
        return self.score, self.n_neighbors, -(self.t_max or 0)


def _choices(
    kernel: Any, graphs: GraphDatabase, target: NDArray[np.int64], sizes: list[int], steps: Any
) -> Iterator[_Choice]:
    """Yield all candidates with their leave-one-out accuracy, from one pass of the kernel."""
    n_classes = int(target.max()) + 1
    plain = clone(kernel)
    scale = bool(plain.get_params(deep=False).get("normalize", False))
    if scale:
        plain.set_params(normalize=False)
    for t, matrix in compute_stack(plain, graphs, steps).items():
        if np.isnan(matrix).any():
            raise ValueError("the kernel matrix is incomplete: its time limit was reached")
        squares = matrix.diagonal().copy()
        similarities = normalized(matrix.copy(), squares, squares) if scale else matrix
        for size, score in zip(sizes, leave_one_out(similarities, target, n_classes, sizes), strict=True):
            yield _Choice(score, size, t)


def _with_steps(kernel: Any, t_max: int | None) -> Any:
    return kernel if t_max is None else kernel.set_params(t_max=t_max)


def _check_sizes(n_neighbors: Any) -> list[int]:
    several = [n_neighbors] if np.ndim(n_neighbors) == 0 else list(n_neighbors)
    if not several:
        raise ValueError("n_neighbors needs at least one value, got none")
    return sorted({check_integer(size, "n_neighbors", 1) for size in several})
