"""PropagationClassifier: learns classes of graphs, and predicts and explains new graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.stored import SOMETIMES, require
from propkernels._utils.typing import Array, ClassWeight, LabelNames, Matrix, Molecule, Molecules, Target
from propkernels.counts.bins import Bins
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.explain.decisions import Comparison, DecisionLayout, compare_decisions
from propkernels.explain.explanation import Explanation
from propkernels.explain.find_counterfactuals import ask_class, one_graph
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs, OneGraph
from propkernels.graphs.names import Names
from propkernels.models.calibrate import Calibration, Conformal, calibrate, calibrate_labels, check_coverage
from propkernels.models.choose import MOST_GRAPHS, Problem
from propkernels.models.model import ModelParameters, PropagationModel
from propkernels.models.solvers import Learned, mean_sigmoid, without_own_class
from propkernels.models.targets import ClassTarget, accuracy, check_labels
from propkernels.search.index import GraphIndex

MOST_NEIGHBORS = 200  # among which the nearest graph of another class is looked for


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierParameters(ModelParameters):
    """Parameters of :class:`PropagationClassifier`."""

    class_weight: ClassWeight = None


class PropagationClassifier(ClassifierMixin, ClassifierParameters, PropagationModel):
    """Graph kernel classifier; kernel and parameters are chosen by leave-one-out.

    Decisions are least squares: one sum of weights of bins plus an intercept per class, whose largest one is
    the prediction, whose softmax are the probabilities, and whose terms are the explanation. Kernels, t_max,
    normalization and C are chosen by the squared error of leave-one-out decisions, which have a closed form;
    up to three kernels are averaged. Kernels that are dot products of counts (linear and intersection base
    kernels) become one weight per bin: a new graph is classified in time linear in its nodes. Ratios of
    counts (Jaccard) keep the training graphs.

    The target is one class per graph, or several labels per graph, (n, labels), each 0, 1 or missing (NaN):
    all labels share the chosen kernels, and each is learned from the graphs that have it.

    Parameters
    ----------
    kernel : estimator, str, list of these, or None, default=None
        Any kernel of this library, also by name ("propagation", "p2k", "wl", "shortest-path", "graph-hopper",
        "labels"), or a list to choose from, also between schemes or treatments of attributes; None: a few
        kernels, depending on labels and attributes of the graphs.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own, or 3 if the kernel is
        chosen for labels of several entries, such as those of atoms.
    C : float or sequence of float, default=(0.1, 1, 10, 100, 1000)
        Candidates for the cost of errors, in units of the kernel's mean diagonal: 1 / C is the ridge; with
        solver "gp", C is the variance of the latent function.
    normalize : {"auto", True, False, None}, default="auto"
        Whether to normalize kernels; "auto": try both; None: use the kernel's setting.
    solver : {"auto", "ridge", "svm", "landmarks", "linear", "gp"}, default="auto"
        "ridge": least squares on kernel matrices. "svm": scikit-learn's C-SVM of the best kernel, each class
        against the rest. "landmarks": least squares on kernel values of all graphs with 4,000 of them, or
        fewer beyond 134,000 graphs. "linear": least squares on sparse features. The last two are for many
        graphs; no matrix of all pairs is formed. "gp": Gaussian process classification. "auto": "ridge" up
        to 20,000 graphs; beyond, "landmarks" for ratios of counts and, by default, for molecules up to
        134,000; else "linear".
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in training, as in scikit-learn's :class:`~sklearn.svm.SVC`.
    cv : int, "loo", splitter, iterable or None, default=None
        Graphs that are held out together for the choice and for probabilities. None: each alone (or each
        group, if ``fit`` is given groups). A number: shuffled folds, stratified by class; or a scikit-learn
        splitter, or pairs of training and test graphs.
    random_state : int, RandomState or None, default=None
        Seed of hash functions and samples.
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
        The chosen kernel with its settings (unfitted if it became weights of bins), or the
        :class:`SumKernel` of several kernels whose decisions are averaged.
    t_max_, normalize_, C_, solver_ : chosen settings, of the best kernel if several are averaged
    held_out_ : ndarray, (n, columns)
        Decision about each training graph by a model without it; NaN where it was not computed. Up to 1,500
        graphs, that of a model whose settings were chosen without the graph's fold, one of ten.
    score_ : float
        Share of the training graphs that are right when held out; :func:`evaluate` also tells its spread.
    imputer_ : LabelImputer or None
        Imputes missing node labels before the kernel, if that was better when held out.
    rule_ : Rule
        Decisions without ``intercept_``: a column per class, or a single one for two classes.
    calibration_ : Calibration or None
        Map from decisions to probabilities.
    index_ : GraphIndex or None
        Training graphs of three or more classes, if the probability of a graph unlike all of them is lower.
    posterior_ : Posterior or None
        Posterior of the Gaussian process.
    conformal_ : Conformal
        Scores of held-out graphs, for :meth:`predict_set`.

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
       Algorithm 1.
    .. [2] S. An, W. Liu and S. Venkatesh (2007). Fast cross-validation algorithms for least squares support
       vector machine and kernel ridge regression. Pattern Recognition 40 (8), 2154-2162.
       doi:10.1016/j.patcog.2006.12.015.
    .. [3] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger (2017). On calibration of modern neural networks.
       International Conference on Machine Learning, 1321-1330. Temperature scaling.
    .. [4] V. Vovk (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74,
       9-28. doi:10.1007/s10472-013-9368-4.

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
    index_: Annotated[GraphIndex | None, SOMETIMES]
    _layout: DecisionLayout

    def _learning_target(self, y: NDArray[Any], n: int, weights: Any, places: Any) -> ClassTarget:
        return ClassTarget.of(y, n, weights, self.class_weight)

    def _keep_target(self, target: ClassTarget, learned: Learned, problem: Problem, names: Names) -> None:
        known = np.asarray(~np.isnan(learned.held_out).any(axis=1))
        index, calibration = None, None
        if learned.posterior is None:
            index, calibration = _calibrated(target, learned, problem, known)
        layout = DecisionLayout(len(target.classes), target.multilabel)
        scores = expit(-layout.margins(learned.held_out))
        own = target.values[..., None] == np.arange(scores.shape[-1])
        own_scores = np.where(own, scores, np.nan).reshape(len(scores), -1)
        self._keep(learned, Conformal.of(own_scores))
        self.classes_, self._layout = target.classes, layout
        self.calibration_, self.index_ = calibration, index
        self.class_names_ = _class_names(names, self.classes_)
        truth, guess = target.values[known], layout.predictions(learned.held_out[known])
        self.score_ = float((guess == truth)[~np.isnan(truth)].mean())

    def decision_function(self, X: Graphs) -> Matrix:
        """Return one decision per graph for two classes (positive: the second), else one per class or label.

        Returns
        -------
        ndarray of shape (m,) or (m, classes)
        """
        decisions = self._decisions(self._to_predict(X))
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Graphs, coverage: float | None = None) -> Array | Any:
        """Return the class of each graph, that of the largest decision.

        With several labels, an array (m, labels) of 0 and 1.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        coverage : float, optional
            Also return the sets of classes of :meth:`predict_set`; a pipeline passes it on.

        Returns
        -------
        ndarray of shape (m,) or (m, labels), or this and the sets
        """
        decisions = self._decisions(self._to_predict(X))
        numbers = self._layout.predictions(decisions)
        predicted = numbers if self._layout.multilabel else np.asarray(self.classes_[numbers])
        return predicted if coverage is None else (predicted, self._sets(decisions, check_coverage(coverage)))

    def predict_proba(self, X: Graphs) -> Matrix:
        """Return the probability of each class (or label), in the order of ``classes_``.

        The largest one is that of :meth:`predict`. With three or more classes, probabilities may be more
        equal for graphs unlike all training graphs, as far as classes left out in training tell.

        Returns
        -------
        ndarray of shape (m, classes)
        """
        graphs = self._to_predict(X)
        decisions = self._decisions(graphs)
        if self.calibration_ is None:
            variances = self._variances(graphs).mean(axis=1, keepdims=True)  # of all classes alike
            chances = mean_sigmoid(decisions, np.broadcast_to(variances, decisions.shape))
            if self._layout.multilabel:
                return chances
            if len(self.classes_) == 2:
                return np.column_stack([1 - chances[:, 0], chances[:, 0]])
            return chances / chances.sum(axis=1, keepdims=True)
        near = None if self.index_ is None else self.index_._query(graphs, k=1)[0][:, 0]
        return self.calibration_.probabilities(decisions, near)

    def predict_set(self, X: Graphs, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return which classes each graph may have, so that its class is among them with a given probability.

        Conformal prediction from decisions about training graphs by models that were chosen and learned
        without them (ten folds; Vovk 2015), class by class: of the graphs of each class, the share
        ``coverage`` has its class in the set, if new graphs are drawn like the training graphs. A set may be
        empty: the graph is unlike all classes. Graphs from elsewhere, such as other scaffolds, are covered
        less often.

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
        return self._sets(self._decisions(self._to_predict(X)), check_coverage(coverage))

    def _sets(self, decisions: Matrix, coverage: float) -> NDArray[np.bool_]:
        scores = expit(-self._layout.margins(decisions))
        return np.asarray(scores <= self.conformal_.quantiles(coverage).reshape(scores.shape[1:]))

    def explain(self, X: Graphs, classes: object = None) -> Explanation:
        """Return the contributions of nodes and iterations to the decision for a class.

        Contributions and the intercept add up to the decision exactly.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        classes : class, or pair of classes, optional
            The class whose decision is explained; of a pair, its decision minus that of the second class.
            Default: the predicted class of each graph; of two classes, the second.

        Returns
        -------
        Explanation
        """
        graphs = self._named(self._to_predict(X))
        if classes is None and len(self.intercept_) > 1 and not self._layout.multilabel:
            return self._explain(graphs, None, self.classes_)
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
        >>> len(bins), bins[0].subgraph.node_labels[0] == bins[0].neighborhood.split(" | ")[0]
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
            listed once, and results include SMILES. Not needed if ``graph`` is an RDKit molecule, or comes
            from ``from_smiles`` or ``from_rdkit``.
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
        self._to_predict(one_graph(graph))
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
        names = self.class_names_
        return graphs.with_names(
            classes={} if names is None else dict(zip(self.classes_.tolist(), names, strict=True))
        )

    def _comparison(self, classes: Any) -> Comparison:
        return compare_decisions(self._layout, self.classes_.tolist(), classes)

    def score(self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy; with several labels, the share of correct entries among the observed ones."""
        return self._score(accuracy, check_labels, X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_parts(self) -> None:
        """Refuse decisions, classes and probabilities that do not match."""
        super()._check_parts()
        if hasattr(self, "rule_"):
            layout = self._layout
            layout.check_classes(self.classes_)
            require(self.rule_.n_decisions == layout.n_decisions, "decisions are not those of the classes")
            require(
                self.class_names_ is None or len(self.class_names_) == len(self.classes_),
                "names are of other classes",
            )
            n_groups = layout.n_classes * (2 if layout.multilabel else 1)
            require(len(self.conformal_.scores) == n_groups, "held-out scores are of other classes")
            if self.calibration_ is not None:
                n_slopes = layout.n_classes if layout.multilabel else 1
                require(len(self.calibration_.slopes) == n_slopes, "probabilities are of other classes")
                require(
                    self.calibration_.power == 0 or self.index_ is not None,
                    "probabilities need the training graphs",
                )


def _class_names(names: Names, classes: NDArray[Any]) -> list[str] | None:
    """Return the names of the classes, if each of them has one.

    Classes 0, ..., k - 1 of graphs with more named classes may be those of another target: they get no names.
    """
    values = classes.tolist()
    known = [names.classes.get(value) for value in values]
    is_unclear = len(values) < len(names.classes) and values == list(range(len(values)))
    return None if None in known or is_unclear else [str(name) for name in known]


def _calibrated(
    target: ClassTarget, learned: Learned, problem: Problem, known: NDArray[np.bool_]
) -> tuple[GraphIndex | None, Calibration]:
    """Learn probabilities from held-out decisions; with three or more classes, also from left-out classes."""
    if target.multilabel:
        return None, calibrate_labels(learned.held_out[known], target.values[known])
    held_out, classes = learned.held_out[known], target.values[known]
    kernel = next((k for k in learned.kernels if "base_kernel" in k.get_params(deep=False)), None)
    if len(target.classes) == 2 or kernel is None:
        return None, calibrate(held_out, classes)
    kernel = clone(kernel).set_params(base_kernel="intersection", normalize=False)
    index = GraphIndex(kernel=kernel, similarity="jaccard").fit(problem.graphs)
    some = problem.at(np.flatnonzero(known)).sample(MOST_GRAPHS)
    origin = np.flatnonzero(known)[some.origin]
    near, places = index._query(some.graphs, k=min(len(problem), MOST_NEIGHBORS))
    is_self, is_same = places == origin[:, None], target.values[places] == some.strata[:, None]
    calibration = calibrate(
        learned.held_out[origin],
        some.strata,
        _nearest(near, is_self),
        without_own_class(some, learned),
        _nearest(near, is_same),
    )
    return index if calibration.power else None, calibration


def _nearest(similarities: Matrix, left_out: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the largest similarity that is not left out; the smallest known one if all are."""
    return np.where(left_out, similarities[:, -1:], similarities).max(axis=1)
