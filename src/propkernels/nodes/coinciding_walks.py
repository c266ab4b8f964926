"""CoincidingWalkKernel: the probability that parallel absorbing walks end at the same label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import GraphInput, check_integer, shown
from propkernels._utils.stored import SOMETIMES, is_array, require
from propkernels._utils.typing import Matrix, PriorLike, Target
from propkernels.convert.check import named_graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.nodes.known import KnownNodes
from propkernels.propagation.initial import InitialDistributions, Prior, initial_distributions, learn_prior
from propkernels.propagation.schemes import check_step
from propkernels.propagation.walks import AbsorbingWalk


@dataclass(kw_only=True, eq=False, repr=False)
class WalkParameters:
    """Parameters of :class:`CoincidingWalkKernel`."""

    t_max: int = 10
    alpha: float = 1.0
    prior: PriorLike = "uniform"
    direction: str = "follow"


class CoincidingWalkKernel(WalkParameters, GraphInput, TransformerMixin, BaseEstimator):
    """Coinciding walk kernel between nodes, K(u, v) = 1 / (T + 1) sum_t sum_c P_t(u, c) P_t(v, c).

    P_t(u, c) is the probability that a walk of t steps from u ends at label c: walks move along T = D^{-1} A,
    and at a labeled node they are absorbed with probability alpha. P_0 is the label of a labeled node, and
    the prior at other nodes. The kernel is the mean, over t = 0..T, of the probability that two walks in
    parallel end at the same label.

    Parameters
    ----------
    t_max : int, default=10
        Longest walks, T.
    alpha : float in (0, 1], default=1
        Probability of absorption at a labeled node.
    prior : {"uniform", "frequency"}, mapping or sequence, default="uniform"
        Initial distribution of nodes without a label.
    direction : {"follow", "reverse", "both"}, default="follow"
        Direction in which walks cross directed edges.

    Attributes
    ----------
    features_ : ndarray of shape (N, (t_max + 1) * labels)
        P_0 .. P_T of the training graph side by side, divided by sqrt(T + 1): dot products are the kernel.
    labels_ : tuple
        Labels of the columns.

    See Also
    --------
    NodeClassifier : Chooses among this and other views of nodes.
    propkernels.propagation.AbsorbingWalk : The walk.
    PropagationKernel : The kernel between graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett and K. Kersting (2013). Coinciding walk kernels: parallel absorbing random
       walks for learning with graphs and few labels. Asian Conference on Machine Learning, 357-372.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> kernel = pk.nodes.CoincidingWalkKernel(t_max=1)
    >>> kernel.fit_transform(nx.path_graph(3), ["a", None, "b"]).round(3)
    array([[1. , 0.5, 0. ],
           [0.5, 0.5, 0.5],
           [0. , 0.5, 1. ]])
    """

    features_: NDArray[np.float64]
    labels_: tuple[Any, ...]
    _prior: Prior
    _n_features_out: Annotated[int, SOMETIMES]

    def fit(self, X: OneGraph, y: Target | None = None) -> Self:
        """Run the walks on a graph.

        Parameters
        ----------
        X : graph or GraphDatabase
            See :func:`propkernels.convert.check_graph`.
        y : array-like of shape (N,), optional
            Label of each node; -1 among integers, None and NaN mean unknown. By default the node labels of
            the graph.
        """
        check_integer(self.t_max, "t_max", 0)
        graphs = labeled_graph(X, y)
        prior = learn_prior(graphs.label_column, self.prior)  # type: ignore[arg-type]
        features = self._walk(graphs, prior)
        self.features_, self._prior, self.labels_ = features, prior, tuple(prior.values)
        return self

    def _check_parts(self) -> None:
        """Raise unless stored features are numbers, one column per label and step."""
        if hasattr(self, "features_"):
            require(is_array(self.features_, "f", 2), "features are a matrix")
            n_labels = len(self._prior.values)
            fits = n_labels > 0 and self.features_.shape[1] % n_labels == 0
            require(
                fits and bool(np.isfinite(self.features_).all()), "features are finite, by label and step"
            )

    def _walk(self, graphs: GraphDatabase, prior: Prior) -> Matrix:
        """Return P_0 .. P_T side by side, (N, (T + 1) * labels), divided by sqrt(T + 1)."""
        column = graphs.label_column
        assert column is not None
        initial = initial_distributions(column, prior)
        check_room(graphs.n_nodes, max(len(prior.values) * (self.t_max + 1), len(initial.values)), 2)
        start = _columns_of(prior.values, initial)
        scheme = AbsorbingWalk(alpha=self.alpha, direction=self.direction)
        walk, steps = scheme.prepare(graphs, initial), [start]
        for t in range(1, self.t_max + 1):
            steps.append(scheme.step(walk, steps[-1], start))
            check_step(steps[-1], t, scheme)
        return np.hstack(steps) / np.sqrt(self.t_max + 1)

    def fit_transform(self, X: OneGraph, y: Target | None = None, **fit_params: Any) -> Matrix:
        """Fit, and return the kernel matrix of all nodes, (N, N)."""
        features = self.fit(X, y).features_
        return _gram(features, features)

    def transform(self, X: OneGraph, y: Target | None = None) -> Matrix:
        """Return the kernel between the nodes of a graph and those of the training graph, (M, N).

        Parameters
        ----------
        X : graph or GraphDatabase
        y : array-like of shape (M,), optional
            Known labels of this graph, with gaps; by default its node labels.
        """
        new = self.features(X, y)
        if new.shape[1] != self.features_.shape[1]:
            raise ValueError(f"t_max is {self.t_max}, but was another in fit: fit again")
        return _gram(new, self.features_)

    def features(self, X: OneGraph, y: Target | None = None) -> Matrix:
        """Return P_0 .. P_T of the nodes of a graph side by side, such that dot products are the kernel."""
        check_is_fitted(self, "features_")
        return self._walk(labeled_graph(X, y), self._prior)


def labeled_graph(X: Any, y: Any) -> GraphDatabase:
    """Return a graph whose node labels are y; raise if neither y nor the graph has labels."""
    graphs, names = named_graph(X)
    if y is not None:
        known = KnownNodes.of(y, None, graphs.n_nodes, names=names)
        if known.target.ndim == 2:
            raise ValueError("y has several columns: give one label per node, or fit a kernel per column")
        labels = np.full(graphs.n_nodes, None, dtype=object)
        labels[known.nodes] = known.target.tolist()
        graphs = graphs.with_labels(labels)
    if graphs.label_column is None:
        raise ValueError("the graph has no node labels: give y, one label per node, None where it is unknown")
    return graphs


def _columns_of(labels: Sequence[Any], initial: InitialDistributions) -> Matrix:
    """Return P_0 with one column per label of fit; raise an error if a node has another label."""
    dense, place = initial.to_dense(), {label: i for i, label in enumerate(labels)}
    used = [i for i in range(dense.shape[1]) if dense[:, i].any()]  # a subset may list more labels
    new = [initial.values[i] for i in used if initial.values[i] not in place]
    if new:
        raise ValueError(f"the graph has the label {shown(new[0])}, which did not occur in fit")
    aligned = np.zeros((len(dense), len(labels)))
    aligned[:, [place[initial.values[i]] for i in used]] = dense[:, used]
    return aligned


def _gram(first: Matrix, second: Matrix) -> Matrix:
    """Return all dot products; raise KernelTooLargeError if they do not fit into memory."""
    check_room(len(first), len(second), ways_out="use features_, whose dot products are the kernel")
    return np.asarray(first @ second.T)
