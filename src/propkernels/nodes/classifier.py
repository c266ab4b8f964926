"""NodeClassifier: classes of the nodes of a graph, from a few labeled nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import shown
from propkernels._utils.typing import Array, ClassWeight, Floats, Folding, Seed, Target
from propkernels.explain.comparisons import Comparison, compare_decisions
from propkernels.explain.decision_columns import DecisionLayout
from propkernels.graphs.accepted import OneGraph
from propkernels.models.calibrate import Calibration, calibrate, calibrate_labels
from propkernels.models.targets import ClassTarget
from propkernels.nodes.choosing import COSTS
from propkernels.nodes.explanation import NodeExplanation
from propkernels.nodes.known import KnownNodes
from propkernels.nodes.model import Learned, NodeModel

Matrix = NDArray[np.float64]


class NodeClassifier(ClassifierMixin, NodeModel):
    """Classifier of the nodes of one graph (or of all nodes of several graphs), some of which are labeled.

    Nodes are seen through several views: their attributes; attributes summed over 2, 4 and 10 steps of a
    walk; attributes, positional statistics and targets of nodes up to three or four steps away, side by side
    (with a linear and a radial machine); and codes of neighborhoods. Views compete on held-out nodes, whose
    targets are removed before propagation. Decisions of at most four views are averaged, with shares that
    make the log loss on held-out nodes small [4]_. A node's own target never enters its features.

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
        Score of the best view on held-out nodes.
    transduction_ : ndarray, (N,)
        Predicted class of each node of the training graph.
    guesses_ : bool
        Whether machines also learned from guessed classes of unlabeled nodes, because that was better on
        held-out nodes.
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

    def __init__(
        self,
        *,
        C: Floats = COSTS,
        direction: str = "both",
        class_weight: ClassWeight = None,
        cv: Folding = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.direction = direction
        self.class_weight = class_weight
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learning_target(self, known: KnownNodes, weights: Any) -> tuple[ClassTarget, Matrix]:
        several = known.target.ndim == 2
        target = ClassTarget.of(known.target, len(known.nodes), several, weights, self.class_weight)
        return target, _spread(target.values, len(target.classes))

    def _keep_target(self, target: ClassTarget, learned: Learned) -> None:
        self.classes_ = target.classes
        self._layout = DecisionLayout(len(target.classes), target.multilabel)
        self.calibration_ = _calibration(learned, self._layout, target.values)

    def _spread_of(self, target: NDArray[Any]) -> Matrix:
        if self._layout.multilabel:
            return _spread(np.asarray(target, dtype=np.float64), len(self.classes_))
        unknown = ~np.isin(target, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the class {shown(target[unknown].tolist()[0])}, which did not occur in fit"
            )
        return _spread(np.searchsorted(self.classes_, target), len(self.classes_))

    def decision_function(
        self, X: OneGraph | None = None, y: Target | None = None, *, nodes: ArrayLike | None = None
    ) -> Matrix:
        """Return one decision per node for two classes (positive: the second), else one per class or label.

        Parameters
        ----------
        X : graph, optional
            By default the training graph.
        y : array-like, optional
            Known targets of the nodes of ``X``, with gaps, as in ``fit``.
        nodes : mask or sequence of names or numbers, optional
            Without y, the nodes to decide about, by default all; with y, the nodes of its entries.
        """
        decisions = self._decisions(X, y, nodes)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(
        self, X: OneGraph | None = None, y: Target | None = None, *, nodes: ArrayLike | None = None
    ) -> Array:
        """Return the class of each node of the training graph (or of ``nodes``), or of another graph.

        See :meth:`decision_function` for the parameters.
        """
        return self._predictions(self._decisions(X, y, nodes))

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

        See :meth:`decision_function` for the parameters.
        """
        check_is_fitted(self, "_members")
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
        weights, first, other = self._comparison(classes)
        return self._explain(chosen, np.tile(weights, (len(chosen), 1)), names, first, other)

    def _comparison(self, classes: Any) -> Comparison:
        return compare_decisions(self._layout, self.classes_.tolist(), classes)

    def score(self, X: OneGraph | None, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the nodes of a graph whose class is known; X None: the training graph."""
        predicted, known = self._score_parts(X, y, True)
        return float(accuracy_score(known.target, predicted, sample_weight=known.weights(sample_weight)))


def _spread(target: NDArray[Any], width: int) -> Matrix:
    """Return the columns that are propagated: one per class or label; a missing label is the mean."""
    if target.ndim == 2:
        return np.where(np.isnan(target), np.nanmean(target, axis=0), target)
    return np.eye(width)[target]


def _calibration(learned: Learned, layout: DecisionLayout, target: NDArray[Any]) -> Calibration | None:
    """Return the calibration of decisions on held-out nodes; None without such nodes of two classes."""
    held = learned.choice.held
    if not len(held):
        return None
    if layout.multilabel:
        return calibrate_labels(learned.held_decisions, target[held])
    return calibrate(learned.held_decisions, target[held]) if len(np.unique(target[held])) > 1 else None
