"""PropagationClassifier: learns classes of graphs, and predicts and explains new graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.parallel import one_blas_thread
from propkernels._utils.progress import Progress
from propkernels._utils.stored import SOMETIMES, require
from propkernels._utils.typing import (
    Array,
    ClassWeight,
    Estimator,
    Floats,
    Folding,
    LabelNames,
    Molecule,
    Molecules,
    Scoring,
    Seed,
    Steps,
    Target,
)
from propkernels.convert.check import check_graphs
from propkernels.explain.comparisons import Comparison, compare_decisions, explain_predicted
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.explain.decision_columns import Calibration, DecisionLayout
from propkernels.explain.explanation import Explanation
from propkernels.explain.find_counterfactuals import ask_class
from propkernels.explain.strongest_bins import Bins
from propkernels.graphs.accepted import Graphs, OneGraph
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.names import Names
from propkernels.models.candidates import DEFAULT_COSTS
from propkernels.models.conformal import check_coverage
from propkernels.models.gaussian_process import mean_sigmoid
from propkernels.models.learning_targets import ClassTarget
from propkernels.models.model import Learned, PropagationModel
from propkernels.models.targets import check_labels, has_columns, known_targets

Matrix = NDArray[np.float64]


class PropagationClassifier(ClassifierMixin, PropagationModel):
    """Graph kernel classifier; kernel and parameters are chosen by cross-validation.

    The kernel, t_max, normalization and C are chosen by stratified cross-validation on the training graphs,
    from one pass of propagation per kernel. If the kernel is a dot product of counts (linear and
    intersection base kernels), the SVM is folded into one weight per bin: no support vectors are kept, and
    a new graph is classified in time linear in its nodes. Ratios of counts (Jaccard) keep training graphs.

    The target is one class per graph, or several labels per graph, (n, labels), each 0, 1 or missing (NaN):
    all labels share the chosen parameters, and each is learned by least squares from the graphs that have it.

    Parameters
    ----------
    kernel : estimator, list of estimators, or None, default=None
        Any kernel of this library, or a list to choose from, also between schemes or treatments of
        attributes; None: a few kernels, depending on labels and attributes of the graphs.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own, or 3 if the kernel is
        chosen for labels of several entries, such as those of atoms.
    C : float, sequence of float, or "paper", default=(0.01, 0.1, 1, 10, 100, 1000)
        Candidates for the cost, in units of the kernel's mean diagonal; with solver "gp", the variance of the
        latent function. "paper": the paper's values, for the unscaled kernel.
    normalize : {"auto", True, False, None}, default="auto"
        Whether to normalize kernels; "auto": try both; None: use the kernel's setting.
    solver : {"auto", "kernel", "landmarks", "linear", "gp"}, default="auto"
        "kernel": libsvm's C-SVM on kernel matrices; for several labels, least squares. "landmarks": least
        squares on kernel values of all graphs with 4,000 of them, or fewer beyond 134,000 graphs. "linear":
        liblinear's on sparse features. The last two are for many graphs; no matrix of all pairs is formed.
        "gp": Gaussian process classification. "auto": "kernel" up to 20,000 graphs, as long as the matrices
        of all t_max take at most 8 GiB; beyond, "landmarks" for ratios of counts and, by default, for
        molecules up to 134,000; else "linear".
    selection : {"auto", "halving", "race", "exhaustive"}, default="auto"
        "exhaustive": drop only candidates that cannot win. "race": also those significantly worse than the
        leader after some folds. "halving": compare most candidates on a part of the graphs, and only the
        best on all. "auto": exhaustive for one or two kernels and up to 1000 graphs, else halving.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in training, as in scikit-learn's :class:`~sklearn.svm.SVC`.
    scoring : str, callable or None, default=None
        Score to maximize: the name of a scorer of scikit-learn ("roc_auc", "balanced_accuracy", "f1",
        ...), or a function ``scorer(estimator, X, y)``. None: accuracy. Classes are numbered 0, 1, ...
        in the order of ``classes_``. With several labels, the mean over the labels.
    cv : int, "loo", splitter, iterable or None, default=None
        Folds of the cross-validation for the choice. A number: shuffled folds, stratified by class; "loo":
        leave out one graph at a time; or a scikit-learn splitter, or pairs of training and test graphs.
        None: 5, or fewer if the smallest class has fewer graphs.
    random_state : int, RandomState or None, default=None
        Seed of hash functions and folds.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    progress : bool or None, default=None
        Whether a progress bar is shown after two seconds; None: on terminals and in notebooks.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    class_names_ : list of str or None
        Their names, if the training graphs have names of classes (``graphs.names.classes``).
    kernel_ : estimator
        The chosen kernel with its settings (unfitted if the SVM was folded), or the :class:`SumKernel` of
        several kernels whose decisions are averaged, each with its own SVM: those within two standard errors
        of the best, if no kernel is given and folds have fewer than 900 training graphs.
    t_max_, normalize_, C_, solver_ : chosen settings, of the best kernel if several are averaged
    score_ : float
        Score of the choice in the cross-validation that chose it (by default the share of correctly
        classified graphs). It is the best of many candidates, and therefore optimistic; :func:`evaluate`
        estimates the score on new graphs.
    n_folds_ : int
        Number of folds of the cross-validation for the choice; 0 if there were too few graphs.
    imputer_ : LabelImputer or None
        Imputes missing node labels before the kernel, if that was better in the cross-validation.
    rule_ : Rule
        Decisions without ``intercept_``; ``_layout`` describes their columns.
    calibration_ : Calibration or None
        Map from scores to probabilities.
    posterior_ : Posterior or None
        Posterior of the Gaussian process.
    conformal_ : Conformal or None
        Machines and scores of the folds, for :meth:`predict_set`; None without folds.

    See Also
    --------
    PropagationRegressor : The same for numeric targets.
    evaluate : Cross-validates this model or a kernel.
    GraphIndex : Search for similar graphs.
    NoveltyDetector : Graphs that are unlike the training graphs.

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
    .. [5] Y. Romano, M. Sesia and E. J. Candès (2020). Classification with valid and adaptive coverage.
       Advances in Neural Information Processing Systems 33, 3581-3591. CV+ for classes.

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

    calibration_: Calibration | None
    classes_: Any  # an array of numbers, texts or objects
    class_names_: Annotated[list[str] | None, SOMETIMES]
    _layout: DecisionLayout

    def __init__(
        self,
        *,
        kernel: Estimator | Sequence[Estimator] | None = None,
        t_max: Steps = None,
        C: Floats | str = DEFAULT_COSTS,
        normalize: bool | str | None = "auto",
        solver: str = "auto",
        selection: str = "auto",
        class_weight: ClassWeight = None,
        scoring: Scoring = None,
        cv: Folding = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.kernel = kernel
        self.t_max = t_max
        self.C = C
        self.normalize = normalize
        self.solver = solver
        self.selection = selection
        self.class_weight = class_weight
        self.scoring = scoring
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _learning_target(self, y: Any, n: int, several: bool, weights: Any, places: Any) -> ClassTarget:
        return ClassTarget.of(y, n, several, weights, self.class_weight, self.scoring)

    def _keep_target(self, target: ClassTarget, learned: Learned, names: Names) -> None:
        pairwise, values = learned.selection.candidate.maker.pairwise, target.values
        layout = DecisionLayout(len(target.classes), pairwise, target.multilabel)
        calibration = None if learned.posterior else _calibration(learned, layout, values, target.task)
        self._keep(learned, learned.conformal(partial(_class_scores, layout, values)))
        self.classes_, self._layout, self.calibration_ = target.classes, layout, calibration
        self.class_names_ = _class_names(names, self.classes_)

    def decision_function(self, X: Graphs) -> Matrix:
        """Return one decision per graph for two classes (positive: the second), else one per class or label.

        Returns
        -------
        ndarray of shape (m,) or (m, classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Graphs, coverage: float | None = None) -> Array | Any:
        """Return the class of each graph: by votes of the C-SVM, or the most probable one (solver "gp").

        With several labels, an array (m, labels) of 0 and 1. Warns about graphs with node labels that occur
        in no training graph (:class:`ForeignGraphsWarning`).

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        coverage : float, optional
            Also return the sets of classes of :meth:`predict_set`; a pipeline passes it on.

        Returns
        -------
        ndarray of shape (m,) or (m, labels), or this and the sets
        """
        graphs = self._checked(X)
        predicted = self._classes_of(graphs)
        return predicted if coverage is None else (predicted, self._sets(graphs, check_coverage(coverage)))

    def _classes_of(self, graphs: GraphDatabase) -> Array:
        decisions = self._watched_decisions(graphs, 3)
        if self._layout.multilabel:
            return self._layout.predictions(decisions)
        if self.posterior_ is not None and len(self.classes_) > 2:
            return np.asarray(self.classes_[self.predict_proba(graphs).argmax(axis=1)])
        return np.asarray(self.classes_[self._layout.predictions(decisions)])

    def predict_proba(self, X: Graphs) -> Matrix:
        """Return calibrated class probabilities, columns in the order of ``classes_``.

        Those of a Gaussian process are means over its posterior. With several labels, one probability per
        label. Probabilities are calibrated on held-out graphs, and ``predict`` follows the decision itself:
        near one half, or where one class is rare, the likelier class can differ from the predicted one, as in
        scikit-learn's ``SVC``.
        """
        graphs = self._checked(X)
        scores = self._layout.scores(self._decisions(graphs))
        if self.calibration_ is not None:
            return self.calibration_.probabilities(scores)
        chances = mean_sigmoid(scores, self._variances(graphs))
        if len(self.classes_) == 2:
            return np.column_stack([1 - chances[:, 0], chances[:, 0]])
        return chances / chances.sum(axis=1, keepdims=True)

    def predict_set(self, X: Graphs, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return which classes each graph may have, so that its class is among them with a given probability.

        Conformal prediction (CV+, Romano et al. 2020) from the folds that fit used for its choice, class by
        class: of the graphs of each class, the share ``coverage`` has its class in the set, if new graphs are
        drawn like the training graphs. Classes are easier to enter for graphs with bins that no training
        graph has. A set may be empty: the graph is unlike all classes. Graphs from elsewhere, such as other
        scaffolds, are covered less often.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        coverage : float, default=0.9
            Probability that the set contains the class, above 0 and below 1.

        Returns
        -------
        ndarray of bool, (m, classes)
            Columns in the order of ``classes_``; with several labels (m, labels, 2), for the values 0 and 1.

        Examples
        --------
        >>> import propkernels as pk
        >>> data = pk.datasets.make_molecules(120, random_state=0)
        >>> model = pk.PropagationClassifier(random_state=0).fit(data.graphs[:100], data.target[:100])
        >>> sets = model.predict_set(data.graphs[100:], coverage=0.9)
        >>> sets.shape, sets.dtype
        ((20, 2), dtype('bool'))
        """
        return self._sets(self._checked(X), check_coverage(coverage))

    def _sets(self, graphs: GraphDatabase, coverage: float) -> NDArray[np.bool_]:
        conformal = self._conformal()
        found, layout = conformal.models.predict(graphs, self.n_jobs), self._layout
        margins = layout.margins(found.decisions.reshape(-1, layout.n_decisions))
        scores = expit(-margins).reshape(len(graphs), conformal.models.n_folds, conformal.n_groups)
        columns = [
            conformal.contains(group, scores[:, :, group], found.unseen, coverage)
            for group in range(conformal.n_groups)
        ]
        sets = np.column_stack(columns)
        return sets.reshape(len(graphs), -1, 2) if layout.multilabel else sets

    def explain(self, X: Graphs, classes: object = None) -> Explanation:
        """Return the contributions of nodes and iterations to the decision for one class against another.

        Contributions add up to the decision exactly.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        classes : pair, or one class, optional
            The class favored by positive contributions, and the one it is compared with; a single class is
            compared with the mean of the others. Default for two classes: the second with the first; for
            more: the predicted class of each graph with the mean of the others.

        Returns
        -------
        Explanation
        """
        graphs = self._named(self._checked(X))
        if classes is None and len(self.classes_) > 2 and not self._layout.multilabel:
            self._check_explained()
            parts = self.rule_, graphs, self._layout, self.classes_, self.intercept_
            return explain_predicted(*parts, self.n_jobs)
        return self._explain(graphs, *self._comparison(classes))

    def top_bins(
        self,
        X: Graphs,
        y: Target | None = None,
        n: int = 10,
        *,
        classes: object = None,
        molecules: Molecules | None = None,
        label_names: LabelNames | None = None,
    ) -> Bins:
        """Return the bins with the largest weights, each described by an example.

        For ratios of counts, weights differ from graph to graph; their means over X are returned.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            Training graphs (the model does not keep them) or others, as a source of examples.
        y : array-like of shape (n,) or (n, labels), optional
            Their classes or labels, to compare the share of the favored class with and without each bin.
        n : int, default=10
            Number of bins.
        classes : pair, or one class, optional
            As in ``explain``.
        molecules : sequence of rdkit.Chem.Mol, optional
            The molecules of the graphs, to describe each bin by SMARTS.
        label_names : mapping, optional
            Display names of labels, such as ``{0: "C", 1: "N"}``.

        Returns
        -------
        Bins
            Largest absolute weights first; ``print`` shows a table, ``to_frame`` returns a DataFrame.

        Examples
        --------
        >>> import propkernels as pk
        >>> data = pk.datasets.make_molecules(60, random_state=0)
        >>> kernel = pk.PropagationKernel(propagation=pk.propagation.Diffusion(0.5, "none"), t_max=1)
        >>> model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs, data.target)
        >>> bins = model.top_bins(data.graphs, data.target, n=3)
        >>> len(bins), bins[0].subgraph.node_labels[0] == bins[0].surroundings.split(" | ")[0]
        (3, True)
        """
        graphs = self._named(self._checked(X))
        weights, first, other = self._comparison(classes)
        target = None
        if y is not None and self._layout.multilabel:
            target = check_labels(y, len(graphs))[:, first]
        elif y is not None:
            target = np.asarray(y) == first
        against = "the others" if other is None else graphs.names.class_name(other)
        subject = f"for {graphs.names.class_name(first)} against {against}"
        return self._top_bins(
            n, graphs, weights, target, subject, molecules=molecules, label_names=label_names
        )

    def counterfactuals(
        self,
        graph: OneGraph,
        max_edits: int = 2,
        n: int = 10,
        *,
        target: object = None,
        allowed: Sequence[str] | Mapping[str, object] | None = None,
        molecule: Molecule | None = None,
        budget: int | None = None,
        label_names: LabelNames | None = None,
    ) -> Counterfactuals:
        """Return the smallest edits of a graph that change its predicted class.

        Edits relabel nodes, and add or remove edges and leaves. The model decides on each edited graph.

        Parameters
        ----------
        graph : Graph, GraphDatabase of one graph, or graph of another library
            Undirected, without parallel edges.
        max_edits : {1, 2}, default=2
            Single edits, or also pairs. Pairs are only tried if single edits do not suffice.
        n : int, default=10
            Number of counterfactuals.
        target : Any, optional
            The class to reach; by default any other. With several labels, the number of the label to change.
        allowed : sequence of str, or mapping, optional
            Allowed edits: kinds ("relabel", "add_edge", "remove_edge", "add_leaf",
            "remove_leaf"), or a mapping with some of: "kinds"; "labels", those that nodes may get, by default
            those of the training graphs and of the database the graph is from; "edge_labels" of new edges;
            "nodes" that may be edited; "connected", whether the ends of a removed edge must stay connected
            (by default for molecules only).
        molecule : rdkit.Chem.Mol or str, optional
            The molecule of the graph, or its SMILES: edits that break valences are skipped, molecules are
            listed once, and results include SMILES. Not needed if ``graph`` is an RDKit molecule or has the
            labels of ``from_smiles``.
        budget : int, optional
            Largest number of pairs to try; by default 200,000, or 20,000 for kernels that do not count bins,
            and for molecules with labels other than symbols. All single edits are tried. The most promising
            ones are extended by all others, within the budget; ``summary`` and ``exhaustive`` report the
            extent.
        label_names : mapping, optional
            Display names of labels, such as ``{0: "C", 1: "N"}``.

        Returns
        -------
        Counterfactuals
            Fewer edits first, then by distance beyond the decision boundary; a pair never contains an edit
            that suffices by itself. If no edit changes the class, the edits that come closest (``reached`` is
            False).

        Examples
        --------
        >>> import propkernels as pk
        >>> data = pk.datasets.make_molecules(60, random_state=0)
        >>> kernel = pk.PropagationKernel(propagation=pk.propagation.Diffusion(0.5, "none"), t_max=1)
        >>> model = pk.PropagationClassifier(kernel=kernel, random_state=0).fit(data.graphs, data.target)
        >>> changes = model.counterfactuals(data.graphs[1], n=3, allowed=["relabel", "remove_leaf"])
        >>> changes.reached, bool(model.predict([changes.graph(0)])[0] == changes.prediction[0])
        (True, True)
        """
        check_is_fitted(self, "rule_")
        if self.posterior_ is not None and len(self.classes_) > 2 and not self._layout.multilabel:
            raise TypeError(
                "a Gaussian process of more than two classes predicts by probabilities, not by decisions: "
                'counterfactuals need solver="kernel" or "linear"'
            )
        found = self._counterfactuals(
            graph,
            partial(ask_class, self._layout, self.classes_, target),
            max_edits=max_edits,
            n=n,
            allowed=allowed,
            molecule=molecule,
            budget=budget,
            label_names=label_names,
        )
        return replace(found, original=Graph(self._named(found.original.database)))

    def _named(self, graphs: GraphDatabase) -> GraphDatabase:
        """Return graphs with the names of the classes of the model."""
        return graphs.with_names(classes=self._names_of_classes())

    def _names_of_classes(self) -> dict[Any, str]:
        names = getattr(self, "class_names_", None)  # missing in files of earlier versions
        return {} if names is None else dict(zip(self.classes_.tolist(), names, strict=True))

    def _comparison(self, classes: Any) -> Comparison:
        return compare_decisions(self._layout, self.classes_.tolist(), classes)

    def score(self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy; with several labels, the share of correct entries among the observed ones."""
        if not has_columns(y):
            graphs = check_graphs(X)
            known_y = known_targets(y, len(graphs))
            return float(super().score(known_y.take(graphs), known_y.target, known_y.take(sample_weight)))
        target = check_labels(y, len(check_graphs(X)))
        right, known = self.predict(X) == target, ~np.isnan(target)
        weights = np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight)
        return float((weights @ (right & known)).sum() / (weights @ known).sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _scores(self, X: Any) -> Matrix:
        return self._layout.scores(self._decisions(self._checked(X)))

    def _check_parts(self) -> None:
        """Refuse decisions, classes and probabilities that do not match."""
        super()._check_parts()
        if hasattr(self, "rule_"):
            layout = self._layout
            layout.check_classes(self.classes_, self.calibration_)
            require(self.rule_.n_decisions == layout.n_decisions, "decisions are not those of the classes")
            names = getattr(self, "class_names_", None)
            require(names is None or len(names) == len(self.classes_), "names are of other classes")
            conformal = getattr(self, "conformal_", None)
            if conformal is not None:
                n_groups = layout.n_classes * (2 if layout.multilabel else 1)
                require(conformal.n_groups == n_groups, "held-out scores are of other classes")


def _class_names(names: Names, classes: NDArray[Any]) -> list[str] | None:
    """Return the names of the classes, if each of them has one.

    Classes 0, ..., k - 1 of graphs with more named classes may be those of another target: they get no names.
    """
    values = classes.tolist()
    known = [names.classes.get(value) for value in values]
    is_unclear = len(values) < len(names.classes) and values == list(range(len(values)))
    return None if None in known or is_unclear else [str(name) for name in known]


def _calibration(learned: Learned, layout: DecisionLayout, target: NDArray[Any], task: Any) -> Calibration:
    """Learn probabilities from decisions on held-out graphs (Platt scaling).

    If classes are too small for that, use decisions on the training graphs.
    """
    everyone = np.arange(len(target))
    known = learned.known if learned.held_out else everyone[:0]
    if not len(known) or (not layout.multilabel and len(np.unique(target[known])) < layout.n_classes):
        known, decisions = everyone, learned.selection.decide(task, target, everyone, everyone)
    else:
        decisions = learned.decisions
    learn = Calibration.learn_columns if layout.multilabel else Calibration.learn
    with one_blas_thread():  # products of a few numbers: threads would wait for each other
        return learn(layout.scores(decisions), target[known])


def _class_scores(
    layout: DecisionLayout, target: NDArray[Any], at: NDArray[np.int64], decisions: Matrix
) -> Matrix:
    """Return the nonconformity of held-out graphs with their class, (graphs, classes); NaN for the others.

    With several labels, one column per label and value, 0 before 1.
    """
    scores, classes = expit(-layout.margins(decisions)), target[at]
    if not layout.multilabel:
        return np.where(classes[:, None] == np.arange(layout.n_classes), scores, np.nan)
    return np.where(classes[:, :, None] == np.arange(2), scores, np.nan).reshape(len(scores), -1)
