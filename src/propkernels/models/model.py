"""PropagationModel: the common base of classifier and regressor: choose, learn, fold."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice, check_integer
from propkernels._utils.parallel import one_blas_thread, threaded, workers
from propkernels._utils.progress import Progress, ProgressBar
from propkernels._utils.stored import ANY_NUMBER, SOMETIMES, require
from propkernels._utils.typing import Column, Estimator, Floats, Folding, Matrix, Seed, Steps, Target, Values
from propkernels.convert.check import check_graphs
from propkernels.counts.bins import Bins
from propkernels.explain.counterfactuals import Counterfactuals
from propkernels.explain.decisions import explain_rule, strongest_bins
from propkernels.explain.explanation import Explanation
from propkernels.explain.find_counterfactuals import find_counterfactuals
from propkernels.explain.rule import Counted, Rule, self_similarities
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import Names
from propkernels.kernels.neighborhoods import named_kernel
from propkernels.kernels.sum_kernel import SumKernel
from propkernels.models.calibrate import Conformal
from propkernels.models.choose import Problem, Setting, check_costs, check_steps, settings_of
from propkernels.models.defaults import check_kernels, default_steps, prefers_landmarks
from propkernels.models.folds import draw_seeds, held_out_parts
from propkernels.models.solvers import MOST_FOR_KERNEL, SOLVERS, Learned, Posterior, learn, resolve_solver
from propkernels.models.targets import known_targets
from propkernels.novelty.applicability import (
    Applicability,
    applicability_of,
    known_labels,
    source_of,
    warn_if_foreign,
)
from propkernels.propagation.imputer import LabelImputer

Metric = Callable[[NDArray[Any], NDArray[Any], Any], float]  # of targets, predictions and weights
ADDITIVE = ("linear", "intersection", "jaccard", "tanimoto")  # base kernels whose decisions are sums of nodes


@dataclass(kw_only=True, eq=False, repr=False)
class ModelParameters:
    """Parameters of :class:`PropagationClassifier` that the regressor has, too."""

    kernel: Estimator | str | Sequence[Estimator | str] | None = None
    t_max: Steps = None
    C: Floats = (0.1, 1.0, 10.0, 100.0, 1000.0)
    normalize: bool | str | None = "auto"
    solver: str = "auto"
    cv: Folding = None
    random_state: Seed = None
    n_jobs: int | None = None
    progress: Progress = None


class PropagationModel(ModelParameters, GraphInput, BaseEstimator, ABC):
    """Base of models of graphs; subclasses define the target."""

    intercept_: NDArray[np.float64]
    kernel_: Any
    posterior_: Posterior | None
    rule_: Rule
    t_max_: int | None
    C_: Annotated[float | None, SOMETIMES]
    conformal_: Conformal
    imputer_: Annotated[LabelImputer | None, SOMETIMES]
    held_out_: Annotated[Matrix, SOMETIMES]
    known_labels_: Annotated[NDArray[np.uint64] | None, SOMETIMES, ANY_NUMBER]
    normalize_: Annotated[bool | None, SOMETIMES]
    score_: Annotated[float, SOMETIMES]
    solver_: Annotated[str, SOMETIMES]

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the model, and of its kernel as ``kernel__bin_width``.

        If ``kernel`` is None, a parameter of the kernel sets it to a :class:`PropagationKernel`.
        """
        kernel = params.get("kernel", self.kernel)
        if any(name.startswith("kernel__") for name in params):
            if isinstance(kernel, (list, tuple)):
                raise ValueError("parameters of a list of kernels cannot be set: set kernel itself")
            if kernel is None or isinstance(kernel, str):
                params["kernel"] = named_kernel("propagation" if kernel is None else kernel)
        return super().set_params(**params)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, below a line on what was learned."""
        html = str(super()._html_repr())
        if not hasattr(self, "rule_"):
            return html
        kernels = getattr(self.kernel_, "kernels", None) or [self.kernel_]
        names = ", ".join(dict.fromkeys(type(kernel).__name__ for kernel in kernels))
        what = names if len(kernels) == 1 else f"the mean of {len(kernels)} kernels ({names})"
        steps = "" if self.t_max_ is None else f", t_max {self.t_max_}"
        share = f"{100 * self.score_:.1f} % right"
        score = share if is_classifier(self) else f"R\N{SUPERSCRIPT TWO} {self.score_:.2f}"
        graphs = f"{len(self.held_out_)} graphs"
        line = f"Learned from {graphs}: {what}{steps}, C {self.C_:g}; {score} when held out."
        return f"<p>{escape(line)}</p>{html}"

    @abstractmethod
    def _learning_target(self, y: NDArray[Any], n: int, weights: Any, places: Any) -> Any:
        """Return the target of n graphs, which are at these places of all graphs."""

    @abstractmethod
    def predict(self, X: Graphs) -> Any:
        """Return the prediction of each graph."""

    @abstractmethod
    def _keep_target(self, target: Any, learned: Learned, problem: Problem, names: Names) -> None:
        """Store what turns decisions into predictions; raise before anything is stored."""

    def fit(
        self, X: Graphs, y: Target, sample_weight: ArrayLike | None = None, groups: Column | None = None
    ) -> Self:
        """Choose the settings, and learn from all training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : array-like of shape (n,) or (n, columns)
            Class or number of each graph. Several columns are labels 0, 1 or missing (NaN) of a classifier,
            or numbers of a regressor, which may be missing too. Graphs without a single target (None or NaN)
            are dropped, with a warning that gives their number.
        sample_weight : array-like of shape (n,), optional
            Weight of each graph's errors in learning.
        groups : array-like of shape (n,), optional
            Group of each graph: graphs of one group are held out together.

        Returns
        -------
        self
        """
        graphs = check_graphs(X)
        known = known_targets(y, len(graphs))
        known.check_cv(self.cv)
        known.warn()
        graphs = known.take(graphs)
        weights = known.take(sample_weight)
        target = self._learning_target(known.target, len(graphs), weights, known.places)
        if target.remark:
            warnings.warn(target.remark, UserWarning, stacklevel=2)
        seeds = draw_seeds(self.random_state, 1)[0]
        parts = held_out_parts(target.values, self.cv, known.take(groups), seeds.inner)
        with (
            workers(self.n_jobs),
            stopping_allowed(),
            one_blas_thread(),
        ):  # bits do not depend on the number of threads
            tried = []  # nothing of the model is changed before all has been learned
            for imputer in self._imputers(graphs):
                filled = graphs if imputer is None else imputer.transform(graphs)
                kernels, settings, solver, costs = self._space(filled)
                problem = Problem(filled, target.columns, target.strata, seeds.kernel, target.weights, parts)
                name = f"{type(self).__name__}: choosing"
                with ProgressBar(name, len(settings), progress=self.progress) as bar:
                    learned = learn(problem, kernels, settings, solver, costs, is_classifier(self), bar.step)
                tried.append((problem.losses(learned.held_out), learned, problem, imputer, solver))
            _, learned, problem, imputer, solver = min(tried, key=lambda each: each[0])
            self._keep_target(target, learned, problem, getattr(X, "names", Names()))
        self.imputer_, self.solver_ = imputer, solver
        self.known_labels_ = known_labels(problem.graphs, source_of(learned.rule))
        return self

    def _imputers(self, graphs: GraphDatabase) -> list[LabelImputer | None]:
        """Imputers to try for missing node labels: None (left to the kernels), and label propagation."""
        column = graphs.label_column if isinstance(graphs, GraphDatabase) else None
        if self.kernel is not None or not isinstance(column, LabelColumn):
            return [None]
        if not column.observed.any() or column.observed.all():
            return [None]
        return [None, LabelImputer(tolerance=1e-3, max_steps=100).fit(graphs)]

    def _space(self, graphs: GraphDatabase) -> tuple[list[Any], list[Setting], str, tuple[float, ...]]:
        """Validate the parameters, and return kernels, their settings, the solver and candidates for C."""
        check_choice(self.normalize, ("auto", True, False, None), "normalize")
        check_choice(self.solver, SOLVERS, "solver")
        costs, steps = check_costs(self.C), check_steps(self.t_max)
        solver, is_many = self.solver, len(graphs) > MOST_FOR_KERNEL
        if solver == "auto" and is_many and self.kernel is None and is_classifier(self):
            solver = "landmarks" if prefers_landmarks(graphs) else solver
        is_linear = solver == "linear" or (solver == "auto" and is_many)
        kernels = check_kernels(self.kernel, graphs, not is_classifier(self), is_linear)
        if self.kernel is None and steps is None:
            steps = default_steps(kernels)
        solver = resolve_solver(solver, kernels, len(graphs))
        return kernels, settings_of(kernels, steps, self.normalize), solver, costs

    def _keep(self, learned: Learned, conformal: Conformal) -> None:
        """Store the learned state, and the nonconformity of held-out graphs."""
        is_free = learned.rule.is_explained and learned.posterior is None
        kernels = [clone(kernel) if is_free else kernel for kernel in learned.kernels]
        self.kernel_ = kernels[0] if len(kernels) == 1 else SumKernel(kernels)
        self.rule_, self.intercept_, self.posterior_ = learned.rule, learned.intercepts, learned.posterior
        best = learned.settings[0]
        self.t_max_, self.normalize_, self.C_ = best.t_max, best.normalize, learned.costs[0]
        self.conformal_, self.held_out_ = conformal, learned.held_out

    @threaded
    def _decisions(self, graphs: GraphDatabase) -> Matrix:
        """Return decisions, (graphs, columns)."""
        return np.asarray(self.rule_.decisions(graphs)) + self.intercept_

    def _checked(self, X: Any) -> GraphDatabase:
        check_is_fitted(self, "rule_")
        graphs = check_graphs(X)
        if self.imputer_ is None:
            return graphs
        with stopping_allowed():
            return self.imputer_.transform(graphs)

    def _to_predict(self, X: Any) -> GraphDatabase:
        """Return checked graphs; warn the caller of a public method of graphs unlike those of training."""
        graphs = self._checked(X)
        if self.known_labels_ is not None:
            warn_if_foreign(self.known_labels_, source_of(self.rule_), graphs, 3)
        return graphs

    @threaded
    def applicability(self, X: Graphs) -> Applicability:
        """Return which neighborhoods of nodes did not occur in training, per radius and node.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        Applicability
            Shares of unseen neighborhoods; predictions for mostly unseen graphs are unreliable.
        """
        graphs = self._checked(X)
        if not self.rule_.vocabularies:
            name = type(self.kernel_).__name__
            raise TypeError(f"{name} compares graphs without counting bins: there are no neighborhoods")
        return applicability_of(self.rule_.vocabularies, graphs)

    @threaded
    def _variances(self, graphs: GraphDatabase) -> Matrix:
        """Return the posterior variances at new graphs."""
        if self.posterior_ is None:
            raise ValueError(f'predictive variances require solver="gp", this model has {self.solver_!r}')
        own = self_similarities(self.kernel_, graphs)
        return self.posterior_.variances(self.kernel_.transform(graphs), own)

    @threaded
    def _explain(self, graphs: GraphDatabase, weights: Values | None, *compared: Any) -> Explanation:
        """Return contributions to a weighted sum of decisions, or to those of the predicted classes."""
        self._check_explained()
        return explain_rule(self.rule_, graphs, weights, self.intercept_, *compared)

    def _check_explained(self, *so: str) -> None:
        if not self.rule_.is_explained:
            raise TypeError(why_not_explained(self.kernel_, *so))

    def _score(self, metric: Metric, check_columns: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """Return a score of predictions for the graphs with a target."""
        graphs = check_graphs(X)
        known = known_targets(y, len(graphs))
        target = known.target if known.target.ndim == 1 else check_columns(known.target, len(graphs))
        return metric(target, self.predict(known.take(graphs)), known.take(sample_weight))

    def _counterfactuals(self, graph: Any, ask: Any, **options: Any) -> Counterfactuals:
        """Return edits of one graph that answer the question from ``ask``."""
        return find_counterfactuals(
            lambda graphs: self._decisions(self._checked(graphs)), self.rule_, graph, ask, **options
        )

    @threaded
    def _top_bins(
        self,
        n: int,
        graphs: GraphDatabase,
        weights: NDArray[np.float64],
        target: Any,
        subject: str,
        **shown: Any,
    ) -> Bins:
        """Return the bins with the largest weights in a weighted sum; target: a number per graph, or None."""
        values = None if target is None else np.asarray(target, dtype=np.float64)
        if values is not None and values.shape != (len(graphs),):
            raise ValueError(
                f"y must have one value for each of {len(graphs)} graphs, got shape {values.shape}"
            )
        self._check_explained("its bins have no weights")
        most = check_integer(n, "n", 1)
        bins = self.rule_.bin_weights(Counted(graphs), np.asarray(weights, dtype=np.float64))
        return strongest_bins(bins, most, graphs, values, subject=subject, **shown)

    def _check_parts(self) -> None:
        """Refuse a number of intercepts other than that of the decisions."""
        if hasattr(self, "rule_"):
            require(isinstance(self.kernel_, BaseEstimator), "a kernel is needed")
            n_decisions = self.rule_.n_decisions
            require(self.intercept_.shape == (n_decisions,), "every decision needs an intercept")


def why_not_explained(kernel: Any, so: str = "its decisions cannot be explained") -> str:
    """Return a message on why a kernel has no explanation, and which one has."""
    parts = getattr(kernel, "kernels", ())
    kernel = next((one for one in parts if getattr(one, "base_kernel", "linear") not in ADDITIVE), kernel)
    name, base = type(kernel).__name__, getattr(kernel, "base_kernel", "linear")
    if base in ADDITIVE:
        return (
            f"{name} is not a dot product of counts: {so}; "
            "name a kernel that is one, such as kernel=PropagationKernel()"
        )
    drawn_anew = {"random_state": None} if hasattr(kernel, "random_state") else {}
    explained = clone(kernel).set_params(base_kernel="intersection", normalize=False, **drawn_anew)
    return (
        f"{name} is not a dot product of counts with base_kernel={base!r}: {so}; "
        f"fit a model with kernel={' '.join(repr(explained).split())} for that"
    )


@contextmanager
def stopping_allowed() -> Iterator[None]:
    """Silence the warning that imputed labels still change: they are judged on held-out graphs.

    Warning filters are global to the process: use this around threads, not in them.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
