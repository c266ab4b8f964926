"""PropagationClassifier: graphs and classes in, a decision for any new graph out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from propkernels.checks import check_choice, check_integer
from propkernels.graphs.check import check_graphs
from propkernels.learn.comparison import compare_classes
from propkernels.learn.defaults import check_kernels
from propkernels.learn.duals import class_scores, pairwise_coefficients, vote
from propkernels.learn.explain import explain_rule
from propkernels.learn.explanation import Explanation
from propkernels.learn.folding import FoldedRule, decision_rule
from propkernels.learn.grid import DEFAULT_COSTS, check_costs, check_steps
from propkernels.learn.machine import count_correct
from propkernels.learn.search import Selection, search
from propkernels.learn.splits import Indices, check_target, draw_seeds, inner_folds

Matrix = NDArray[np.float64]


class PropagationClassifier(ClassifierMixin, BaseEstimator):
    """Classify graphs with a C-SVM on a graph kernel, everything chosen by cross-validation.

    The kernel, t_max, normalisation and C are chosen by stratified cross-validation on the training graphs,
    from one pass of propagation for each kernel. Where the kernel is a dot product of counts (all
    propagation kernels with the linear base kernel), the machine is folded into one weight a bin: no
    support vectors are kept, and a new graph is classified in time linear in its nodes.

    Parameters
    ----------
    kernel : estimator, list of estimators, or None, default=None
        Any kernel of this library; a list is a choice; None: propagation kernels by what the graphs carry.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own.
    C : float or sequence of float, default=(0.01, 0.1, 1, 10, 100, 1000)
        Candidates for the cost, in units of the kernel's mean diagonal.
    normalize : {"auto", True, False, None}, default="auto"
        Whether kernels are normalised; "auto": tried both ways; None: as the kernel says.
    n_folds : int, default=5
        Folds of the cross-validation that chooses.
    random_state : int, RandomState or None, default=None
        Seed of hash functions and folds.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    kernel_ : estimator
        The chosen kernel with its settings (unfitted if the machine was folded).
    t_max_, normalize_, C_ : chosen settings
    score_ : float
        Share of graphs that the choice classified correctly in cross-validation.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(80, random_state=0)
    >>> model = pk.PropagationClassifier(random_state=0).fit(data.graphs[:60], data.target[:60])
    >>> model.predict(data.graphs[60:]).shape
    (20,)
    >>> explanation = model.explain(data.graphs[60:62])
    >>> explanation.contributions.shape[0] == data.graphs[60:62].n_nodes
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = None,
        t_max: Any = None,
        C: Any = DEFAULT_COSTS,
        normalize: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.t_max = t_max
        self.C = C
        self.normalize = normalize
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the settings, and learn from all training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : array-like of shape (n,)
            Class of each graph.

        Returns
        -------
        self
        """
        check_choice(self.normalize, ("auto", True, False, None), "normalize")
        costs, steps = check_costs(self.C), check_steps(self.t_max)
        graphs = check_graphs(X)
        target, classes = check_target(y, len(graphs)), np.unique(np.asarray(y))
        seeds = draw_seeds(self.random_state, 1)[0]
        folds = inner_folds(target, check_integer(self.n_folds, "n_folds", 2), seeds.inner)
        kernels = check_kernels(self.kernel, graphs, self.n_jobs)
        chosen = search(
            kernels, graphs, target, folds, self.normalize, steps, costs, count_correct, seeds.kernel
        )
        machine = _fitted_machine(chosen, target, np.arange(len(graphs)))
        calibration = _calibration(chosen, target, folds)
        fitted = clone(chosen.kernel).fit(graphs)
        self.rule_, self.intercept_ = decision_rule(fitted, machine[0]), machine[1]
        self.kernel_ = chosen.kernel if isinstance(self.rule_, FoldedRule) else fitted
        self.t_max_, self.normalize_, self.C_ = chosen.t_max, chosen.normalize, chosen.C
        self.calibration_, self.classes_ = calibration, classes
        self.score_ = chosen.score / len(graphs)
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return one value a graph for two classes (positive: the second), else one a class.

        Returns
        -------
        ndarray of shape (m,) or (m, classes)
        """
        scores = _public_scores(self._pairs(X), len(self.classes_))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each graph, as the C-SVM votes."""
        return np.asarray(self.classes_[vote(self._pairs(X), len(self.classes_))])

    def predict_proba(self, X: Any) -> Matrix:
        """Return calibrated class probabilities, columns in the order of ``classes_``."""
        scores = _public_scores(self._pairs(X), len(self.classes_))
        return np.asarray(self.calibration_.predict_proba(scores))

    def explain(self, X: Any, classes: Any = None) -> Explanation:
        """Say which nodes, at which iterations, speak for one class against another.

        With a linear base kernel the decision is a sum over nodes and iterations, exactly.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        classes : pair, or one class, optional
            The class that positive contributions speak for, and the one it is compared with; one class
            alone is compared with the mean of the others. By default the second of two classes with the
            first.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self, "rule_")
        if not isinstance(self.rule_, FoldedRule):
            name = type(self.kernel_).__name__
            raise TypeError(f"{name} is no sum over nodes: its decisions cannot be explained")
        graphs, (weights, *names) = check_graphs(X), compare_classes(self.classes_.tolist(), classes)
        return explain_rule(self.rule_, graphs, weights, self.intercept_, self.n_jobs, *names)

    def _pairs(self, X: Any) -> Matrix:
        check_is_fitted(self, "rule_")
        return self.rule_.decisions(check_graphs(X), self.n_jobs) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


def _fitted_machine(
    chosen: Selection, target: NDArray[np.int64], train: Indices
) -> tuple[Matrix, NDArray[np.float64]]:
    """Dual coefficients and intercepts of the machine that learned from some graphs.

    The mean of the training diagonal is the unit of C.
    """
    matrix = chosen.matrix[np.ix_(train, train)]
    scale = float(matrix.diagonal().mean()) or 1.0
    machine = SVC(kernel="precomputed", C=chosen.C).fit(matrix / scale, target[train])
    coefficients, intercepts = pairwise_coefficients(machine, len(train))
    return coefficients / scale, intercepts


def _calibration(chosen: Selection, target: NDArray[np.int64], folds: Any) -> LogisticRegression:
    """Learn probabilities from decisions on graphs that were not learned from (Platt scaling)."""
    n_classes = int(target.max()) + 1
    scores = np.zeros((len(target), 1 if n_classes == 2 else n_classes))
    for train, held in folds:
        coefficients, intercepts = _fitted_machine(chosen, target, train)
        decisions = chosen.matrix[np.ix_(held, train)] @ coefficients + intercepts
        scores[held] = _public_scores(decisions, n_classes)
    return LogisticRegression(C=1e3, max_iter=1000).fit(scores, target)


def _public_scores(decisions: Matrix, n_classes: int) -> Matrix:
    """Scores by class; for two classes the decision for the second."""
    return -decisions if n_classes == 2 else class_scores(decisions, n_classes)
