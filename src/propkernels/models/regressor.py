"""PropagationRegressor: learns numbers for graphs, and predicts and explains new graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import check_integer
from propkernels._utils.progress import Progress
from propkernels._utils.stored import SOMETIMES
from propkernels._utils.typing import (
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
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.explain.explanation import Explanation
from propkernels.explain.find_counterfactuals import ask_number
from propkernels.explain.strongest_bins import Bins
from propkernels.graphs.accepted import Graphs, OneGraph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.names import Names
from propkernels.models.candidates import DEFAULT_COSTS
from propkernels.models.conformal import check_coverage
from propkernels.models.learning_targets import NumberTarget
from propkernels.models.model import Learned, PropagationModel
from propkernels.models.targets import check_several, has_columns, known_targets

Matrix = NDArray[np.float64]


class PropagationRegressor(RegressorMixin, PropagationModel):
    """Graph kernel regressor; kernel and parameters are chosen by cross-validation.

    The kernel, t_max, normalization, C and epsilon are chosen by cross-validation on the training graphs, by
    mean squared error, from one pass of propagation per kernel. If the kernel is a dot product of counts, the
    SVM is folded into one weight per bin, and a prediction takes time linear in the nodes of the new graph.

    The target is standardized internally, so that one grid of C and epsilon fits any unit. It may have
    several columns, with missing entries (NaN): they share the chosen parameters, and each has its own SVM,
    trained on the graphs with that entry.

    Parameters
    ----------
    kernel : estimator, list of estimators, or None, default=None
        Any kernel of this library, or a list to choose from; None: a few kernels, depending on labels and
        attributes of the graphs.
    t_max : int or sequence of int, optional
        Candidates for the number of iterations; None: 0 up to the kernel's own.
    C : float or sequence of float, default=(0.01, 0.1, 1, 10, 100, 1000)
        Candidates for the cost, in units of the kernel's mean diagonal; with solver "gp", the ratio of
        signal to noise variance.
    epsilon : float or sequence of float, default=(0.03, 0.3)
        Candidates for the half-width of the tube without loss, in standard deviations of the target; unused
        by "gp".
    normalize : {"auto", True, False, None}, default="auto"
        Whether to normalize kernels; "auto": try both; None: use the kernel's setting.
    solver : {"auto", "kernel", "landmarks", "linear", "gp"}, default="auto"
        "kernel": libsvm's SVR on kernel matrices. "landmarks": least squares on kernel values of all graphs
        with 4,000 of them, or fewer beyond 134,000 graphs. "linear": liblinear's on sparse features. The last
        two are for many graphs; no matrix of all pairs is formed. "gp": exact Gaussian process, with
        predictive variances. "auto": "kernel" up to 20,000 graphs, as long as the matrices of all t_max take
        at most 8 GiB; beyond, "linear", or "landmarks" for ratios of counts.
    selection : {"auto", "halving", "race", "exhaustive"}, default="auto"
        "exhaustive": drop only candidates that cannot win. "race": also those significantly worse than the
        leader after some folds. "halving": compare most candidates on a part of the graphs, and only the
        best on all. "auto": exhaustive for one or two kernels and up to 1000 graphs, else halving.
    scoring : str, callable or None, default=None
        Score to maximize: the name of a scorer of scikit-learn ("r2", "max_error", ...), or
        a function ``scorer(estimator, X, y)``. None: least squared error.
    cv : int, "loo", splitter, iterable or None, default=None
        Folds of the cross-validation for the choice. A number: shuffled folds; "loo": leave
        out one graph at a time; or a scikit-learn splitter, or pairs of training and test graphs. None: 5.
    random_state : int, RandomState or None, default=None
        Seed of hash functions and folds.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    progress : bool or None, default=None
        Whether a progress bar is shown after two seconds; None: on terminals and in notebooks.

    Attributes
    ----------
    kernel_ : estimator
        The chosen kernel with its settings (unfitted if the SVM was folded).
    t_max_, normalize_, C_, epsilon_, solver_ : chosen settings
    score_ : float
        R^2 of the choice (or its score by ``scoring``) in the cross-validation that chose it, and therefore
        optimistic; :func:`evaluate` estimates the score on new graphs.
    n_folds_ : int
        Number of folds of the cross-validation for the choice; 0 if there were too few graphs.
    imputer_ : LabelImputer or None
        Imputes missing node labels before the kernel, if that was better in the cross-validation.
    n_targets_ : int
        Number of columns of the target.
    rule_ : Rule
        Predictions for any graph, without ``intercept_``.
    posterior_ : Posterior or None
        Posterior of the Gaussian process.
    conformal_ : Conformal or None
        Machines and errors of the folds, for :meth:`predict_interval`; None without folds.

    See Also
    --------
    PropagationClassifier : The same for classes.
    evaluate : Cross-validates this model or a kernel.
    NoveltyDetector : Graphs that are unlike the training graphs.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Algorithm 1.
    .. [2] C.-C. Chang and C.-J. Lin (2011). LIBSVM: a library for support vector machines. ACM Transactions
       on Intelligent Systems and Technology 2 (3). doi:10.1145/1961189.1961199.
    .. [3] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49 (1), 486-507. doi:10.1214/20-AOS1965. CV+, for intervals.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(80, random_state=0).graphs
    >>> size = np.diff(graphs.graph_ptr)
    >>> model = pk.PropagationRegressor(t_max=[0, 2], random_state=0).fit(graphs[:60], size[:60])
    >>> bool(model.score(graphs[60:], size[60:]) > 0.9)
    True
    >>> model = pk.PropagationRegressor(t_max=0, solver="gp", random_state=0).fit(graphs[:60], size[:60])
    >>> mean, std = model.predict(graphs[60:], return_std=True)
    """

    epsilon_: Annotated[float | None, SOMETIMES]
    n_targets_: Annotated[int | None, SOMETIMES]

    def __init__(
        self,
        *,
        kernel: Estimator | Sequence[Estimator] | None = None,
        t_max: Steps = None,
        C: Floats | str = DEFAULT_COSTS,
        epsilon: Floats = (0.03, 0.3),
        normalize: bool | str | None = "auto",
        solver: str = "auto",
        selection: str = "auto",
        scoring: Scoring = None,
        cv: Folding = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.kernel = kernel
        self.t_max = t_max
        self.C = C
        self.epsilon = epsilon
        self.normalize = normalize
        self.solver = solver
        self.selection = selection
        self.scoring = scoring
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _learning_target(self, y: Any, n: int, several: bool, weights: Any, places: Any) -> NumberTarget:
        return NumberTarget.of(y, n, several, weights, self.scoring, places)

    def _keep_target(self, target: NumberTarget, learned: Learned, names: Names) -> None:
        learned = _in_units(learned, target.middle, target.unit)
        numbers = target.numbers.reshape(len(target.numbers), -1)
        self._keep(learned, learned.conformal(lambda at, decisions: np.abs(decisions - numbers[at])))
        self.n_targets_ = target.numbers.shape[1] if target.numbers.ndim == 2 else 1
        self.epsilon_ = learned.selection.candidate.epsilon

    def predict(
        self, X: Graphs, return_std: bool = False, coverage: float | None = None
    ) -> NDArray[np.float64] | Any:
        """Return the predicted number of each graph.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        return_std : bool, default=False
            Also return the predictive standard deviation of each graph's number, noise included; only
            with solver "gp".
        coverage : float, optional
            Also return the intervals of :meth:`predict_interval`; a pipeline passes it on.

        Returns
        -------
        ndarray of shape (m,) or (m, columns), or a tuple of this and what else was asked for

        Warns
        -----
        ForeignGraphsWarning
            If many graphs have node labels that no training graph has.
        """
        graphs = self._checked(X)
        decisions = self._watched_decisions(graphs, 2)
        found = [decisions[:, 0] if decisions.shape[1] == 1 else decisions]
        if return_std:  # an error if there are several targets, which have no Gaussian process
            found.append(np.sqrt(self._variances(graphs)[:, 0]))
        if coverage is not None:
            found.append(self._intervals(graphs, check_coverage(coverage)))
        return found[0] if len(found) == 1 else tuple(found)

    def predict_interval(self, X: Graphs, coverage: float = 0.9) -> Matrix:
        """Return an interval for the number of each graph that contains it with a given probability.

        Conformal prediction (CV+, Barber et al. 2021) from the folds that fit used for its choice: the share
        ``coverage`` of the intervals contains the number, if new graphs are drawn like the training graphs.
        Intervals are wider for graphs with bins that no training graph has. Graphs from elsewhere, such as
        other scaffolds, are covered less often.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        coverage : float, default=0.9
            Probability that the interval contains the number, above 0 and below 1.

        Returns
        -------
        ndarray of shape (m, 2), or (m, columns, 2)
            Lower and upper ends; infinite if there are too few training graphs for the coverage.

        Examples
        --------
        >>> import numpy as np, propkernels as pk
        >>> graphs = pk.datasets.make_molecules(80, random_state=0).graphs
        >>> size = np.diff(graphs.graph_ptr)
        >>> model = pk.PropagationRegressor(t_max=[0, 2], random_state=0).fit(graphs[:60], size[:60])
        >>> model.predict_interval(graphs[60:], coverage=0.9).shape
        (20, 2)
        """
        return self._intervals(self._checked(X), check_coverage(coverage))

    def _intervals(self, graphs: GraphDatabase, coverage: float) -> Matrix:
        conformal = self._conformal()
        found = conformal.models.predict(graphs, self.n_jobs)
        intervals = [conformal.interval(group, found, coverage) for group in range(conformal.n_groups)]
        return intervals[0] if len(intervals) == 1 else np.stack(intervals, axis=1)

    def explain(self, X: Graphs, column: int = 0) -> Explanation:
        """Return the contribution of each node at each iteration to the prediction.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
        column : int, default=0
            Column of the target.

        Returns
        -------
        Explanation
            Contributions add up to the prediction minus the intercept, exactly.
        """
        graphs = self._checked(X)
        return self._explain(graphs, self._weights_of(column))

    def top_bins(
        self,
        X: Graphs,
        y: Target | None = None,
        n: int = 10,
        *,
        column: int = 0,
        molecules: Molecules | None = None,
        label_names: LabelNames | None = None,
    ) -> Bins:
        """Return the bins with the largest weights, each described by an example.

        For ratios of counts, weights differ from graph to graph; their means over X are returned.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            Training graphs (the model does not keep them) or others, as a source of examples.
        y : array-like of shape (n,) or (n, columns), optional
            Their targets, to compare the mean with and without each bin.
        n : int, default=10
            Number of bins.
        column : int, default=0
            Column of the target.
        molecules : sequence of rdkit.Chem.Mol, optional
            The molecules of the graphs, to describe each bin by SMARTS.
        label_names : mapping, optional
            Display names of labels, such as ``{0: "C", 1: "N"}``.

        Returns
        -------
        Bins
            Largest absolute weights first; ``print`` shows a table, ``to_frame`` returns a DataFrame.
        """
        graphs, weights = self._checked(X), self._weights_of(column)
        target = None if y is None else np.asarray(y, dtype=np.float64)
        if target is not None and target.ndim == 2:
            target = target[:, column]
        subject = "for a larger prediction"
        return self._top_bins(
            n, graphs, weights, target, subject, molecules=molecules, label_names=label_names
        )

    def counterfactuals(
        self,
        graph: OneGraph,
        max_edits: int = 2,
        n: int = 10,
        *,
        target: float | None = None,
        column: int = 0,
        allowed: Sequence[str] | Mapping[str, object] | None = None,
        molecule: Molecule | None = None,
        budget: int | None = None,
        label_names: LabelNames | None = None,
    ) -> Counterfactuals:
        """Return edits of a graph that change its prediction most, or bring it to a target.

        See :meth:`PropagationClassifier.counterfactuals` for the method.

        Parameters
        ----------
        graph : Graph, GraphDatabase of one graph, or graph of another library
            Undirected, without parallel edges.
        max_edits : {1, 2}, default=2
            Single edits, or also pairs. Pairs are only tried if single edits do not suffice.
        n : int, default=10
            Number of counterfactuals.
        target : float, optional
            The number that the prediction has to reach or pass, with as few edits as possible; by default the
            largest changes, up or down, are returned.
        column : int, default=0
            Column of the target.
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
            With a target, fewer edits first, then the largest change; otherwise the largest change first.
        """
        check_is_fitted(self, "rule_")
        self._weights_of(column)
        return self._counterfactuals(
            graph,
            partial(ask_number, int(column), target),
            max_edits=max_edits,
            n=n,
            allowed=allowed,
            molecule=molecule,
            budget=budget,
            label_names=label_names,
        )

    def _weights_of(self, column: int) -> NDArray[np.float64]:
        """Return the weights of the decisions for one target."""
        n_columns = len(self.intercept_)
        column = check_integer(column, "column", 0)
        if column >= n_columns:
            raise ValueError(f"column must be below {n_columns}, the number of targets; got {column}")
        return np.asarray(np.eye(n_columns)[column])

    def score(self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2; with several targets, the mean over columns of R^2 on their observed entries."""
        if not has_columns(y):
            graphs = check_graphs(X)
            known_y = known_targets(y, len(graphs))
            return float(super().score(known_y.take(graphs), known_y.target, known_y.take(sample_weight)))
        predicted, target = self.predict(X), check_several(y, len(check_graphs(X)))
        weights = None if sample_weight is None else np.asarray(sample_weight)
        known = ~np.isnan(target)
        scores = [
            r2_score(true[k], guess[k], sample_weight=None if weights is None else weights[k])
            for true, guess, k in zip(target.T, predicted.T, known.T, strict=True)
        ]
        return float(np.mean(scores))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _in_units(learned: Learned, mean: Any, unit: Any) -> Learned:
    """Return predictions of the target instead of the standardized target."""
    machine = replace(learned.machine, intercepts=np.asarray(unit * learned.machine.intercepts + mean))
    posterior = learned.posterior
    if posterior is not None:
        posterior = replace(posterior, amplitude=float(posterior.amplitude * unit**2))
    models = None if learned.fold_models is None else learned.fold_models.scaled(unit, mean)
    held_out, pairs = (
        [replace(part, decisions=unit * part.decisions + mean) for part in parts]
        for parts in (learned.held_out, learned.pairs)
    )
    return replace(
        learned,
        rule=learned.rule.scaled(unit),
        machine=machine,
        posterior=posterior,
        held_out=held_out,
        fold_models=models,
        pairs=pairs,
    )
