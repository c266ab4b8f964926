"""NodeClassifier and NodeRegressor: targets of the nodes of a graph, from a few labeled nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import check_integer, shown
from propkernels._utils.stored import require
from propkernels._utils.typing import Array, ClassWeight, Indices, Matrix, Target
from propkernels.explain.decisions import DecisionLayout, compare_decisions
from propkernels.graphs.grid_database import OneGraph
from propkernels.models.calibrate import Calibration, calibrate, calibrate_labels
from propkernels.models.targets import LARGEST, ClassTarget, NumberTarget, accuracy, explained_variance
from propkernels.nodes.explanation import NodeExplanation
from propkernels.nodes.known import KnownNodes
from propkernels.nodes.model import NodeModel, NodeParameters


@dataclass(kw_only=True, eq=False, repr=False)
class NodeClassifierParameters(NodeParameters):
    """Parameters of :class:`NodeClassifier`."""

    class_weight: ClassWeight = None


class NodeClassifier(ClassifierMixin, NodeClassifierParameters, NodeModel):
    """Classifier of the nodes of one graph (or of all nodes of several graphs), some of which are labeled.

    Nodes are seen through several views: their attributes; attributes summed over 2, 4 and 10 steps of a
    walk; attributes, positional statistics and targets of nodes up to three or four steps away, side by side
    (with a linear and a radial machine); and codes of neighborhoods. Views are compared by the squared error
    of decisions about held-out nodes, whose targets are removed before propagation. The best one is joined
    greedily by at most two others, while the error of their average falls [4]_. A node's own target never
    enters its features.

    Decisions move half the way from the shares of classes among held-out nodes to those among unlabeled
    nodes, which are estimated from predictions [3]_; not with ``class_weight`` or weights of
    nodes.

    Parameters
    ----------
    C : float or sequence of float, default=(0.01, 0.1, 1, 10, 100)
        Candidates for the cost of errors, for features with the mean square norm 1.
    direction : {"both", "follow", "reverse"}, default="both"
        Direction in which walks cross directed edges.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in training.
    cv : int, splitter, iterable or None, default=None
        Folds of the labeled nodes for the choice; None: five stratified folds, or fewer if the smallest
        class has fewer nodes.
    random_state : int, RandomState or None, default=None
        Seed of folds, landmarks and hash functions.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. Their number changes no bit.

    Attributes
    ----------
    classes_ : ndarray
    views_ : list of str
        Views whose decisions are averaged, the best first.
    score_ : float
        Accuracy of the decisions about held-out nodes.
    transduction_ : ndarray, (N,)
        Predicted class of each node of the training graph.
    decisions_ : ndarray, (N, decisions)
        Decisions about the nodes of the training graph.
    graph_ : GraphDatabase
        The training graph.
    nodes_ : ndarray of int
        Its labeled nodes.
    calibration_ : Calibration or None
        Map from decisions to probabilities, learned on held-out nodes.

    See Also
    --------
    NodeRegressor : The same for numbers.
    propkernels.nodes.NodeFeatures : The columns.
    propkernels.nodes.CoincidingWalkKernel : The kernel of absorbing walks.
    PropagationClassifier : Classes of graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett and K. Kersting (2013). Coinciding walk kernels: parallel absorbing random
       walks for learning with graphs and few labels. Asian Conference on Machine Learning, 357-372.
    .. [2] F. Wu, A. Souza, T. Zhang, C. Fifty, T. Yu and K. Weinberger (2019). Simplifying graph
       convolutional networks. International Conference on Machine Learning, 6861-6871.
    .. [3] A. Alexandari, A. Kundaje and A. Shrikumar (2020). Maximum likelihood with bias-corrected
       calibration is hard-to-beat at label shift adaptation. International Conference on Machine Learning,
       222-232.
    .. [4] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes (2004). Ensemble selection from libraries of
       models. International Conference on Machine Learning, 18.

    Examples
    --------
    >>> import networkx as nx, numpy as np, propkernels as pk
    >>> club = nx.karate_club_graph()
    >>> truth = np.array([club.nodes[i]["club"] == "Officer" for i in club]).astype(int)
    >>> y = np.full(34, -1)
    >>> y[[0, 1, 2, 3, 30, 31, 32, 33]] = truth[[0, 1, 2, 3, 30, 31, 32, 33]]
    >>> model = pk.NodeClassifier(random_state=0).fit(nx.to_scipy_sparse_array(club), y)
    >>> bool(np.mean(model.predict() == truth) > 0.9)
    True
    """

    calibration_: Calibration | None
    classes_: Any  # an array of numbers, texts or objects
    _layout: DecisionLayout

    def _learning_target(self, known: KnownNodes, weights: Any) -> tuple[ClassTarget, Matrix]:
        target = ClassTarget.of(known.target, len(known.nodes), weights, self.class_weight)
        return target, _class_columns(target.values, len(target.classes))

    def _keep_target(self, target: ClassTarget, held: Indices, decisions: Matrix) -> None:
        self.classes_, self.calibration_ = target.classes, None
        self._layout = DecisionLayout(len(target.classes), target.multilabel)
        truth = target.values[held]
        if target.multilabel and len(held):
            self.calibration_ = calibrate_labels(decisions, truth)
        elif len(held):
            self.calibration_ = calibrate(decisions, truth)
        right = (self._layout.predictions(decisions) == truth)[~np.isnan(truth)]
        self.score_ = float(right.mean()) if len(held) else float("nan")

    def _spread_of(self, target: NDArray[Any]) -> Matrix:
        if self._layout.multilabel:
            return _class_columns(np.asarray(target, dtype=np.float64), len(self.classes_))
        unknown = ~np.isin(target, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the class {shown(target[unknown].tolist()[0])}, which did not occur in fit"
            )
        return _class_columns(np.searchsorted(self.classes_, target), len(self.classes_))

    def decision_function(
        self, X: OneGraph | None = None, y: Target | None = None, *, nodes: ArrayLike | None = None
    ) -> Matrix:
        """Return one decision per node for two classes (positive: the second), else one per class or label.

        See :meth:`predict` for the parameters.
        """
        decisions = self._decisions(X, y, nodes)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    @property
    def _n_decisions(self) -> int:
        """Number of decisions about a node."""
        return self._layout.n_decisions

    def _check_parts(self) -> None:
        """Raise unless decisions, classes and probabilities match."""
        super()._check_parts()
        if hasattr(self, "_layout"):
            self._layout.check_classes(self.classes_)

    def _predictions(self, decisions: Matrix) -> Array:
        numbers = self._layout.predictions(decisions)
        return numbers if self._layout.multilabel else np.asarray(self.classes_[numbers])

    def predict_proba(
        self, X: OneGraph | None = None, y: Target | None = None, *, nodes: ArrayLike | None = None
    ) -> Matrix:
        """Return calibrated probabilities of the classes, or one per label.

        See :meth:`predict` for the parameters.
        """
        check_is_fitted(self, "_rule")
        decisions = self._decisions(X, y, nodes)
        if self.calibration_ is None:
            raise ValueError("probabilities need held-out nodes: label at least two nodes of each class")
        return self.calibration_.probabilities(decisions)

    def explain(self, nodes: ArrayLike, classes: object = None) -> NodeExplanation:
        """Return contributions of neighbors, columns and steps to decisions on nodes of the training graph.

        Contributions add up to the decision: exactly for linear views, and up to 1e-12 for radial ones.

        Parameters
        ----------
        nodes : name or number, mask, or sequence of names or numbers
        classes : class, or pair of classes, optional
            The class whose decision is explained; of a pair, its decision minus that of the second class.
            Default: the predicted class of each node; of two classes, the second. With several labels, the
            number of one label.

        Returns
        -------
        NodeExplanation
        """
        chosen, names = self._chosen(nodes, "nodes"), [str(name) for name in self.classes_]
        if classes is None and len(self.classes_) > 2 and not self._layout.multilabel:
            predicted = self._layout.predictions(self.decisions_[chosen])
            weights = np.eye(len(self.classes_))[predicted]
            return self._explain(chosen, weights, names, self.classes_[predicted])
        weights, first, other = compare_decisions(self._layout, self.classes_.tolist(), classes)
        return self._explain(chosen, np.tile(weights, (len(chosen), 1)), names, first, other)

    def score(self, X: OneGraph | None, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the nodes of a graph whose class is known; X None: the training graph.

        With several labels, the share of correct entries among the observed ones.
        """
        return self._score(accuracy, X, y, sample_weight)


def _class_columns(target: NDArray[Any], width: int) -> Matrix:
    """Return the columns that are propagated: one per class or label; a missing label is the mean."""
    if target.ndim == 2:
        return np.where(np.isnan(target), np.nanmean(target, axis=0), target)
    return np.eye(width)[target]


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
        1 minus the mean squared error of decisions about held-out nodes, in variances of the target.
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

    def _learning_target(self, known: KnownNodes, weights: Any) -> tuple[NumberTarget, Matrix]:
        target = NumberTarget.of(known.target, len(known.nodes), weights)
        return target, np.nan_to_num(target.columns)  # a missing number is the mean, 0

    def _keep_target(self, target: NumberTarget, held: Indices, decisions: Matrix) -> None:
        self._middle, self._unit = target.middle, target.unit
        self._n_columns = len(target.unit) if len(target.unit) > 1 else 0
        wrong = (decisions - target.columns[held]) ** 2
        self.score_ = 1.0 - float(np.nanmean(wrong)) if len(held) else float("nan")

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
        return np.nan_to_num(scaled)

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
        return self._score(explained_variance, X, y, sample_weight)
