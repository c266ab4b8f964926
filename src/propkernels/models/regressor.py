"""PropagationRegressor: learns numbers for graphs, and predicts and explains new graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import check_integer
from propkernels._utils.stored import SOMETIMES
from propkernels._utils.typing import LabelNames, Matrix, Molecule, Molecules, Target
from propkernels.counts.bins import Bins
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.explain.explanation import Explanation
from propkernels.explain.find_counterfactuals import ask_number, one_graph
from propkernels.graphs.grid_database import Graphs, OneGraph
from propkernels.graphs.names import Names
from propkernels.models.calibrate import Conformal, check_coverage
from propkernels.models.choose import Problem
from propkernels.models.model import PropagationModel
from propkernels.models.solvers import Learned
from propkernels.models.targets import NumberTarget, check_several, explained_variance


class PropagationRegressor(RegressorMixin, PropagationModel):
    """Graph kernel regressor; kernel and parameters are chosen by leave-one-out.

    Predictions are least squares: a sum of weights of bins plus an intercept. Kernels, t_max, normalization
    and C are chosen by the squared error of leave-one-out predictions, which have a closed form; up to three
    kernels are averaged. Kernels that are dot products of counts become one weight per bin, and a prediction
    takes time linear in the nodes of the new graph; ratios of counts keep the training graphs.

    The target may have several columns, with missing entries (NaN): they share the chosen kernels, and each
    is learned from the graphs with that entry.

    Parameters
    ----------
    kernel, t_max, normalize, random_state, n_jobs, progress
        As in :class:`PropagationClassifier`.
    C : float or sequence of float, default=(0.1, 1, 10, 100, 1000)
        Candidates for the cost of errors, in units of the kernel's mean diagonal: 1 / C is the ridge, and
        with solver "gp" the ratio of noise to signal variance.
    solver : {"auto", "ridge", "svm", "landmarks", "linear", "gp"}, default="auto"
        As in :class:`PropagationClassifier`; but "svm" is scikit-learn's SVR, "gp" an exact Gaussian process
        with predictive variances, and "auto" beyond 20,000 graphs "linear", or "landmarks" for ratios.
    cv : int, "loo", splitter, iterable or None, default=None
        As in :class:`PropagationClassifier`; graphs are held out for the choice and for intervals, in folds
        that are not stratified.

    Attributes
    ----------
    kernel_, t_max_, normalize_, C_, solver_, imputer_, rule_, posterior_
        As in :class:`PropagationClassifier`; predictions of several kernels are averaged.
    held_out_ : ndarray, (n, columns)
        Prediction of each training graph by a model without it, as in :class:`PropagationClassifier`.
    score_ : float
        R^2 of the held-out predictions; :func:`evaluate` also tells its spread.
    n_targets_ : int
        Number of columns of the target.
    conformal_ : Conformal
        Errors of held-out predictions, for :meth:`predict_interval`.

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
    .. [2] S. An, W. Liu and S. Venkatesh (2007). Fast cross-validation algorithms for least squares support
       vector machine and kernel ridge regression. Pattern Recognition 40 (8), 2154-2162.
       doi:10.1016/j.patcog.2006.12.015.
    .. [3] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49 (1), 486-507. doi:10.1214/20-AOS1965. For intervals.

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

    n_targets_: Annotated[int | None, SOMETIMES]

    def _learning_target(self, y: NDArray[Any], n: int, weights: Any, places: Any) -> NumberTarget:
        if y.ndim == 2 and isinstance(self.solver, str) and self.solver == "gp":
            raise ValueError('solver="gp" predicts one number per graph, not several: use another solver')
        return NumberTarget.of(y, n, weights, places)

    def _keep_target(self, target: NumberTarget, learned: Learned, problem: Problem, names: Names) -> None:
        learned = _in_units(learned, target.middle, target.unit)
        errors = np.abs(target.values - learned.held_out)
        self._keep(learned, Conformal.of(errors))
        self.n_targets_ = target.values.shape[1]
        known = ~np.isnan(errors)
        spread = np.where(known, (target.values - target.middle) ** 2, 0.0).sum(axis=0)
        wrong = np.where(known, errors**2, 0.0).sum(axis=0)
        self.score_ = float(np.mean(1 - wrong / np.where(spread > 0, spread, 1.0)))

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
        graphs = self._to_predict(X)
        decisions = self._decisions(graphs)
        found = [decisions[:, 0] if decisions.shape[1] == 1 else decisions]
        if return_std:
            found.append(np.sqrt(self._variances(graphs)[:, 0]))
        if coverage is not None:
            found.append(self._intervals(decisions, check_coverage(coverage)))
        return found[0] if len(found) == 1 else tuple(found)

    def predict_interval(self, X: Graphs, coverage: float = 0.9) -> Matrix:
        """Return an interval for the number of each graph that contains it with a given probability.

        Conformal prediction from predictions of training graphs by models that were chosen and learned
        without them (ten folds; Barber et al. 2021): the share ``coverage`` of the intervals contains the
        number, if new graphs are drawn like the training graphs. Graphs from elsewhere, such as other
        scaffolds, are covered less often.

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
        return self._intervals(self._decisions(self._to_predict(X)), check_coverage(coverage))

    def _intervals(self, decisions: Matrix, coverage: float) -> Matrix:
        widths = self.conformal_.quantiles(coverage)
        intervals = np.stack([decisions - widths, decisions + widths], axis=2)
        return intervals[:, 0] if intervals.shape[1] == 1 else intervals

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
        graphs = self._to_predict(X)
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

        Parameters
        ----------
        X, n, molecules, label_names
            As in :meth:`PropagationClassifier.top_bins`.
        y : array-like of shape (n,) or (n, columns), optional
            Targets of the graphs, to compare the mean with and without each bin.
        column : int, default=0
            Column of the target.

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

        Parameters
        ----------
        graph, max_edits, n, allowed, molecule, budget, label_names
            As in :meth:`PropagationClassifier.counterfactuals`.
        target : float, optional
            The number that the prediction has to reach or pass, with as few edits as possible; by default the
            largest changes, up or down, are returned.
        column : int, default=0
            Column of the target.

        Returns
        -------
        Counterfactuals
            With a target, fewer edits first, then the largest change; otherwise the largest change first.
        """
        check_is_fitted(self, "rule_")
        self._weights_of(column)
        self._to_predict(one_graph(graph))
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
        return np.asarray(np.eye(n_columns)[check_integer(column, "column", 0, n_columns - 1)])

    def score(self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2; with several targets, the mean over columns of R^2 on their observed entries."""
        return self._score(explained_variance, check_several, X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _in_units(learned: Learned, middle: NDArray[np.float64], unit: NDArray[np.float64]) -> Learned:
    """Return predictions of the target instead of the standardized target."""
    posterior = learned.posterior
    if posterior is not None:
        posterior = replace(posterior, amplitude=float(posterior.amplitude * unit[0] ** 2))
    return replace(
        learned,
        rule=learned.rule.scaled(unit),
        intercepts=unit * learned.intercepts + middle,
        held_out=unit * learned.held_out + middle,
        posterior=posterior,
    )
