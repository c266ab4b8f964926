"""PropagationClassifier: graphs and classes in, a decision for any new graph out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from propkernels.graphs.check import check_graphs
from propkernels.learn.explain.explain import compare_classes
from propkernels.learn.explain.explanation import Explanation
from propkernels.learn.machines.decisions import DecisionLayout
from propkernels.learn.machines.gaussian_process import mean_sigmoid
from propkernels.learn.machines.tasks import Classification
from propkernels.learn.models.base import Learned, PropagationModel, held_out_decisions
from propkernels.learn.models.calibration import Calibration
from propkernels.learn.selection.folds import check_target, draw_seeds, inner_folds
from propkernels.learn.selection.search import Folds
from propkernels.learn.selection.space import DEFAULT_COSTS
from propkernels.utils.checks import check_integer

Matrix = NDArray[np.float64]


class PropagationClassifier(ClassifierMixin, PropagationModel):
    """Classify graphs with a graph kernel, everything chosen by cross-validation.

    The kernel, t_max, normalisation and C are chosen by stratified cross-validation on the training graphs,
    from one pass of propagation for each kernel. Where the kernel is a dot product of counts (all
    propagation kernels with the linear base kernel), the SVM is folded into one weight per bin: no
    support vectors are kept, and a new graph is classified in time linear in its nodes.

    Parameters
    ----------
    kernel : estimator, list of estimators, or None, default=None
        Any kernel of this library; a list is a choice, also of laziness, scheme or treatment of attributes;
        None: propagation kernels by what the graphs carry.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own.
    C : float, sequence of float, or "paper", default=(0.01, 0.1, 1, 10, 100, 1000)
        Candidates for the cost, in units of the kernel's mean diagonal; with solver "gp", the variance of the
        latent function. "paper": the paper's values, for the kernel as it is.
    normalize : {"auto", True, False, None}, default="auto"
        Whether kernels are normalised; "auto": tried both ways; None: as the kernel says.
    solver : {"auto", "kernel", "linear", "gp"}, default="auto"
        "kernel": libsvm's C-SVM on kernel matrices. "linear": liblinear's on sparse features, for many
        graphs; no kernel matrix is formed. "gp": Gaussian process classification. "auto": "kernel" up to
        20,000 graphs, as long as the matrices of all t_max take at most 8 GiB, else "linear".
    selection : {"auto", "race", "exhaustive"}, default="auto"
        "exhaustive": leave out only candidates that cannot win. "race": also those significantly worse
        than the leader after some folds. "auto": exhaustive up to 1000 graphs.
    n_folds : int, default=5
        Folds of the cross-validation that chooses.
    random_state : int, RandomState or None, default=None
        Seed of hash functions and folds.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    verbose : bool, default=False
        Show a progress bar on a terminal.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    kernel_ : estimator
        The chosen kernel with its settings (unfitted if the machine was folded).
    t_max_, normalize_, C_, solver_ : chosen settings
    score_ : float
        Share of graphs that the choice classified correctly in cross-validation.
    rule_ : FoldedRule or KernelRule
        Decisions of any graph, without ``intercept_``; ``layout_`` says what they mean.
    calibration_ : Calibration or None
        From scores to probabilities.
    posterior_ : Posterior or None
        What the Gaussian process is unsure of.

    See Also
    --------
    PropagationRegressor : The same for real-valued targets.
    evaluate : Cross-validates this model or a kernel.
    GraphIndex : Search for similar graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.2, the protocol.
    .. [2] C.-C. Chang and C.-J. Lin (2011). LIBSVM: a library for support vector machines. ACM Transactions
       on Intelligent Systems and Technology 2 (3). doi:10.1145/1961189.1961199.
    .. [3] J. Platt (1999). Probabilistic outputs for support vector machines and comparisons to regularized
       likelihood methods. Advances in Large Margin Classifiers, 61-74. MIT Press.
    .. [4] O. Maron and A. W. Moore (1994). Hoeffding races: accelerating model selection search for
       classification and function approximation. Advances in Neural Information Processing Systems 6, 59-66.

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
        solver: str = "auto",
        selection: str = "auto",
        n_folds: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.t_max = t_max
        self.C = C
        self.normalize = normalize
        self.solver = solver
        self.selection = selection
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        graphs = check_graphs(X)
        target, classes = check_target(y, len(graphs)), np.unique(np.asarray(y))
        seeds = draw_seeds(self.random_state, 1)[0]
        folds = inner_folds(target, check_integer(self.n_folds, "n_folds", 2), seeds.inner)
        learned = self._learn(graphs, target, folds, Classification(), seeds, 0.0)
        layout = DecisionLayout(len(classes), learned.selection.candidate.maker.pairwise)
        calibration = None if learned.posterior else _calibration(learned, layout, target, folds)
        self._keep(learned)
        self.classes_, self.layout_, self.calibration_ = classes, layout, calibration
        self.score_ = 1.0 - learned.selection.mean_loss
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return one value per graph for two classes (positive: the second), else one per class.

        Returns
        -------
        ndarray of shape (m,) or (m, classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each graph: as the C-SVM votes; the most probable one of a Gaussian process."""
        graphs = self._checked(X)
        if self.posterior_ is not None and len(self.classes_) > 2:
            return np.asarray(self.classes_[self.predict_proba(graphs).argmax(axis=1)])
        return np.asarray(self.classes_[self.layout_.predictions(self._decisions(graphs))])

    def predict_proba(self, X: Any) -> Matrix:
        """Return calibrated class probabilities, columns in the order of ``classes_``.

        Those of a Gaussian process are averages over what it is unsure of.
        """
        graphs = self._checked(X)
        scores = self.layout_.scores(self._decisions(graphs))
        if self.calibration_ is not None:
            return self.calibration_.probabilities(scores)
        chances = mean_sigmoid(scores, self._variances(graphs))
        if len(self.classes_) == 2:
            return np.column_stack([1 - chances[:, 0], chances[:, 0]])
        return chances / chances.sum(axis=1, keepdims=True)

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
        graphs, names = self._checked(X), self.classes_.tolist()
        weights, *compared = compare_classes(names, classes)
        return self._explain(graphs, self.layout_.of_pairs(np.asarray(weights)), *compared)

    def _scores(self, X: Any) -> Matrix:
        graphs = self._checked(X)
        return self.layout_.scores(self._decisions(graphs))


def _calibration(
    learned: Learned, layout: DecisionLayout, target: NDArray[np.int64], folds: Folds
) -> Calibration:
    """Learn probabilities from decisions on graphs that were not learned from (Platt scaling).

    Where classes are too small for that, from decisions on the training graphs.
    """
    found = held_out_decisions(learned.selection, target, folds)
    everyone = np.arange(len(target))
    known = np.concatenate([held for held, _ in found]) if found else everyone[:0]
    if len(np.unique(target[known])) < layout.n_classes:
        found = held_out_decisions(learned.selection, target, [(everyone, everyone)])
        known = everyone
    scores = np.concatenate([layout.scores(decisions) for _, decisions in found])
    return Calibration.learn(scores, target[known])
