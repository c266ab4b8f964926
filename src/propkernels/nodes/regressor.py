"""NodeRegressor: numbers at the nodes of a graph, from a few labeled nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from propkernels._utils.checks import check_integer, shown
from propkernels._utils.stored import require
from propkernels._utils.typing import Floats, Folding, Seed, Target
from propkernels.graphs.accepted import OneGraph
from propkernels.models.targets import LARGEST, NumberTarget
from propkernels.nodes.choosing import COSTS
from propkernels.nodes.explanation import NodeExplanation
from propkernels.nodes.known import KnownNodes
from propkernels.nodes.model import Learned, NodeModel

Matrix = NDArray[np.float64]


class NodeRegressor(RegressorMixin, NodeModel):
    """Regressor of numbers at the nodes of a graph, some of which are known.

    Views and their choice are those of :class:`NodeClassifier`; machines minimize squared errors.

    Parameters
    ----------
    C : float or sequence of float, default=(0.01, 0.1, 1, 10, 100)
        Candidates for the cost of errors, for features with the mean square norm 1 and standardized targets.
    direction : {"both", "follow", "reverse"}, default="both"
        Direction in which walks cross directed edges.
    cv : int, splitter, iterable or None, default=None
        Folds of the labeled nodes for the choice; None: five.
    random_state : int, RandomState or None, default=None
        Seed of folds, landmarks and hash functions.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    views_ : list of str
        Views whose predictions are averaged, the best first.
    score_ : float
        Score of the best view on held-out nodes.
    transduction_ : ndarray, (N,) or (N, columns)
        Predicted numbers of all nodes of the training graph.
    decisions_ : ndarray, (N, decisions)
        Decisions about the nodes of the training graph.
    graph_ : GraphDatabase
        The training graph.
    nodes_ : ndarray of int
        Its labeled nodes.

    See Also
    --------
    NodeClassifier : The same for classes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett and K. Kersting (2013). Coinciding walk kernels: parallel absorbing random
       walks for learning with graphs and few labels. Asian Conference on Machine Learning, 357-372.

    Examples
    --------
    >>> import networkx as nx, numpy as np, propkernels as pk
    >>> path = nx.path_graph(60)
    >>> known = np.random.default_rng(0).random(60) < 0.5
    >>> y = np.where(known, np.arange(60), np.nan)
    >>> model = pk.NodeRegressor(random_state=0).fit(path, y)
    >>> model.score(None, np.arange(60.0)) > 0.8
    True
    """

    _middle: NDArray[np.float64]
    _unit: NDArray[np.float64]
    _n_columns: int

    def __init__(
        self,
        *,
        C: Floats = COSTS,
        direction: str = "both",
        cv: Folding = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.direction = direction
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learning_target(self, known: KnownNodes, weights: Any) -> tuple[NumberTarget, Matrix]:
        several = known.target.ndim == 2
        target = NumberTarget.of(known.target, len(known.nodes), several, weights)
        return target, _spread(target.columns)

    def _keep_target(self, target: NumberTarget, learned: Learned) -> None:
        self._middle, self._unit = target.middle, target.unit
        self._n_columns = len(target.unit) if len(target.unit) > 1 else 0

    def _spread_of(self, target: NDArray[Any]) -> Matrix:
        try:
            values = np.asarray(target, dtype=np.float64).reshape(len(target), -1)
        except (TypeError, ValueError):
            raise ValueError(f"known targets must be numbers, got {shown(target)}") from None
        if values.shape[1] != self._n_decisions:
            raise ValueError(f"a known target has {self._n_decisions} columns, got {values.shape[1]}")
        with np.errstate(over="ignore"):
            scaled = (values - self._middle) / self._unit
        if not (np.abs(scaled[~np.isnan(values)]) <= LARGEST).all():
            raise ValueError("known targets must be finite, and not too large for the unit of those in fit")
        return _spread(scaled)

    def predict(
        self, X: OneGraph | None = None, y: Target | None = None, *, nodes: ArrayLike | None = None
    ) -> Matrix:
        """Return the number of each node of the training graph, or of another graph.

        Parameters
        ----------
        X : graph, optional
            By default the training graph.
        y : array-like, optional
            Known targets of the nodes of ``X``, with gaps, as in ``fit``.
        nodes : mask or sequence of names or numbers, optional
            Without y, the nodes to decide about, by default all; with y, the nodes of its entries.
        """
        return self._predictions(self._decisions(X, y, nodes))

    @property
    def _n_decisions(self) -> int:
        """Number of decisions about a node."""
        return max(self._n_columns, 1)

    def _check_parts(self) -> None:
        """Raise unless every decision has a mean and a unit."""
        super()._check_parts()
        if hasattr(self, "_unit"):
            shape = (self._n_decisions,)
            require(self._middle.shape == shape == self._unit.shape, "every decision needs mean and unit")

    def _predictions(self, decisions: Matrix) -> Matrix:
        values = decisions * self._unit + self._middle
        return values if self._n_columns else values[:, 0]

    def explain(self, nodes: ArrayLike, column: int = 0) -> NodeExplanation:
        """Return contributions of neighbors, columns and steps to predictions of nodes of the training graph.

        Contributions are in units of the target; the intercept holds its mean.

        Parameters
        ----------
        nodes : name or number, mask, or sequence of names or numbers
        column : int, default=0
            Column of a target with several columns.
        """
        chosen, width = self._chosen(nodes, "nodes"), len(self._unit)
        number = check_integer(column, "column", 0, width - 1)
        weights = np.tile(np.eye(width)[number] * self._unit[number], (len(chosen), 1))
        found = self._explain(chosen, weights, [str(i) for i in range(width)])
        for tally in found.tallies:
            tally.intercept += float(self._middle[number])
        return replace(found, decisions=found.decisions + self._middle[number])

    def score(self, X: OneGraph | None, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2 on the nodes of a graph whose number is known; X None: the training graph."""
        predicted, known = self._score_parts(X, y, False)
        return float(r2_score(known.target, predicted, sample_weight=known.weights(sample_weight)))


def _spread(target: Matrix) -> Matrix:
    """Return the columns that are propagated; a missing number is the mean, 0."""
    columns = target.reshape(len(target), -1)
    return np.where(np.isnan(columns), 0.0, columns)
